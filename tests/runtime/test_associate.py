"""Associate: two records are tied and untied, as often as one likes, by those who reach both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crmbox.demo import people
from crmbox.platform import EmbeddedPlatform
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.models import Column, Endpoint, ExposedEntity, Fetcher, Input, Module, Precondition
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import ruled
from tests.runtime.accounts import NOBODY
from tests.runtime.associations import MAX, MEMBERS, RITA, TEAMS, a_team, associations, members, only, path
from tests.runtime.test_row_rules import same

METHODS = ("PUT", "DELETE")
R = TypeVar("R")


@pytest.fixture
def served(portico: None) -> Endpoint:
    return associations()


def test_a_pair_is_made_and_taken_apart_as_often_as_asked(served: Endpoint, rita: Caller) -> None:
    team = a_team()
    for method, expected in (("PUT", [RITA]), ("DELETE", [])):
        for _ in range(2):
            answer = rita.request(method, path(team, RITA))
            assert (answer.status_code, answer.content) == (204, b"")
            assert members(team) == expected


def test_only_the_pair_that_is_named_changes(served: Endpoint, rita: Caller) -> None:
    one, other = a_team("One"), a_team("Other")
    for pair in ((one, RITA), (one, MAX), (other, RITA)):
        assert rita.request("PUT", path(*pair)).status_code == 204
    assert rita.delete(path(one, RITA)).status_code == 204
    assert (members(one), members(other)) == ([MAX], [RITA])


@pytest.mark.parametrize("method", METHODS)
def test_records_that_are_not_there_are_unknown(served: Endpoint, rita: Caller, method: str) -> None:
    team = a_team()
    for pair in ((NOBODY, RITA), (team, NOBODY), (NOBODY, NOBODY)):
        assert rita.request(method, path(*pair)).status_code == 404
    for pair in (("nonsense", RITA), (team, "nonsense")):
        answer = rita.request(method, path(*pair))
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_id")


@pytest.mark.parametrize("method", METHODS)
def test_a_body_or_a_parameter_is_refused(served: Endpoint, rita: Caller, method: str) -> None:
    team = a_team()
    for body in ({}, {"id": RITA}, b"x"):
        answer = rita.request(method, path(team, RITA), body)
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed_body")
    assert rita.request(method, f"{path(team, RITA)}?force=1").json()["code"] == "invalid_parameter"
    assert members(team) == []


@pytest.mark.parametrize(("calls", "method"), [("associate", "PUT"), ("disassociate", "DELETE")])
def test_only_what_is_allowed_is_taken(portico: None, rita: Caller, calls: str, method: str) -> None:
    associations(calls=calls)
    team = a_team()
    [other] = set(METHODS) - {method}
    assert rita.request(method, path(team, RITA)).status_code == 204
    refused = rita.request(other, path(team, RITA))
    assert (refused.status_code, refused["Allow"]) == (405, f"{method}, OPTIONS")


@pytest.mark.parametrize("method", METHODS)
def test_a_record_outside_the_row_rule_is_unknown(served: Endpoint, rita: Caller, method: str) -> None:
    team = a_team("Hidden")
    only("teams", 'attribute="name" operator="eq" value="Shown"')
    hidden = rita.request(method, path(team, RITA))
    assert same(hidden, rita.request(method, path(NOBODY, RITA)))
    assert rita.request(method, path(a_team("Shown"), RITA)).status_code == 204
    assert members(team) == []


@pytest.mark.parametrize("method", METHODS)
def test_a_related_record_outside_its_row_rule_is_unknown(
    served: Endpoint, rita: Caller, method: str
) -> None:
    team = a_team()
    get_platform().associate("team", team, MEMBERS, MAX)
    only("people", 'attribute="systemuserid" operator="eq-userid"')
    hidden = rita.request(method, path(team, MAX))
    assert same(hidden, rita.request(method, path(team, NOBODY)))
    assert rita.request(method, path(team, RITA)).status_code == 204
    assert MAX in members(team)


def test_the_row_rule_of_another_exposure_of_the_related_entity_is_not_asked(
    served: Endpoint, rita: Caller
) -> None:
    nobody = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="nobody", entity="systemuser"
    )
    ruled(nobody, '<filter><condition attribute="systemuserid" operator="null"/></filter>')
    team = a_team()
    assert rita.request("PUT", path(team, RITA)).status_code == 204
    Endpoint.objects.filter(pk=served.pk).update(settings={**served.settings, "related": "nobody"})
    assert rita.request("PUT", path(team, RITA)).status_code == 404


def test_the_endpoint_narrows_the_row_rule_of_its_own_entity(served: Endpoint, rita: Caller) -> None:
    rule = '<filter><condition attribute="name" operator="eq" value="Shown"/></filter>'
    Endpoint.objects.filter(pk=served.pk).update(row_rule=rule)
    assert rita.request("PUT", path(a_team("Hidden"), RITA)).status_code == 404
    assert rita.request("PUT", path(a_team("Shown"), RITA)).status_code == 204


def test_fetchers_and_pre_conditions_come_first(served: Endpoint, rita: Caller) -> None:
    Fetcher.objects.create(
        endpoint=served,
        name="unit",
        query='<fetch><entity name="businessunit"><attribute name="name"/><filter>'
        '<condition attribute="businessunitid" operator="eq" value="@record.businessunitid"/>'
        "</filter></entity></fetch>",
    )
    Precondition.objects.create(
        endpoint=served,
        expression='record.name != "Closed" && fetch.unit.name != ""',
        status=409,
        message="The team is closed.",
    )
    closed = a_team("Closed")
    refused = rita.request("PUT", path(closed, RITA))
    assert (refused.status_code, refused.json()["detail"]) == (409, "The team is closed.")
    assert members(closed) == []
    assert rita.request("PUT", path(a_team("Open"), RITA)).status_code == 204


def test_who_may_not_call_changes_nothing(served: Endpoint, anonymous: Caller, rita: Caller) -> None:
    team = a_team()
    for method in METHODS:
        assert anonymous.request(method, path(team, RITA)).status_code == 401
    assert rita.get(path(team, RITA)).status_code == 405
    assert members(team) == []


class _Noting(StandIn):
    """The platform, with a note of each thing that it is asked for beside metadata."""

    asked: ClassVar[list[str]] = []

    def __init__(self) -> None:
        super().__init__(EmbeddedPlatform())

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        if member_call.effect is not Effect.METADATA:
            self.asked.append(member_call.member)
        return ask()


@pytest.fixture
def asked(portico: None, settings: Any) -> Iterator[list[str]]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}._Noting"}
    get_platform.cache_clear()
    yield _Noting.asked
    get_platform.cache_clear()


def test_the_platform_is_asked_once_and_once_more_for_each_row_rule(asked: list[str], rita: Caller) -> None:
    associations()
    team = a_team()
    calls = []
    for rule in (None, "people", "teams"):
        if rule is not None:
            only(rule, 'attribute="createdon" operator="not-null"')
        rita.request("PUT", path(team, RITA))
        asked.clear()
        assert rita.request("PUT", path(team, RITA)).status_code == 204
        calls.append(list(asked))
    assert calls == [["associate"], ["query", "associate"], ["query", "query", "associate"]]


def test_a_steady_call_takes_one_configuration_query(served: Endpoint, rita: Caller) -> None:
    team = a_team()
    rita.request("PUT", path(team, RITA))
    for method, statements in (("PUT", 4), ("DELETE", 3), ("PUT", 3)):
        with CaptureQueriesContext(connection) as queries:
            assert rita.request(method, path(team, RITA)).status_code == 204
        texts = [query["sql"] for query in queries.captured_queries]
        assert sum("designer_" in text for text in texts) == 1, texts
        # The configuration, the version, the pair, and a look at both records where no pair was touched.
        assert len([text for text in texts if "SAVEPOINT" not in text]) == statements, texts


@pytest.mark.parametrize(
    "settings",
    [
        {"relationship": ""},
        {"relationship": "nothing"},
        {"relationship": "business_unit_teams"},
        {"related": ""},
        {"related": "nothing"},
        {"related": "accounts"},
    ],
)
def test_what_cannot_be_meant_is_not_served(portico: None, rita: Caller, settings: dict[str, str]) -> None:
    associations(**settings)
    team = a_team()
    answer = rita.request("PUT", path(team, RITA))
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")
    assert members(team) == []


def test_related_records_are_listed_by_a_query(served: Endpoint, rita: Caller) -> None:
    """Both sides of a relationship meet in its intersect entity, as in any query of Advanced Find."""
    query = Endpoint.objects.create(
        kind="multi-query",
        module=served.module,
        name="team-members",
        settings={
            "query": '<fetch><entity name="systemuser"><attribute name="fullname"/>'
            '<link-entity name="teammembership" from="systemuserid" to="systemuserid">'
            '<link-entity name="team" from="teamid" to="teamid"><filter>'
            '<condition attribute="teamid" operator="eq" value="@team"/>'
            "</filter></link-entity></link-entity></entity></fetch>"
        },
    )
    Input.objects.create(endpoint=query, name="team", type="Guid", required=True)
    Column.objects.create(endpoint=query, attribute="fullname", name="name")
    team = a_team()
    assert rita.request("PUT", path(team, people.RITA_REP)).status_code == 204
    answer = rita.get(f"/api/sales/queries/team-members?team={team}")
    assert (answer.status_code, answer.json()) == (200, [{"name": "Rita Rep"}])


def test_a_file_beside_it_has_a_path_of_its_own(served: Endpoint, rita: Caller) -> None:
    """Both have six segments, of which an id and a name may be anything."""
    Endpoint.objects.create(kind="download", entity=served.entity, name="sheets", settings={"notes": True})
    team = a_team()
    assert rita.get(f"{TEAMS}/{team}/files/sheets").status_code != 405
    assert rita.request("PUT", f"{TEAMS}/{team}/files/sheets").status_code == 405
    assert rita.request("PUT", f"{path(team, RITA)}/").status_code == 204
