"""An identity provider whose answers are JSON, and not what the standards say."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.test import Client

from tests.designer.signing_in import GROUPS, handed_over

TOKENS = {"access_token": "opaque", "token_type": "Bearer", "id_token": "no.token.atall"}


class MalformedProvider:
    """Answers each path with the JSON in `documents`."""

    def __init__(self) -> None:
        documents = self.documents = dict[str, Any]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(documents[self.path]).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        self.discovery: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }
        documents |= {
            "/.well-known/openid-configuration": self.discovery,
            "/token": TOKENS,
            "/keys": {"keys": []},
        }
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def sign_in(self) -> Any:
        """The studio's answer to a browser that comes back with a code."""
        browser = Client()
        address = handed_over(browser.post("/admin/sign-in/"))
        state = parse_qs(urlsplit(address).query)["state"][0]
        return browser.get("/admin/sign-in/callback/", {"state": state, "code": "any"})


@pytest.fixture
def malformed(portico: None, settings: Any) -> Iterator[MalformedProvider]:
    cache.clear()
    provider = MalformedProvider()
    settings.PORTICO = {
        **settings.PORTICO,
        "STUDIO_OIDC_ISSUER": provider.issuer,
        "STUDIO_OIDC_CLIENT_ID": "studio",
        "STUDIO_OIDC_CLIENT_SECRET": "a secret of the tests",
        "STUDIO_OIDC_NAME": "Contoso",
        "STUDIO_OIDC_GROUPS": GROUPS,
    }
    yield provider
    provider.server.shutdown()
    provider.server.server_close()


@pytest.mark.parametrize("tokens", [None, 5, "text", [], ["error"], {}])
def test_a_token_answer_of_another_form_signs_nobody_in(malformed: MalformedProvider, tokens: Any) -> None:
    malformed.documents["/token"] = tokens
    assert malformed.sign_in().status_code in (403, 503)


@pytest.mark.parametrize(
    "keys", [5, "text", {"a": "b"}, [5], [{"kty": []}], [{"kty": "RSA"}], [{"kty": "EC", "crv": 5}]]
)
def test_a_key_set_of_another_form_signs_nobody_in(malformed: MalformedProvider, keys: Any) -> None:
    malformed.documents["/keys"] = {"keys": keys}
    assert malformed.sign_in().status_code == 403


@pytest.mark.parametrize("methods", [5, "client_secret_post", {}, []])
def test_a_discovery_document_with_methods_of_another_form_is_read(
    malformed: MalformedProvider, methods: Any
) -> None:
    malformed.discovery["token_endpoint_auth_methods_supported"] = methods
    assert malformed.sign_in().status_code == 403
