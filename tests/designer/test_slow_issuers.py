"""An identity provider that takes its time holds up only who asks it: an issuer's, and the platform's."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from crmclient.dataverse.http.client_credentials import ClientCredentials
from crmclient.dataverse.options import Options
from crmclient.dataverse.platform import DataversePlatform
from crmclient.metadata_deadline import waiting_for_metadata_until
from designer.access_control.access_matrix import AUTHENTICATED
from designer.history.recording import Author, record_outside, recording
from designer.models import Endpoint, Module
from tests.chosen_platform import serving_with
from tests.designer import rows
from tests.sent_forms import Person
from tests.servers import ANSWER_SECONDS, Server, Site

MODULE = re.compile(r"/admin/designer/module/\d+/change/")


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


def admin(server: Server) -> Person:
    person = Person(server)
    person.log_in(person.page("/admin/login/"), "admin")
    return person


@pytest.mark.processes
def test_others_save_while_an_issuer_does_not_answer(site: Site, provider: SlowProvider) -> None:
    server = site.start(ISSUER_PRIVATE_HOSTS="127.0.0.1")
    one, other = admin(server), admin(server)
    issuer = {"name": "Slow", "issuer": provider.address, "audiences": "api://portico", "_save": "Save"}
    new = one.page("/admin/designer/issuer/add/")
    module = other.page(MODULE.findall(other.page("/admin/designer/module/?q=sales").text)[0])

    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(one.send, new, "audiences", **issuer)
        try:
            assert provider.asked.wait(ANSWER_SECONDS)
            saved = other.send(module, "title", title="Saved meanwhile", _save="Save")
            is_asking = not saving.done()
        finally:
            provider.ended.set()

    assert (saved.status_code, is_asking) == (302, True)
    assert saving.result().status_code == 302
    assert "The keys cannot be read now" in one.page("/admin/designer/issuer/").text
    assert "Saved meanwhile" in other.page(module.url.removeprefix(server.url)).text


@pytest.fixture
def row(transactional_db: None) -> Endpoint:
    return rows.endpoint()


@pytest.fixture
def unknown_platform(row: Endpoint, provider: SlowProvider, settings: Any) -> Iterator[None]:
    """From now on, the service's platform is a Dataverse of which nothing is known, and which gives no token
    yet.
    """
    credentials = ClientCredentials(f"{provider.address}/token", "portico", "secret", "crm/.default")
    platform = DataversePlatform(Options(provider.address, retries=0), credentials)
    with serving_with(platform, settings):
        yield


def _save_title(row: Endpoint) -> None:
    with recording(Author()):
        Endpoint.objects.filter(pk=row.pk).update(title="Saved")


def _record_title_set_outside(row: Endpoint) -> None:
    Endpoint.objects.filter(pk=row.pk).update(title="Saved")
    record_outside()


def _click_in_the_matrix(row: Endpoint) -> None:
    client = Client()
    client.force_login(
        User.objects.create_superuser("root"), backend="django.contrib.auth.backends.ModelBackend"
    )
    client.post(reverse("studio:matrix"), {"cell": f"{row.pk}:{AUTHENTICATED}"})


@pytest.mark.parametrize("save", [_save_title, _record_title_set_outside, _click_in_the_matrix])
def test_others_save_while_the_platform_does_not_answer(
    save: Callable[[Endpoint], None],
    row: Endpoint,
    provider: SlowProvider,
    unknown_platform: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A page waits for metadata as long as the test takes.
    monkeypatch.setattr("project.middleware.METADATA_SECONDS", ANSWER_SECONDS)

    def save_other() -> None:
        # Who saves this asks for the same metadata, and does not wait for it.
        with waiting_for_metadata_until(time.monotonic()), recording(Author()):
            Module.objects.update(title="Saved meanwhile")

    def closing(work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        saving = pool.submit(closing, lambda: save(row))
        try:
            assert provider.asked.wait(ANSWER_SECONDS)
            pool.submit(closing, save_other).result(ANSWER_SECONDS)
            is_asking = not saving.done()
        finally:
            provider.stop()

    saving.result()
    assert is_asking
    # The demo's modules are there, too, where another test has not emptied the tables.
    assert set(Module.objects.values_list("title", flat=True)) == {"Saved meanwhile"}
