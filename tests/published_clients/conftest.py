"""CRM servers for clients that others have written, unchanged: one over HTTPS, one over HTTP."""

from __future__ import annotations

import datetime as dt
import ipaddress
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from azure.core.credentials import AccessToken
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from PowerPlatform.Dataverse.client import DataverseClient

from crmbox.webapi.credentials import DEMO_CLIENT
from scripts.npm import NotInstalled, locked
from tests.servers import Server, Site, copied

HERE = Path(__file__).parent


class Credential:
    """A credential as of Azure's library, for the server's own tokens."""

    def __init__(self, url: str) -> None:
        self._url = url

    def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        client, secret = DEMO_CLIENT
        form = {
            "grant_type": "client_credentials",
            "client_id": client,
            "client_secret": secret,
            "scope": scopes[0],
        }
        answer = requests.post(f"{self._url}/contoso/oauth2/v2.0/token", data=form, timeout=30)
        answer.raise_for_status()
        token = answer.json()
        return AccessToken(token["access_token"], int(time.time()) + token["expires_in"])


@pytest.fixture(scope="session")
def _crm_site(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("clients") / "data", "clients") as site:
        yield site


@pytest.fixture(scope="session")
def _certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that is its own authority, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


@pytest.fixture(scope="session")
def _trusted(_certificate: tuple[Path, Path]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REQUESTS_CA_BUNDLE", str(_certificate[0]))
        yield


@pytest.fixture(scope="session")
def _secure(_crm_site: Site, _certificate: tuple[Path, Path], _trusted: None) -> Server:
    certificate, key = map(str, _certificate)
    return _crm_site.start_crm("--certificate", certificate, "--key", key, scheme="https")


@pytest.fixture
def sdk(_secure: Server, _trusted: None) -> Iterator[DataverseClient]:
    """Microsoft's Python SDK."""
    with DataverseClient(_secure.url, Credential(_secure.url)) as client:
        yield client


@pytest.fixture(scope="session")
def plain(_crm_site: Site) -> Server:
    return _crm_site.start_crm()


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the packages of package.json are installed."""
    try:
        installed = locked(HERE)
    except NotInstalled as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(installed / "node_modules")
    shutil.copy(HERE / "dynamics_web_api.js", folder)
    return folder
