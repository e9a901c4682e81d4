"""Cursors: of use to one caller, for one question, for a day; and of none to anyone else."""

from __future__ import annotations

import base64
import datetime as dt
import string
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.models import Endpoint, Input
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.queries import QUERIES, a_query, accounts, body, pages, where

FIND = f"{QUERIES}/accounts"


def a_cursor(caller: Caller, **parameters: object) -> str:
    """That of a first page."""
    return str(body(caller, f"{FIND}?{urlencode({'pageSize': 5, **parameters})}")["cursor"])


def status(caller: Caller, cursor: str, path: str = FIND, **parameters: object) -> tuple[int, Any]:
    query = urlencode({"pageSize": 5, **parameters, "cursor": cursor})
    answer = caller.get(f"{path}?{query}")
    return answer.status_code, answer.json().get("code")


OK = (200, None)
REFUSED = (400, "bad_cursor")


def test_a_cursor_asks_for_the_next_page_as_often_as_it_is_sent(rita: Caller) -> None:
    cursor = a_cursor(rita)
    assert status(rita, cursor) == status(rita, cursor) == OK


def test_a_refusal_names_the_parameter_and_says_what_to_do(rita: Caller) -> None:
    problem = rita.get(f"{FIND}?cursor=nonsense").json()
    assert (problem["status"], problem["code"], problem["errors"][0]["parameter"]) == (
        400,
        "bad_cursor",
        "cursor",
    )
    assert "without one" in problem["detail"]


def test_a_cursor_belongs_to_its_caller(rita: Caller, max: Caller) -> None:
    assert status(max, a_cursor(rita)) == REFUSED


def test_an_anonymous_callers_cursor_belongs_to_its_address(anonymous: Caller) -> None:
    Endpoint.objects.filter(kind="paginated-query").update(authentication_required=False)
    cursor = a_cursor(anonymous)
    path = f"{FIND}?pageSize=5&cursor={cursor}"
    assert status(anonymous, cursor) == OK
    assert anonymous.client.get(path, REMOTE_ADDR="203.0.113.7").json()["code"] == "bad_cursor"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"pageSize": 6}),
        ({}, {"name": "a"}),
        ({"name": "a"}, {"name": "e"}),
        ({"name": "a"}, {}),
        ({"name": "a"}, {"minRevenue": 1, "name": "a"}),
        ({}, {"order": "name"}),
        ({"order": "name"}, {"order": "-name"}),
        ({"industry": 1}, {"minRevenue": 1}),
    ],
)
def test_a_cursor_belongs_to_its_parameters(
    rita: Caller, first: dict[str, Any], then: dict[str, Any]
) -> None:
    assert status(rita, a_cursor(rita, **first), **first) == OK
    assert status(rita, a_cursor(rita, **first), **then) == REFUSED


def test_what_changes_no_row_may_change_between_pages(rita: Caller) -> None:
    cursor = a_cursor(rita)
    Endpoint.objects.filter(kind="paginated-query").update(title="Renamed", description="And described")
    assert status(rita, cursor, lcid=1031) == OK


def test_a_cursor_ends_with_the_question_that_it_was_made_for(rita: Caller) -> None:
    cursor = a_cursor(rita)
    row = Endpoint.objects.get(kind="paginated-query", name="accounts")
    Input.objects.create(endpoint=row, name="more")
    assert status(rita, cursor) == REFUSED


def test_a_cursor_of_another_endpoint_is_of_no_use(rita: Caller) -> None:
    path = a_query("paginated", accounts())
    assert status(rita, a_cursor(rita), path) == REFUSED


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def _nothing_opens_what_was_not_sealed_here(rita: Caller, cursor: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(cursor) - 1))
    changed = cursor[:at] + data.draw(st.sampled_from("AB_-9=é ")) + cursor[at + 1 :]
    if changed != cursor:
        assert status(rita, changed) == REFUSED


def test_a_cursor_that_was_changed_anywhere_is_refused(rita: Caller) -> None:
    _nothing_opens_what_was_not_sealed_here(rita, a_cursor(rita))


def test_a_cursor_is_not_to_be_had_in_another_spelling(rita: Caller) -> None:
    cursor = a_cursor(rita)
    signs = string.ascii_letters + string.digits + "-_"
    others = [cursor[:-1] + sign for sign in signs if sign != cursor[-1]]
    assert {status(rita, other) for other in others} == {REFUSED}


def test_a_cursor_with_signs_strewn_in_is_refused(rita: Caller) -> None:
    cursor = a_cursor(rita)
    for sign in ("!", "=", " ", "\n"):
        assert status(rita, f"{cursor[:50]}{sign}{cursor[50:]}") == REFUSED
        assert status(rita, cursor + sign) == REFUSED


@pytest.mark.parametrize("cursor", ["x", "=", "gAAAAA", "é", "A" * 6001, "%00", "null", "1"])
def test_nonsense_is_refused(rita: Caller, cursor: str) -> None:
    assert rita.get(f"{FIND}?pageSize=5&cursor={quote(cursor, safe='%')}").status_code == 400


def test_a_cursor_says_nothing_of_what_it_holds(rita: Caller) -> None:
    cursor = a_cursor(rita, name="a", order="name")
    last = body(rita, f"{FIND}?pageSize=5&name=a&order=name")["data"][-1]["id"]
    assert last.encode() not in base64.urlsafe_b64decode(cursor + "==")


Later: TypeAlias = Callable[[dt.timedelta], None]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Moves the clocks that cursors and requests look at."""

    def move(distance: dt.timedelta) -> None:
        now = dt.datetime.now(dt.UTC) + distance
        monkeypatch.setattr("runtime.operations.queries.cursor.time", SimpleNamespace(time=now.timestamp))
        clock = SimpleNamespace(datetime=SimpleNamespace(now=lambda zone: now), UTC=dt.UTC)
        monkeypatch.setattr("runtime.request_context.dt", clock)

    return move


def test_a_cursor_is_good_for_a_day(rita: Caller, later: Later) -> None:
    cursor = a_cursor(rita)
    later(dt.timedelta(hours=23, minutes=59))
    assert status(rita, cursor) == OK
    later(dt.timedelta(hours=24, minutes=1))
    assert status(rita, cursor) == REFUSED


def test_a_key_that_was_replaced_still_opens_and_one_that_was_dropped_does_not(
    rita: Caller, settings: Any
) -> None:
    cursor = a_cursor(rita)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "new" * 20
    assert status(rita, cursor) == OK
    settings.SECRET_KEY_FALLBACKS = []
    assert status(rita, cursor) == REFUSED


def test_relative_dates_stand_still_while_pages_are_walked(rita: Caller, later: Later) -> None:
    """What was inside the last hour when the first page was asked for is found, however slow the walk."""
    for number in range(4):
        get_platform().create("account", {"name": f"Recent {number}"})
    conditions = where(
        'attribute="createdon" operator="last-x-hours" value="1"',
        'attribute="name" operator="begins-with" value="Recent"',
    )
    path = a_query("paginated", accounts(f'<order attribute="name"/>{conditions}'))
    seen = body(rita, f"{path}?pageSize=2")
    later(dt.timedelta(hours=3))
    rest = body(rita, f"{path}?pageSize=2&cursor={seen['cursor']}")
    assert [row["name"] for row in seen["data"] + rest["data"]] == [f"Recent {number}" for number in range(4)]
    assert body(rita, f"{path}?pageSize=2")["data"] == []


def test_rows_are_paged_by_long_texts_too(rita: Caller) -> None:
    for letter in "abc":
        get_platform().create("account", {"name": "Long", "description": f"{letter * 1_990} long"})
    inside = '<order attribute="description"/>' + where('attribute="name" operator="eq" value="Long"')
    path = f"{a_query('paginated', accounts(inside))}?pageSize=1"
    assert [page["count"] for page in pages(rita, path)] == [1, 1, 1]
