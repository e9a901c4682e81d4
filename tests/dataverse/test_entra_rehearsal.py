"""The service's own way to Entra ID, rehearsed whole: Microsoft's library asks the CRM server for tokens.

The library speaks https alone, so the CRM server has a certificate here, which the service is told to trust.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
import msal  # type: ignore[import-untyped]
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa

from crmbox.demo.people import FIRST_ACCOUNT
from crmbox.engine.identities import SERVICE_USER
from crmclient.dataverse.checkup import Outcome, Step
from crmclient.dataverse.connection_checkup import check_tokens
from crmclient.dataverse.options import Options
from project import applications
from tests.dataverse.certificates import Identity, self_signed
from tests.servers import Server, Site, copied, until

pytestmark = pytest.mark.processes

TENANT = "7d1c2d6c-0000-4000-8000-000000000001"
SECRET, CERTIFIED, FEDERATED = "secret-app", "certified-app", "federated-app"
ISSUER, SUBJECT = "https://kubernetes.example", "system:serviceaccount:portico:portico"
AUDIENCE = "api://AzureADTokenExchange"
RECORD = f"/api/sales/accounts/{FIRST_ACCOUNT}"


@dataclass
class Workload:
    """A platform that writes tokens for what runs on it: it signs with `key`, whose public part is known."""

    key: rsa.RSAPrivateKey
    path: Path

    def key_set(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": "first", "use": "sig", "alg": "RS256"}]}

    def write(self, **changed: Any) -> None:
        claims = {
            "iss": ISSUER,
            "sub": SUBJECT,
            "aud": AUDIENCE,
            "exp": int(time.time()) + 600,
            **changed,
        }
        token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "first"})
        self.path.write_text(token, encoding="ascii")


@dataclass
class Rehearsal:
    """A CRM server that is its own Entra ID, and what the applications show for themselves."""

    crm: Server
    site: Site
    identity: Identity
    folder: Path
    workload: Workload

    def settings(self, **changed: str) -> dict[str, str]:
        return {
            "PLATFORM": "dataverse",
            "CRM_URL": self.crm.url,
            "CRM_AUTHORITY": self.crm.url,
            "CRM_TENANT_ID": TENANT,
            "CRM_CLIENT_ID": SECRET,
            "CRM_CLIENT_SECRET": "the secret",
            "REQUESTS_CA_BUNDLE": str(self.folder / "trusted.pem"),
            **changed,
        }

    def checked(self, **changed: str) -> tuple[int, str]:
        return self.site.run("checkplatform", **self.settings(**changed))

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        trusted = str(self.folder / "trusted.pem")
        return self.crm.request(method, path, verify=trusted, **options)

    def arm(self, *faults: dict[str, Any]) -> None:
        self.ask("PUT", "/faults", json={"faults": faults}).raise_for_status()

    def struck(self, number: int) -> int:
        """How often the fault at place `number` has struck."""
        return int(self.ask("GET", "/faults").json()["faults"][number]["struck"])


COUNTED_TOKENS: dict[str, Any] = {"path": "/oauth2/", "times": None, "executed": True}
"""A fault that only counts the tokens that are asked for."""


@pytest.fixture(scope="module")
def rehearsal(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    folder = tmp_path_factory.mktemp("rehearsal")
    identity = self_signed()
    (folder / "trusted.pem").write_bytes(identity.pem)
    (folder / "key.pem").write_bytes(identity.key_pem(None))
    (folder / "application.pem").write_bytes(identity.key_pem(None) + identity.pem)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    workload = Workload(key, folder / "token")
    (folder / "keys.json").write_text(json.dumps(workload.key_set()), encoding="utf-8")
    workload.write()
    clients = [
        {"client_id": SECRET, "client_secret": "the secret", "user": SERVICE_USER},
        {"client_id": CERTIFIED, "certificate": str(folder / "trusted.pem"), "user": SERVICE_USER},
        {
            "client_id": FEDERATED,
            "federated_issuer": ISSUER,
            "federated_subject": SUBJECT,
            "federated_keys": str(folder / "keys.json"),
            "user": SERVICE_USER,
        },
    ]
    with (
        copied(_prepared, folder / "crm", "rehearsed_crm") as crm_site,
        copied(_prepared, folder / "service", "rehearsed_service") as site,
    ):
        tls = ("--certificate", str(folder / "trusted.pem"), "--key", str(folder / "key.pem"))
        trusted = pytest.MonkeyPatch()
        trusted.setenv("REQUESTS_CA_BUNDLE", str(folder / "trusted.pem"))
        with trusted.context():
            crm = crm_site.start_crm(
                *tls,
                root="/contoso",
                scheme="https",
                CRM_SERVER_CLIENTS=json.dumps(clients),
                CRM_SERVER_FAULTS="1",
                CRM_SERVER_TOKEN_SECONDS="6",
            )
        trusted.undo()
        yield Rehearsal(crm, site, identity, folder, workload)


SHOWN = {
    "secret": {},
    "certificate": {
        "CRM_CLIENT_ID": CERTIFIED,
        "CRM_CLIENT_SECRET": "",
        "CRM_CERTIFICATE": "application.pem",
    },
    "federated token": {
        "CRM_CLIENT_ID": FEDERATED,
        "CRM_CLIENT_SECRET": "",
        "CRM_FEDERATED_TOKEN_FILE": "token",
    },
}


def shown(rehearsal: Rehearsal, name: str) -> dict[str, str]:
    files = ("CRM_CERTIFICATE", "CRM_FEDERATED_TOKEN_FILE")
    return {
        setting: str(rehearsal.folder / value) if setting in files else value
        for setting, value in SHOWN[name].items()
    }


def signed_in(rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch, settings: Any, **changed: str) -> Step:
    """What `checkplatform` says of the token that the application gets with these settings."""
    own = rehearsal.settings(**changed)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", own.pop("REQUESTS_CA_BUNDLE"))
    settings.PORTICO = {**settings.PORTICO, **own}
    [application] = applications.of_the_platform()
    source = application.tokens(f"{rehearsal.crm.url}/.default")
    [step] = check_tokens({application.id: source}, Options(rehearsal.crm.url))
    return step


@pytest.mark.parametrize("how", SHOWN)
def test_an_application_signs_in_with_whatever_entra_id_takes(
    rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch, settings: Any, how: str
) -> None:
    rehearsal.workload.write()

    step = signed_in(rehearsal, monkeypatch, settings, **shown(rehearsal, how))

    assert step.outcome is Outcome.GOOD, step


def test_the_whole_service_is_served_and_its_tokens_are_renewed(rehearsal: Rehearsal) -> None:
    server = rehearsal.site.start(**rehearsal.settings())
    headers = {"Authorization": f"Bearer {server.token('manager')}"}

    def read() -> int:
        return server.request("GET", RECORD, headers=headers).status_code

    created = server.request("POST", "/api/sales/accounts", headers=headers, json={"name": uuid.uuid4().hex})
    assert created.status_code == 200, created.text
    rehearsal.arm(COUNTED_TOKENS)
    statuses: set[int] = set()

    def is_renewed() -> bool:
        statuses.add(read())
        return rehearsal.struck(0) >= 2

    until(is_renewed)
    assert statuses == {200}

    # A token that is refused before its end is replaced once, and the call made once more.
    rehearsal.arm({"path": r"/accounts\(", "status": 401}, COUNTED_TOKENS)
    before = rehearsal.struck(1)
    assert read() == 200
    assert (rehearsal.struck(0), rehearsal.struck(1) > before) == (1, True)
    rehearsal.arm({"path": r"/accounts\(", "status": 401, "times": None})
    assert read() == 502
    assert rehearsal.struck(0) == 2
    rehearsal.arm()
    server.stop()


def test_a_wrong_secret_is_what_checkplatform_names(rehearsal: Rehearsal) -> None:
    code, output = rehearsal.site.run("checkplatform", **rehearsal.settings(CRM_CLIENT_SECRET="not it"))

    assert code == 1
    assert "good    network: " in output
    assert f"failed  token: {SECRET}: Entra ID gave no token (AADSTS7000215, invalid_client)." in output
    assert "The secret is not one of the application's." in output
    assert "Enter the secret's value, not its id." in output
    assert "not it" not in output.replace("not its id", "")
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("how", "changed", "said", "advised"),
    [
        (
            "secret",
            {"CRM_CLIENT_ID": "nobody"},
            "The tenant does not know the application.",
            "Correct CRM_CLIENT_ID",
        ),
        (
            "certificate",
            {"CRM_CLIENT_ID": FEDERATED},
            "The certificate is not one of the application's",
            "Upload the public part",
        ),
        (
            "secret",
            {"CRM_TENANT_ID": "a/b/c"},
            "is not an Entra ID, or has no tenant a/b/c.",
            "Correct CRM_TENANT_ID or CRM_AUTHORITY.",
        ),
        ("secret", {"REQUESTS_CA_BUNDLE": ""}, "No token could be fetched from", "set REQUESTS_CA_BUNDLE"),
        (
            "secret",
            {"CRM_AUTHORITY": "https://no.such.host.invalid"},
            "No token could be fetched from https://no.such.host.invalid",
            "Correct CRM_AUTHORITY",
        ),
    ],
)
def test_what_is_wrong_with_an_application_is_said_with_what_to_do(
    rehearsal: Rehearsal,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    how: str,
    changed: dict[str, str],
    said: str,
    advised: str,
) -> None:
    step = signed_in(rehearsal, monkeypatch, settings, **{**shown(rehearsal, how), **changed})

    assert step.outcome is Outcome.FAILED
    assert said in step.said
    assert advised in step.advice


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"iss": "https://other.example"}, "has the token's issuer"),
        ({"sub": "somebody else"}, "has the token's subject"),
        ({"aud": "api://other"}, "has the token's audience"),
        ({"exp": 1_000_000_000}, "is not valid at this time"),
    ],
)
def test_a_federated_token_that_does_not_fit_is_told_by_what_differs(
    rehearsal: Rehearsal,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    changed: dict[str, Any],
    said: str,
) -> None:
    rehearsal.workload.write(**changed)

    step = signed_in(rehearsal, monkeypatch, settings, **shown(rehearsal, "federated token"))

    assert step.outcome is Outcome.FAILED
    assert said in step.said
    assert step.advice


@pytest.fixture
def trusting(rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(rehearsal.folder / "trusted.pem"))
    return rehearsal


def acquired(rehearsal: Rehearsal, **options: Any) -> dict[str, Any]:
    application = msal.ConfidentialClientApplication(SECRET, client_credential="the secret", **options)
    answer: dict[str, Any] = application.acquire_token_for_client([f"{rehearsal.crm.url}/.default"])
    return answer


def test_the_library_may_ask_whether_the_instance_is_known(trusting: Rehearsal) -> None:
    url = trusting.crm.url
    authority = f"{url}/{TENANT}"

    by_instance = acquired(
        trusting, authority=authority, instance_discovery=f"{url}/common/discovery/instance"
    )
    by_issuer = acquired(trusting, oidc_authority=f"{authority}/v2.0")

    for answer in (by_instance, by_issuer):
        assert answer["token_type"] == "Bearer", answer
        who = trusting.ask(
            "GET",
            "/api/data/v9.2/WhoAmI",
            headers={"Authorization": f"Bearer {answer['access_token']}"},
        )
        assert who.json()["UserId"] == SERVICE_USER


def test_another_instance_is_not_known(rehearsal: Rehearsal) -> None:
    asked = {"authorization_endpoint": "https://login.example/t/oauth2/v2.0/authorize", "api-version": "1.1"}
    answer = rehearsal.ask("GET", "/common/discovery/instance", params=asked)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_instance")


@pytest.mark.parametrize("tenant", ["", f"/{TENANT}", f"/{TENANT}/v2.0", "/adfs"])
def test_each_issuer_describes_itself_where_openid_connect_says(rehearsal: Rehearsal, tenant: str) -> None:
    described = rehearsal.ask("GET", f"{tenant}/.well-known/openid-configuration").json()

    assert described["issuer"] == f"{rehearsal.crm.url}{tenant}"
    assert rehearsal.crm.url in described["token_endpoint"]
    keys = described["jwks_uri"].removeprefix(rehearsal.crm.url)
    assert rehearsal.ask("GET", keys).json() == {"keys": []}
