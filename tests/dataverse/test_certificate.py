"""An application that shows who it is by a certificate: what an authority gets of it."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from crmclient.dataverse.http.certificate_files import certificate
from crmclient.dataverse.http.clouds import authority_of
from crmclient.dataverse.http.entra import Entra
from crmclient.dataverse.http.token_refusals import TokenRefused
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


def _ec_key() -> bytes:
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


UNUSABLE: dict[str, tuple[str, Callable[[Identity], bytes], bytes, str]] = {
    "no key": ("pem", lambda one: one.pem, b"", "it has no private key"),
    "no certificate": ("pem", lambda one: one.key_pem(None), b"", "it has no certificate"),
    "no PEM": ("pem", lambda one: b'{"keys": []}', b"", "it has no certificate"),
    "no password": ("pem", lambda one: one.key_pem(PASSWORD) + one.pem, b"", "its key needs a password"),
    "a password too many": ("pem", lambda one: one.key_pem(None) + one.pem, PASSWORD, "it has no password"),
    "a wrong password": ("pem", lambda one: one.key_pem(PASSWORD) + one.pem, b"x", "its password is wrong"),
    "another key": ("pem", lambda one: self_signed().key_pem(None) + one.pem, b"", "belongs to another key"),
    "another type": ("pem", lambda one: _ec_key() + one.pem, b"", "its key is not of the type RSA"),
    "a damaged key": (
        "pem",
        lambda one: one.pem + b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        b"",
        "it is damaged",
    ),
    "PFX without its password": ("pfx", lambda one: one.pfx(PASSWORD), b"", "its password is wrong"),
    "no PFX": ("pfx", lambda one: one.pem, b"", "it is damaged"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_file_that_proves_nothing_is_refused_before_anybody_is_asked(
    identity: Identity, tmp_path: Path, settings: Any, case: str
) -> None:
    suffix, content, password, said = UNUSABLE[case]
    path = tmp_path / f"application.{suffix}"
    path.write_bytes(content(identity))
    here = {
        "CRM_URL": "https://contoso.example",
        "CRM_TENANT_ID": "contoso",
        "CRM_CLIENT_ID": "the client",
        "CRM_CERTIFICATE": str(path),
        "CRM_CERTIFICATE_PASSWORD": password.decode(),
    }
    settings.PORTICO = {**settings.PORTICO, **here}

    with pytest.raises(SystemCheckError, match=r"portico\.E013") as refused:
        call_command("check")

    assert f"CRM_CERTIFICATE={str(path)!r}: " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("is_key_first", [True, False])
def test_key_and_certificate_stand_in_any_order(
    authority: Authority, identity: Identity, tmp_path: Path, is_key_first: bool
) -> None:
    path = tmp_path / "application.pem"
    parts = [identity.key_pem(None), identity.pem]
    path.write_bytes(b"".join(parts if is_key_first else parts[::-1]))

    Entra("adfs", "a", certificate(path), "s", authority=authority.url).fetch(10)

    [asked] = authority.asked
    assert _verified(asked["client_assertion"], identity)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_trusted_authorities_that_cannot_be_read_are_refused(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    trusted = tmp_path / "trusted.pem"
    if content is not None:
        trusted.write_bytes(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
    settings.PORTICO = {**settings.PORTICO, "CRM_URL": "https://contoso.example"}

    with pytest.raises(SystemCheckError, match=r"portico\.E025"):
        call_command("check")


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
    for content in (b"", b"\n", b"\x30\x82\xff"):
        path.write_bytes(content)
        with pytest.raises(TokenRefused, match=f"{path} holds no token") as refused:
            source.fetch(10)
        assert refused.value.advice.startswith("Correct CRM_FEDERATED_TOKEN_FILE")
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
