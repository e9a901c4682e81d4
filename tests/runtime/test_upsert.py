"""Upsert: the record with a key is changed, or created, by those who may reach it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Reference
from crmclient.query.ast import Column, Query
from crmclient.stand_in import MemberCall, StandIn
from designer.models import Binding, Endpoint, Fetcher, Input, Precondition
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import only_rule
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account
from tests.runtime.associations import MAX, RITA
from tests.runtime.keys import KEY, NUMBERS, a_number, found, path, reads, upserts
from tests.runtime.test_row_rules import MINE, only, same

R = TypeVar("R")


@pytest.fixture
def served(portico: None) -> Endpoint:
    only_rule("", segment="accounts")
    return upserts()


def test_a_record_is_created_and_then_changed(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    first = rita.request("PUT", path(number), {"name": "First", "phone": "1"})
    assert (first.status_code, first.json().keys()) == (200, {"id", "created"})
    assert first.json()["created"] is True

    second = rita.request("PUT", path(number), {"name": "Second"})

    assert (second.status_code, second.json()) == (200, {"id": first.json()["id"], "created": False})
    # What is left out stays as it is.
    assert found(number, "name", "telephone1", KEY) == [{"name": "Second", "telephone1": "1", KEY: number}]
    read = rita.get(f"{ACCOUNTS}/{second.json()['id']}")
    assert read["ETag"].partition(".")[0] == second["ETag"].rstrip('"')


def test_a_repeated_call_changes_nothing_more(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    answers = [rita.request("PUT", path(number), {"name": "Same"}) for _ in range(3)]
    assert [answer.json()["created"] for answer in answers] == [True, False, False]
    assert len(found(number)) == 1


@pytest.mark.parametrize(
    "number", ["A/1", "A//1", "a,b\\c", "100% & more?", "ä ö", "o'Neil", "keys", ".", "#1"]
)
def test_a_value_may_hold_anything(served: Endpoint, rita: Caller, number: str) -> None:
    answer = rita.request("PUT", path(number), {"name": "First"})
    assert (answer.status_code, answer.json()["created"]) == (200, True), answer.content
    assert found(number, KEY) == [{KEY: number}]


def test_a_slash_at_the_end_is_none_of_the_value(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    made = rita.request("PUT", path(number), {"name": "First"}).json()["id"]
    assert rita.request("PUT", f"{path(number)}/", {"name": "Second"}).json() == {
        "id": made,
        "created": False,
    }
    assert rita.request("PUT", f"{path(number)}//", {"name": "Third"}).json()["created"] is True
    assert found(f"{number}/", KEY) == [{KEY: f"{number}/"}]


@pytest.mark.parametrize("number", ["x" * 21, "a\0b", "a\x1fb", "\ufffe"])
def test_a_value_that_no_key_has_is_refused(served: Endpoint, rita: Caller, number: str) -> None:
    answer = rita.request("PUT", path(number), {"name": "First"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_key")


def test_the_body_is_judged_like_that_of_any_write(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    wrong = rita.request("PUT", path(number), {"phone": "1" * 51, "nope": 1})
    assert wrong.status_code == 400
    assert {error["pointer"] for error in wrong.json()["errors"]} == {"/name", "/phone", "/nope"}
    assert rita.request("PUT", path(number), b"{").json()["code"] == "malformed_body"
    assert rita.request("PUT", f"{path(number)}?x=1", {"name": "x"}).json()["code"] == "invalid_parameter"
    assert found(number) == []


def test_who_may_not_call_changes_nothing(served: Endpoint, anonymous: Caller, rita: Caller) -> None:
    number = a_number()
    assert anonymous.request("PUT", path(number), {"name": "x"}).status_code == 401
    assert rita.get(path(number)).status_code == 405
    assert found(number) == []


def test_only_an_enabled_endpoint_answers(served: Endpoint, rita: Caller) -> None:
    assert rita.request("PUT", NUMBERS, {"name": "x"}).status_code in (404, 405)
    assert rita.request("PUT", path(a_number()).replace("number", "other"), {"name": "x"}).status_code == 404
    Endpoint.objects.filter(pk=served.pk).update(enabled=False)
    assert rita.request("PUT", path(a_number()), {"name": "x"}).status_code == 404


# Conditions


def test_a_record_is_only_created_where_the_caller_says_so(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    for status in (200, 412, 412):
        answer = rita.request("PUT", path(number), {"name": "Mine"}, if_none_match="*")
        assert answer.status_code == status
    assert answer.json()["code"] == "record_exists"
    changed = rita.request("PUT", path(number), {"name": "Changed"})
    assert (changed.json()["created"], found(number)) == (False, [{"name": "Changed"}])


@pytest.mark.parametrize("tag", ["*", '"1"', '"1", "2"'])
def test_a_record_is_not_created_where_the_caller_means_one(served: Endpoint, rita: Caller, tag: str) -> None:
    number = a_number()
    refused = rita.request("PUT", path(number), {"name": "Never"}, if_match=tag)
    assert same(refused, rita.get(f"{ACCOUNTS}/{NOBODY}"))
    assert found(number) == []


def test_a_version_that_is_meant_is_the_only_one_changed(served: Endpoint, rita: Caller) -> None:
    number = a_number()
    first = rita.request("PUT", path(number), {"name": "First"})
    for tags in ('"1"', '"1", "2"', 'W/"1"'):
        stale = rita.request("PUT", path(number), {"name": "Never"}, if_match=tags)
        assert (stale.status_code, stale.json()["code"]) == (412, "version_mismatch")
    second = rita.request("PUT", path(number), {"name": "Second"}, if_match=f'"1", {first["ETag"]}')
    assert (second.status_code, found(number)) == (200, [{"name": "Second"}])
    assert rita.request("PUT", path(number), {"name": "Third"}, if_match="*").status_code == 200


@pytest.mark.parametrize("headers", [{"if_none_match": '"1"'}, {"if_none_match": "*", "if_match": "*"}])
def test_conditions_that_mean_nothing_are_refused(
    served: Endpoint, rita: Caller, headers: dict[str, str]
) -> None:
    answer = rita.request("PUT", path(a_number()), {"name": "x"}, **headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_if_none_match")


# Row rules


def test_a_record_outside_the_row_rule_is_unknown_and_stays(
    served: Endpoint, rita: Caller, max: Caller
) -> None:
    only(MINE)
    number = a_number()
    hidden = an_account(accountnumber=number, ownerid=Reference("systemuser", MAX))
    before = found(number, "name", "modifiedon", "versionnumber")
    for headers in ({}, {"if_match": "*"}, {"if_match": '"1"'}, {"if_none_match": "*"}):
        refused = rita.request("PUT", path(number), {"name": "Stolen"}, **headers)
        assert same(refused, rita.get(f"{ACCOUNTS}/{NOBODY}")), headers
    assert found(number, "name", "modifiedon", "versionnumber") == before
    assert max.request("PUT", path(number), {"name": "His"}).json()["id"] == hidden.rpartition("/")[2]


def test_a_record_is_made_and_changed_inside_the_row_rule(served: Endpoint, rita: Caller) -> None:
    only('<filter><condition attribute="name" operator="begins-with" value="Wool"/></filter>')
    number = a_number()
    outside = rita.request("PUT", path(number), {"name": "Silk"})
    assert (outside.status_code, outside.json()["code"]) == (403, "outside_row_rule")
    assert found(number) == []
    assert rita.request("PUT", path(number), {"name": "Wool one"}).json()["created"] is True
    moved = rita.request("PUT", path(number), {"name": "Silk"})
    assert (moved.status_code, moved.json()["code"]) == (403, "outside_row_rule")
    assert rita.request("PUT", path(number), {"name": "Wool two"}).status_code == 200
    assert found(number) == [{"name": "Wool two"}]


def test_a_rule_about_the_key_sees_it(served: Endpoint, rita: Caller) -> None:
    only(f'<filter><condition attribute="{KEY}" operator="begins-with" value="K-"/></filter>')
    assert rita.request("PUT", path(a_number()), {"name": "Inside"}).status_code == 200
    assert rita.request("PUT", path(f"X{a_number()}"), {"name": "Outside"}).status_code == 403


def test_records_may_be_made_outside_where_the_setting_says_so(served: Endpoint, rita: Caller) -> None:
    only(MINE)
    Endpoint.objects.filter(pk=served.pk).update(settings={"key": KEY, "may_create_outside_rule": True})
    Binding.objects.create(
        endpoint=served, attribute="ownerid", source="constant", value={"type": "systemuser", "id": MAX}
    )
    number = a_number()
    assert rita.request("PUT", path(number), {"name": "Given away"}).json()["created"] is True
    assert rita.request("PUT", path(number), {"name": "Again"}).status_code == 404


def test_a_lookup_in_the_body_is_one_that_the_caller_reaches(served: Endpoint, rita: Caller) -> None:
    only(MINE)
    Input.objects.create(endpoint=served, name="parent", type="EntityReference", position=9)
    Binding.objects.create(endpoint=served, attribute="parentaccountid", source="input", value="parent")
    hidden = an_account(ownerid=Reference("systemuser", MAX)).rpartition("/")[2]
    answers = [
        rita.request("PUT", path(a_number()), {"name": "x", "parent": parent}) for parent in (hidden, NOBODY)
    ]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert [error["code"] for answer in answers for error in answer.json()["errors"]] == [
        "unknown_target"
    ] * 2


class _Hurried(StandIn):
    """The platform, where somebody else is quicker than the first write."""

    before: ClassVar[list[Callable[[], object]]] = []

    def __init__(self) -> None:
        super().__init__(EmbeddedPlatform())

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        if member_call.member == "upsert" and self.before:
            self.before.pop()()
        return ask()


@pytest.fixture
def hurried(portico: None, settings: Any) -> Iterator[None]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}._Hurried"}
    get_platform.cache_clear()
    yield
    _Hurried.before.clear()
    get_platform.cache_clear()


@pytest.mark.parametrize(("name", "status"), [("Wool one", 200), ("Silk", 404)])
def test_a_record_that_comes_in_between_is_looked_at_again(
    hurried: None, rita: Caller, name: str, status: int
) -> None:
    upserts()
    only('<filter><condition attribute="name" operator="begins-with" value="Wool"/></filter>')
    number = a_number()
    _Hurried.before.append(lambda: an_account(accountnumber=number, name=name))
    answer = rita.request("PUT", path(number), {"name": "Wool two"})
    assert answer.status_code == status
    assert found(number) == [{"name": "Wool two" if status == 200 else name}]


def test_a_record_that_moves_away_in_between_is_unknown(hurried: None, rita: Caller) -> None:
    upserts()
    only(MINE)
    number = a_number()
    mine = an_account(accountnumber=number, ownerid=Reference("systemuser", RITA)).rpartition("/")[2]
    platform = get_platform()
    _Hurried.before.append(
        lambda: platform.update("account", mine, {"ownerid": Reference("systemuser", MAX)})
    )
    assert rita.request("PUT", path(number), {"name": "Late"}).status_code == 404
    assert found(number) == [{"name": "Contoso"}]


# What stands around


def test_fetchers_and_pre_conditions_come_first(served: Endpoint, rita: Caller) -> None:
    Fetcher.objects.create(
        endpoint=served,
        name="unit",
        query='<fetch top="1"><entity name="businessunit"><attribute name="name"/></entity></fetch>',
    )
    Precondition.objects.create(
        endpoint=served, expression="input.name != fetch.unit.name", status=409, message="Taken."
    )
    [unit] = get_platform().query(Query("businessunit", (Column("name"),), top=1)).rows
    number = a_number()
    refused = rita.request("PUT", path(number), {"name": unit["name"]})
    assert (refused.status_code, refused.json()["detail"]) == (409, "Taken.")
    assert found(number) == []
    assert rita.request("PUT", path(number), {"name": "Another"}).status_code == 200


@pytest.mark.parametrize("settings", [{"key": ""}, {"key": "nothing"}, {"key": "accountid"}])
def test_what_cannot_be_meant_is_not_served(portico: None, rita: Caller, settings: dict[str, str]) -> None:
    upserts(**settings)
    answer = rita.request("PUT", path(a_number()), {"name": "x"})
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")


def test_a_binding_of_the_key_is_not_served(served: Endpoint, rita: Caller) -> None:
    Binding.objects.create(endpoint=served, attribute=KEY, source="constant", value="A-1")
    assert rita.request("PUT", path(a_number()), {"name": "x"}).status_code == 503


def test_a_write_ends_answers_that_are_cached(served: Endpoint, rita: Caller) -> None:
    reads(cache={"seconds": 300})
    number = a_number()
    for name in ("First", "Second", "Third"):
        assert rita.request("PUT", path(number), {"name": name}).status_code == 200
        answers = [rita.get(path(number)) for _ in range(2)]
        assert [answer.json()["name"] for answer in answers] == [name, name]
        assert "hit" in answers[1]["Cache-Status"]


def test_it_is_described(served: Endpoint, rita: Caller) -> None:
    reads()
    described = rita.get("/api/openapi.json").json()["paths"]["/api/sales/accounts/keys/number/{value}"]
    assert described.keys() == {"get", "put"}
    put, get = described["put"], described["get"]
    assert put["operationId"] == "upsert.sales.accounts.number"
    assert [one["name"] for one in put["parameters"] if "name" in one] == [
        "value",
        "If-Match",
        "If-None-Match",
    ]
    assert put["parameters"][0]["schema"] == {"type": "string", "maxLength": 20}
    assert {"200", "400", "401", "403", "404", "409", "412"} <= set(put["responses"])
    assert get["parameters"][0]["name"] == "value"
    schema = rita.get("/api/schema/entities/sales.accounts").json()["operations"]
    call = schema["upsert.number"]
    assert (call["method"], call["path"]) == ("PUT", "/api/sales/accounts/keys/number/{value}")
    assert [field["name"] for field in call["fields"]] == ["name", "phone"]
    assert [header["name"] for header in call["headers"]] == ["If-Match", "If-None-Match"]
    assert [column["name"] for column in schema["read-by-key.number"]["columns"]] == ["id", "name", "number"]
    form = rita.get(call["form"])
    assert form.status_code == 200, form.content
