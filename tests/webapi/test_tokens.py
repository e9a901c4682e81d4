from __future__ import annotations

import time

import jwt
import pytest
import requests

from crmbox.demo.people import GONE_GREGOR, RITA_REP
from crmbox.engine.identities import SERVICE_USER
from tests.servers import Site
from tests.webapi.crm import Crm

UNKNOWN = "00000000-0000-4000-8000-0000000000ff"


def test_client_credentials_buy_a_token_of_the_service(crm: Crm) -> None:
    assert crm.get("WhoAmI")["UserId"] == SERVICE_USER


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_id": ""}, 401, "invalid_client"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
    ],
)
def test_wrong_credentials_buy_nothing(crm: Crm, form: dict[str, str], status: int, error: str) -> None:
    good = {"grant_type": "client_credentials", "client_id": "portico-demo", "client_secret": "demo"}
    answer = requests.post(f"{crm.server.url}/t/oauth2/v2.0/token", data={**good, **form}, timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_credentials_may_come_as_basic_authentication(crm: Crm) -> None:
    answer = requests.post(
        f"{crm.server.url}/t/oauth2/v2.0/token",
        data={"grant_type": "client_credentials"},
        auth=("portico-demo", "demo"),
        timeout=30,
    )
    assert answer.json()["token_type"] == "Bearer"
    assert answer.json()["expires_in"] == 3600


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer nonsense",
        "Bearer " + "x" * 20_000,
        "Basic cG9ydGljbzpkZW1v",
        "Bearer " + jwt.encode({"sub": SERVICE_USER, "exp": time.time() + 60}, "k" * 32),
        "Bearer " + jwt.encode({"sub": SERVICE_USER, "exp": time.time() + 60}, "", algorithm="none"),
    ],
)
def test_every_call_needs_a_good_token(crm: Crm, authorization: str) -> None:
    answer = crm.send("GET", "WhoAmI", headers={"Authorization": authorization})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


def test_a_minted_token_acts_as_its_user(crm: Crm, crm_site: Site) -> None:
    token = crm_site.manage("crmtoken", "--user", RITA_REP).split()[-1]
    rita = crm.acting_as(Authorization=f"Bearer {token}")
    assert rita.get("WhoAmI")["UserId"] == RITA_REP


def test_no_token_is_minted_for_a_user_who_is_gone_or_unknown(crm_site: Site) -> None:
    assert "is disabled" in crm_site.run("crmtoken", "--user", GONE_GREGOR)[1]
    assert "no system user" in crm_site.run("crmtoken", "--user", "nobody@example.com")[1]


def test_the_service_acts_for_others(crm: Crm) -> None:
    assert crm.acting_as(MSCRMCallerID=RITA_REP.upper()).get("WhoAmI")["UserId"] == RITA_REP


@pytest.mark.parametrize("header", ["MSCRMCallerID", "CallerObjectId"])
@pytest.mark.parametrize("id", [UNKNOWN, "nonsense", GONE_GREGOR])
def test_nobody_acts_for_a_user_who_is_unknown_or_gone(crm: Crm, header: str, id: str) -> None:
    status, code, _ = crm.acting_as(**{header: id}).error("GET", "WhoAmI")
    assert status == 403
    assert code.startswith("0x800402")


def test_a_salesperson_cannot_act_for_others(crm: Crm, crm_site: Site) -> None:
    token = crm_site.manage("crmtoken", "--user", RITA_REP).split()[-1]
    rita = crm.acting_as(Authorization=f"Bearer {token}", MSCRMCallerID=SERVICE_USER)
    status, _, message = rita.error("GET", "WhoAmI")
    assert status == 403
    assert "prvActOnBehalfOfAnotherUser" in message
