"""The demo's document of teams and their members, imported as anyone would."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from crmbox.demo.people import stable_id
from project.demo import TEAM_MEMBERS
from tests.callers import Caller
from tests.runtime.associations import RITA
from tests.runtime.test_row_rules import same

TEAMS = "/api/people/teams"
NORTH, SOUTH = stable_id("team", "North Field"), stable_id("team", "South Field")
LEFT = stable_id("systemuser", "Gregor Gone")


@pytest.fixture
def imported(portico: None) -> None:
    call_command("importconfig", str(TEAM_MEMBERS), stdout=io.StringIO())


def names(caller: Caller, query: str) -> list[str]:
    answer = caller.get(f"/api/people/queries/{query}")
    assert answer.status_code == 200, answer.content
    return [row.get("fullName") or row["name"] for row in answer.json()]


def test_it_brings_nothing_that_readiness_has_a_word_for(imported: None) -> None:
    out = io.StringIO()
    call_command("checkconfig", "--json", stdout=out)
    report = json.loads(out.getvalue())
    assert [each for each in report["findings"] if "people." in each["subject"]] == []


def test_a_manager_says_who_is_in_the_teams_of_the_own_business_unit(imported: None, max: Caller) -> None:
    assert names(max, "teams") == ["North Field"]
    before = names(max, f"team-members?teamId={NORTH}")
    assert "Rita Rep" in before
    path = f"{TEAMS}/{NORTH}/members/{RITA}"
    for method, expected in (
        ("DELETE", [name for name in before if name != "Rita Rep"]),
        ("PUT", before),
    ):
        assert max.request(method, path).status_code == 204
        assert names(max, f"team-members?teamId={NORTH}") == expected


def test_other_teams_and_those_who_left_are_out_of_reach(imported: None, max: Caller) -> None:
    assert names(max, f"team-members?teamId={SOUTH}") == []
    assert "Gregor Gone" not in names(max, "colleagues")
    for path in (f"{TEAMS}/{SOUTH}/members/{RITA}", f"{TEAMS}/{NORTH}/members/{LEFT}"):
        unknown = max.request("PUT", f"{TEAMS}/{RITA}/members/{RITA}")
        assert same(max.request("PUT", path), unknown)


def test_a_representative_may_not(imported: None, rita: Caller) -> None:
    assert rita.request("PUT", f"{TEAMS}/{NORTH}/members/{RITA}").status_code == 403
