"""What a browser sends of the forms on the pages of a running server."""

from __future__ import annotations

import requests
from lxml import html

from tests.servers import ANSWER_SECONDS, Server


def sent_form(page: requests.Response, field: str, **given: str) -> dict[str, str]:
    """The values of the form of `page` that has `field`, with what was `given`."""
    document = html.document_fromstring(page.text)
    forms: list[html.FormElement] = document.forms  # type: ignore[attr-defined]  # not in the stubs
    (form,) = (form for form in forms if {"csrfmiddlewaretoken", field} <= set(form.fields))
    return dict(form.form_values()) | given


class Person:
    """Somebody at the studio of a running server, in a browser without scripts."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = requests.Session()

    def page(self, path: str) -> requests.Response:
        return self._session.get(self._server.url + path, timeout=ANSWER_SECONDS)

    def send(self, page: requests.Response, field: str, **given: str) -> requests.Response:
        """Send the form of `page` that has `field`. Where the answer leads elsewhere, stay."""
        return self._session.post(
            page.url,
            data=sent_form(page, field, **given),
            headers={"Referer": page.url},
            allow_redirects=False,
            timeout=ANSWER_SECONDS,
        )

    def log_in(self, page: requests.Response, name: str) -> None:
        """Log in with the password of the demo where `page` is the login."""
        self.send(page, "username", username=name, password="demo")
