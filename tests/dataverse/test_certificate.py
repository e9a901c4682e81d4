"""An application that shows who it is by a certificate: what an authority gets of it."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from crmclient.dataverse.http.clouds import authority_of
from crmclient.dataverse.http.entra import Entra, certificate
from crmclient.errors import PlatformFailure
from project.applications import Application
from tests.dataverse.certificates import Identity, self_signed

PASSWORD = b"pass phrase"


@pytest.fixture(scope="module")
def identity() -> Identity:
    return self_signed()


@dataclass
class Authority:
    """An authority of this machine's: it gives a token to whoever asks, and keeps what it was asked."""

    url: str
    asked: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def authority(identity: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(identity.pem)
    served = tmp_path / "served.pem"
    served.write_bytes(identity.pem + identity.key_pem(None))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
    issuer = Authority("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            adfs = f"{issuer.url}/adfs"
            self._answer({"issuer": adfs, "authorization_endpoint": adfs, "token_endpoint": f"{adfs}/token"})

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            issuer.asked.append({name: values[0] for name, values in parse_qs(form).items()})
            self._answer({"access_token": "good", "token_type": "Bearer", "expires_in": 3600})

        def _answer(self, content: dict[str, object]) -> None:
            body = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    issuer.url = f"https://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield issuer
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("password", [None, PASSWORD], ids=["open", "with a password"])
@pytest.mark.parametrize("suffix", ["pem", "pfx"])
def test_the_authority_gets_an_assertion_that_only_the_key_can_have_signed(
    authority: Authority, identity: Identity, tmp_path: Path, suffix: str, password: bytes | None
) -> None:
    path = tmp_path / f"application.{suffix}"
    path.write_bytes(identity.pfx(password) if suffix == "pfx" else identity.key_pem(password) + identity.pem)
    credential = certificate(path, (password or b"").decode())

    # An authority named adfs is asked itself where its endpoints are, and nobody else.
    token = Entra("adfs", "the client", credential, "scope/.default", authority=authority.url).fetch(10)

    [asked] = authority.asked
    head, claims = _verified(asked["client_assertion"], identity)
    assert (token.text, token.lifetime) == ("good", 3600)
    assert asked["client_assertion_type"].endswith(":jwt-bearer")
    assert asked["scope"] == "scope/.default"
    assert (claims["iss"], claims["aud"]) == ("the client", f"{authority.url}/adfs/token")
    der = identity.certificate.public_bytes(serialization.Encoding.DER)
    prints = {"x5t": hashlib.sha1(der).digest(), "x5t#S256": hashlib.sha256(der).digest()}
    named = {name: _bytes(head[name].rstrip("=")) for name in prints if name in head}
    assert named
    assert named == {name: prints[name] for name in named}


def test_a_wrong_password_is_no_token(authority: Authority, identity: Identity, tmp_path: Path) -> None:
    path = tmp_path / "application.pfx"
    path.write_bytes(identity.pfx(PASSWORD))

    with pytest.raises(PlatformFailure) as raised:
        Entra("adfs", "a", certificate(path, "wrong"), "s", authority=authority.url).fetch(10)
    assert "wrong" not in str(raised.value)
    assert authority.asked == []


def test_a_workload_shows_the_token_that_its_platform_wrote_last(
    authority: Authority, tmp_path: Path, settings: Any
) -> None:
    path = tmp_path / "token"
    path.write_text("the first\n")
    settings.PORTICO = {**settings.PORTICO, "CRM_TENANT_ID": "adfs", "CRM_AUTHORITY": f"{authority.url}/"}
    source = Application("the client", federated_token_file=str(path)).tokens("scope/.default")

    assert source.fetch(10).text == "good"
    path.write_text("the second\n")
    source.fetch(10)
    path.unlink()
    with pytest.raises(PlatformFailure, match=f"{path} cannot be read: No such file"):
        source.fetch(10)

    assert [asked["client_assertion"] for asked in authority.asked] == ["the first", "the second"]
    assert authority.asked[0]["client_id"] == "the client"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://contoso.crm.dynamics.com", "https://login.microsoftonline.com"),
        ("https://contoso.crm9.dynamics.com", "https://login.microsoftonline.com"),
        ("https://Contoso.crm.microsoftdynamics.us/", "https://login.microsoftonline.us"),
        ("https://contoso.crm.appsplatform.us", "https://login.microsoftonline.us"),
        ("https://contoso.crm.dynamics.cn", "https://login.partner.microsoftonline.cn"),
        ("https://crm.contoso.example", "https://login.microsoftonline.com"),
    ],
)
def test_an_organisation_gets_its_tokens_from_the_entra_id_of_its_cloud(url: str, expected: str) -> None:
    assert authority_of(url) == expected


def _verified(assertion: str, identity: Identity) -> tuple[dict[str, str], dict[str, str]]:
    """Head and claims of a token; fails unless the certificate's key has signed it."""
    head, claims, signature = assertion.split(".")
    fields: dict[str, str] = json.loads(_bytes(head))
    digest = hashes.SHA256()
    pads = {
        "RS256": padding.PKCS1v15(),
        "PS256": padding.PSS(padding.MGF1(digest), padding.PSS.DIGEST_LENGTH),
    }
    try:
        identity.key.public_key().verify(
            _bytes(signature), f"{head}.{claims}".encode(), pads[fields["alg"]], digest
        )
    except InvalidSignature:
        pytest.fail("Another key has signed it.")
    return fields, json.loads(_bytes(claims))


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
