"""An identity provider that takes its time holds up only who asks it."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.sent_forms import sent_form
from tests.servers import ANSWER_SECONDS, Server, Site

MODULE = re.compile(r"/admin/designer/module/\d+/change/")

pytestmark = pytest.mark.processes


class SlowProvider:
    """Answers the first who asks with a header that goes on until `ended` is set."""

    def __init__(self) -> None:
        self.asked, self.ended = threading.Event(), threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._answering = threading.Thread(target=self._answer, daemon=True)
        self._answering.start()

    def _answer(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            connection.recv(1024)
            self.asked.set()
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not self.ended.wait(0.5):
                connection.sendall(b".")

    def stop(self) -> None:
        self.ended.set()
        self._listening.close()


@pytest.fixture
def provider() -> Iterator[SlowProvider]:
    provider = SlowProvider()
    yield provider
    provider.stop()


class Person:
    """Somebody who is logged in to the studio."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = requests.Session()
        self.save(self.page("/admin/login/"), "username", username="admin", password="demo")

    def page(self, path: str) -> requests.Response:
        return self._session.get(self._server.url + path, timeout=ANSWER_SECONDS)

    def save(self, page: requests.Response, field: str, **given: str) -> requests.Response:
        return self._session.post(
            page.url,
            data=sent_form(page, field, **given),
            headers={"Referer": page.url},
            allow_redirects=False,
            timeout=ANSWER_SECONDS,
        )


def test_others_save_while_an_issuer_does_not_answer(site: Site, provider: SlowProvider) -> None:
    server = site.start(ISSUER_PRIVATE_HOSTS="127.0.0.1")
    one, other = Person(server), Person(server)
    issuer = {"name": "Slow", "issuer": provider.address, "audiences": "api://portico", "_save": "Save"}
    new = one.page("/admin/designer/issuer/add/")
    module = other.page(MODULE.findall(other.page("/admin/designer/module/?q=sales").text)[0])

    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(one.save, new, "audiences", **issuer)
        try:
            assert provider.asked.wait(ANSWER_SECONDS)
            saved = other.save(module, "title", title="Saved meanwhile", _save="Save")
            is_asking = not saving.done()
        finally:
            provider.ended.set()

    assert (saved.status_code, is_asking) == (302, True)
    assert saving.result().status_code == 302
    assert "The keys cannot be read now" in one.page("/admin/designer/issuer/").text
    assert "Saved meanwhile" in other.page(module.url.removeprefix(server.url)).text
