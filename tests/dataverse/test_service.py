"""The service in front of Dataverse, in processes of its own."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from crmbox.demo.people import FIRST_ACCOUNT
from tests.dataverse.reaching import Person, settings_for
from tests.servers import Server, Site, copied

pytestmark = pytest.mark.processes

# Longer than anything that does not wait for it takes on any machine.
LONG = 60


@pytest.fixture(scope="module")
def crm(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("crm") / "data", "service_crm") as site:
        yield site.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


@pytest.fixture(scope="module")
def installation(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("service") / "data", "service") as site:
        yield site


@pytest.fixture(scope="module")
def remote(installation: Site, crm: Server) -> Server:
    return installation.start(**settings_for(crm), ADDRESS_RATE="0", CALLER_RATE="0", THREADS="8")


@pytest.fixture(scope="module")
def local(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("local") / "data", "service_local") as site:
        yield site.start(ADDRESS_RATE="0", CALLER_RATE="0")


@pytest.fixture
def rita(remote: Server) -> Person:
    return Person(remote, "rep")


@pytest.fixture
def faults(crm: Server) -> Iterator[Any]:
    def arm(*armed: dict[str, Any]) -> None:
        requests.put(f"{crm.url}/faults", json={"faults": armed}, timeout=10).raise_for_status()

    yield arm
    arm()


def test_a_record_lives_and_dies(rita: Person) -> None:
    created = rita.request("POST", "/api/sales/accounts", json={"name": "Over the wire", "phone": "+49 1"})
    assert created.status_code == 200, created.text
    place = f"/api/sales/accounts/{created.json()['id']}"

    read = rita.get(place)
    assert (read.status_code, read.json()["name"]) == (200, "Over the wire")
    tag = read.headers["ETag"]
    changed = rita.request("PATCH", place, json={"phone": "+49 2"}, headers={"If-Match": tag})
    assert changed.status_code == 204, changed.text
    stale = rita.request("PATCH", place, json={"phone": "+49 3"}, headers={"If-Match": tag})
    assert (stale.status_code, stale.json()["code"]) == (412, "version_mismatch")
    assert rita.get(place).json()["phone"] == "+49 2"


def test_a_file_goes_up_and_comes_down(rita: Person) -> None:
    content = b"%PDF-1.4\n" + bytes(range(256)) * 20_000
    id = rita.request("POST", "/api/sales/accounts", json={"name": "With a contract"}).json()["id"]
    place = f"/api/sales/accounts/{id}/files/contract"

    sent = rita.request("POST", place, files={"file": ("v.pdf", io.BytesIO(content), "application/pdf")})
    assert sent.status_code == 200, sent.text
    whole = rita.get(place)
    part = rita.get(place, headers={"Range": "bytes=4194300-4194309"})

    assert whole.content == content
    assert (part.status_code, part.content) == (206, content[4194300:4194310])


@pytest.mark.parametrize("mode", ["remote", "local"])
def test_customers_have_their_own_cases_and_no_others(mode: str, request: pytest.FixtureRequest) -> None:
    server: Server = request.getfixturevalue(mode)
    clara, cosmo, aya = (Person(server, name) for name in ("customer", "customer2", "agent"))
    total = clara.get("/api/portal/queries/my-cases").json()["totalRecordCount"]
    made = clara.request("POST", "/api/portal/cases", json={"title": f"From a customer, {mode}"})
    assert made.status_code == 200, made.text
    place = f"/api/portal/cases/{made.json()['id']}"
    file = {"file": ("a.txt", b"What I see.", "text/plain")}
    sent = clara.request("POST", f"{place}/files/attachments", files=file)
    assert sent.status_code == 200, sent.text
    got = f"{place}/files/attachments/{sent.json()['id']}"
    assert clara.get(got).content == b"What I see."

    for path in (place, f"{place}/files/attachments", got):
        assert cosmo.get(path).status_code == 404
    assert cosmo.request("POST", f"{place}/actions/close", json={}).status_code == 404
    assert cosmo.get("/api/portal/queries/company-cases").json() == []
    assert len(clara.get("/api/portal/queries/company-cases").json()) > total

    assert aya.get(place.replace("portal", "service")).json()["title"] == f"From a customer, {mode}"
    closed = clara.request("POST", f"{place}/actions/close", json={"resolution": "Solved."})
    assert (closed.status_code, closed.json()) == (200, {"closed": True})
    assert clara.get(place).json()["statusLabel"] == "Problem Solved"
    profile = clara.get("/api/portal/queries/my-profile").json()
    changed = clara.request("PATCH", f"/api/portal/profile/{profile['id']}", json={"jobTitle": mode})
    assert changed.status_code == 204, changed.text
    assert clara.get("/api/portal/queries/my-profile").json() == {**profile, "jobTitle": mode}
    assert len(server.request("GET", "/api/portal/queries/articles").json()) == 6


def test_a_process_runs(rita: Person) -> None:
    answer = rita.request("POST", "/api/sales/actions/ping", json={"message": "Hello"})

    assert (answer.status_code, "Hello" in answer.text) == (200, True), answer.text


def test_a_failing_platform_is_the_contracts_problem(rita: Person, faults: Any) -> None:
    path = f"/api/sales/accounts/{FIRST_ACCOUNT}"
    for fault, status, code in (
        ({"status": 500, "body": "<html>CRM-HOST-7 stack</html>"}, 502, "platform_error"),
        ({"status": 200, "body": "garbage"}, 502, "platform_error"),
        ({"cut": "half"}, 503, "platform_unavailable"),
        ({"status": 429, "headers": {"Retry-After": "3"}}, 503, "platform_throttled"),
    ):
        faults({"path": "/accounts", "times": None, **fault})
        answer = rita.get(path)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert "CRM-HOST-7" not in answer.text
        assert ("Retry-After" if status == 503 else "Quote the requestId") in answer.json()["detail"]
        if status == 503:
            assert int(answer.headers["Retry-After"]) > 0
        faults()
        time.sleep(0.1)
    until = time.monotonic() + 30
    while rita.get(path).status_code != 200:
        assert time.monotonic() < until
        time.sleep(0.2)


def test_a_hanging_platform_leaves_other_endpoints_alone(rita: Person, faults: Any) -> None:
    assert rita.get("/optionsets/priorities").status_code == 200
    faults({"path": "/accounts", "times": None, "delay": LONG})

    began = time.monotonic()
    assert rita.get("/optionsets/priorities").status_code == 200
    assert time.monotonic() - began < LONG


def test_option_sets_are_served_while_the_platform_is_away_even_after_a_restart(
    installation: Site, crm: Server, rita: Person
) -> None:
    before = rita.get("/optionsets/priorities")
    nowhere = {**settings_for(crm), "CRM_TOKEN_URL": "http://127.0.0.1:1/token"}

    alone = installation.start(**nowhere)

    assert alone.request("GET", "/optionsets/priorities").content == before.content


def test_a_refresh_is_a_command(installation: Site, crm: Server, remote: Server) -> None:
    assert "metadata" in installation.manage("refreshmetadata", **settings_for(crm))
    code, output = installation.run(
        "refreshmetadata", **{**settings_for(crm), "CRM_TOKEN_URL": "http://127.0.0.1:1/token"}
    )
    assert (code, "stays in use" in output) == (1, True), output


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("CRM_URL", "http://contoso.example", "portico.E010"),
        ("CRM_URL", "https://user:secret@contoso.example", "portico.E010"),
        ("CRM_URL", "https://10.0.0.1", "portico.E011"),
        ("CRM_URL", "https://contoso.example/api/data/v9.2/", "portico.E024"),
        ("CRM_URL", "https://contoso.example/main.aspx?appid=1#home", "portico.E024"),
        ("CRM_URL", "https://crm.example/contoso/main.aspx", "portico.E024"),
        ("CRM_URL", "https://169.254.169.254", "portico.E011"),
        ("CRM_CLIENT_ID", "", "portico.E012"),
        ("CRM_CLIENT_SECRET", "", "portico.E012"),
        ("CRM_TOKEN_URL", "", "portico.E012"),
        ("CRM_CERTIFICATE", "/nowhere.pfx", "portico.E013"),
        ("CRM_FEDERATED_TOKEN_FILE", "/nowhere", "portico.E013"),
        ("CRM_AUTHORITY", "https://10.0.0.1", "portico.E011"),
    ],
)
def test_a_way_to_the_platform_that_cannot_be_right_is_refused(
    crm: Server, settings: Any, name: str, value: str, code: str
) -> None:
    settings.PORTICO = {**settings.PORTICO, **settings_for(crm), name: value}

    with pytest.raises(SystemCheckError, match=code) as refused:
        call_command("check")

    assert "secret@" not in str(refused.value)


def test_an_application_that_is_listed_again_is_told(installation: Site, crm: Server) -> None:
    first = settings_for(crm)
    again = [{"client_id": first["CRM_CLIENT_ID"].upper(), "client_secret": "another"}]

    done, output = installation.run("check", **first, CRM_CLIENTS=json.dumps(again))
    _, alone = installation.run("check", **first)

    assert done == 0, output
    assert "is listed more than once in CRM_CLIENT_ID and CRM_CLIENTS" in output
    assert "portico.W005" not in alone


def test_every_command_refuses_a_way_that_cannot_be_right(installation: Site, crm: Server) -> None:
    wrong = {"CRM_URL": "http://contoso.example", "CRM_AUTHORITY": "https://10.0.0.1", "CRM_CLIENT_ID": ""}
    done, output = installation.run("check", **{**settings_for(crm), **wrong})

    assert done == 1, output
    for code in ("portico.E010", "portico.E011", "portico.E012"):
        assert code in output, output
