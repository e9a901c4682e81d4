"""The identity that Azure gives to an app: its endpoint is asked as App Service has it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from crmclient.dataverse.checkup import Outcome
from crmclient.dataverse.connection_checkup import check_tokens
from crmclient.dataverse.options import Options
from crmclient.errors import Unavailable, UnexpectedAnswer
from project import applications
from project.platform_checks import platform_can_be_reached

ORGANISATION = "https://contoso.crm.dynamics.com"
SCOPE = f"{ORGANISATION}/.default"


@dataclass
class Endpoint:
    """Where App Service gives tokens of the app's identities. `refuses`: there is no such identity."""

    asked: list[dict[str, str]] = field(default_factory=list)
    refuses: bool = False


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    identity_endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            identity_endpoint.asked.append({name: values[0] for name, values in query.items()})
            assert self.headers["X-IDENTITY-HEADER"] == "the header"
            content: dict[str, Any] = {"access_token": "good", "expires_on": str(int(time.time()) + 3600)}
            if identity_endpoint.refuses:
                content = {"statusCode": 400, "message": "No User Assigned Identity found"}
            body = json.dumps(content).encode()
            self.send_response(400 if identity_endpoint.refuses else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "the header")
    yield identity_endpoint
    server.shutdown()
    server.server_close()


@pytest.fixture
def on_azure(settings: Any) -> Any:
    """Settings of a service that has a managed identity, and nothing to show for itself."""
    settings.PORTICO = {**settings.PORTICO, "CRM_URL": ORGANISATION, "CRM_MANAGED_IDENTITY": True}
    return settings


def test_the_apps_own_identity_needs_no_other_setting(endpoint: Endpoint, on_azure: Any) -> None:
    [application] = applications.of_the_platform()
    token = application.tokens(SCOPE).fetch(10)

    assert token.text == "good"
    assert 3500 < token.lifetime <= 3600
    [asked] = endpoint.asked
    assert asked["resource"] == ORGANISATION
    assert "client_id" not in asked
    assert platform_can_be_reached(None) == []


def test_several_identities_are_told_apart_by_their_client_ids(endpoint: Endpoint, on_azure: Any) -> None:
    more = [{"client_id": "second"}]
    on_azure.PORTICO = {**on_azure.PORTICO, "CRM_CLIENT_ID": "first", "CRM_CLIENTS": more}
    for application in applications.of_the_platform():
        source = application.tokens(SCOPE)
        source.fetch(10)
        # A token that was refused is not handed out again.
        source.fetch(10)

    assert [asked["client_id"] for asked in endpoint.asked] == ["first", "first", "second", "second"]


def test_an_identity_that_is_not_assigned_is_named(endpoint: Endpoint, on_azure: Any) -> None:
    endpoint.refuses = True
    [application] = applications.of_the_platform()

    with pytest.raises(UnexpectedAnswer, match="No User Assigned Identity found"):
        application.tokens(SCOPE).fetch(10)


def test_where_no_endpoint_answers_it_may_be_later(on_azure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:1/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "the header")
    [application] = applications.of_the_platform()

    with pytest.raises(Unavailable, match="No managed identity answers here"):
        application.tokens(SCOPE).fetch(10)


def test_where_no_endpoint_answers_the_check_says_what_to_do(
    on_azure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:1/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "the header")
    [application] = applications.of_the_platform()

    [step] = check_tokens({"managed identity": application.tokens(SCOPE)}, Options(ORGANISATION))

    assert step.outcome is Outcome.FAILED
    assert "assign an identity" in step.advice
    assert "HTTPS_PROXY" not in step.advice
