from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.servers import Site
from tests.webapi.crm import Crm, service


@pytest.fixture(scope="module")
def faulty(crm_site: Site) -> Crm:
    return service(crm_site.start_crm(CRM_SERVER_FAULTS="1"))


@pytest.fixture(autouse=True)
def _disarmed(faulty: Crm) -> Iterator[None]:
    yield
    requests.delete(f"{faulty.server.url}/faults", timeout=10)


def arm(crm: Crm, **fault: Any) -> None:
    answer = requests.put(f"{crm.server.url}/faults", json={"faults": [fault]}, timeout=10)
    assert answer.status_code == 204, answer.text


def test_a_status_takes_the_answers_place_as_often_as_said(faulty: Crm) -> None:
    arm(faulty, path="WhoAmI", skip=1, times=2, status=503, headers={"Retry-After": "7"})
    answers = [faulty.send("GET", "WhoAmI") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 503, 503, 200]
    assert answers[1].headers["Retry-After"] == "7"


def test_a_delay_comes_before_the_usual_answer(faulty: Crm) -> None:
    arm(faulty, path="WhoAmI", delay=0.5)
    began = time.monotonic()
    assert faulty.send("GET", "WhoAmI").status_code == 200
    assert time.monotonic() - began >= 0.5


def test_an_answer_can_be_garbage(faulty: Crm) -> None:
    arm(faulty, path="WhoAmI", body="<html>")
    answer = faulty.send("GET", "WhoAmI")
    assert (answer.status_code, answer.text) == (200, "<html>")


@pytest.mark.parametrize("executed", [True, False])
def test_a_connection_is_cut_before_the_answer(faulty: Crm, executed: bool) -> None:
    name = f"Lost {executed}"
    arm(faulty, method="POST", path="/accounts$", cut="answer", executed=executed)
    with pytest.raises(requests.RequestException):
        faulty.send("POST", "accounts", json={"name": name})
    assert len(faulty.get(f"accounts?$filter=name eq '{name}'")["value"]) == executed


def test_an_answer_is_cut_in_half(faulty: Crm) -> None:
    arm(faulty, path="WhoAmI", cut="half", executed=True)
    with pytest.raises(requests.exceptions.RequestException):
        faulty.send("GET", "WhoAmI")


def test_tokens_can_fail_too(faulty: Crm) -> None:
    arm(faulty, path="oauth2", status=500)
    with pytest.raises(requests.HTTPError):
        service(faulty.server)


def test_it_is_told_how_often_a_fault_has_struck(faulty: Crm) -> None:
    arm(faulty, path="WhoAmI", times=None, status=500)
    for _ in range(3):
        faulty.send("GET", "WhoAmI")
    [fault] = requests.get(f"{faulty.server.url}/faults", timeout=10).json()["faults"]
    assert fault["struck"] == 3


@pytest.mark.parametrize("fault", [{"colour": 1}, {"path": "("}, {"status": 99}, {"cut": "all"}])
def test_a_wrong_fault_is_refused(faulty: Crm, fault: dict[str, Any]) -> None:
    answer = requests.put(f"{faulty.server.url}/faults", json={"faults": [fault]}, timeout=10)
    assert answer.status_code == 400


def test_faults_are_off_unless_asked_for_in_development(crm: Crm, empty_site: Site) -> None:
    assert requests.put(f"{crm.server.url}/faults", json={"faults": []}, timeout=10).status_code == 404
    keys = {"SECRET_KEY": "s" * 40, "TOKEN_SIGNING_KEY": "t" * 40, "ALLOWED_HOSTS": "crm.example.org"}
    production = {"PORTICO_MODE": "production", **keys}
    code, output = empty_site.run("crmserver", "--port", "1", CRM_SERVER_FAULTS="1", **production)
    assert code != 0
    assert "CRM_SERVER_FAULTS" in output
