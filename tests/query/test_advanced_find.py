"""FetchXML as Advanced Find, view designers and charts export it: pasted into a query, called over HTTP, and
checked against plain SQL on the same tables; or refused, naming the construct."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client

from crmbox.demo.people import MAX_MANAGER, RITA_REP
from designer.models import Endpoint
from tests.callers import Caller
from tests.designer.studio import change_url, filled, page, send
from tests.query.exports import EXPORTS, Export
from tests.query.refused_exports import REFUSED
from tests.runtime.queries import a_query, body

Found = TypeVar("Found")


def the_day() -> dt.datetime:
    return dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def of_one_day(ask: Callable[[], Found]) -> tuple[Found, dt.datetime]:
    """What `ask` found and the day that it was asked on: once more where midnight passed meanwhile."""
    while True:
        day = the_day()
        answer = ask()
        if the_day() == day:
            return answer, day


def plain_sql(export: Export, day: dt.datetime) -> list[tuple[Any, ...]]:
    bounds = {
        "rita": RITA_REP,
        "max": MAX_MANAGER,
        "tomorrow": (day + dt.timedelta(days=1)).isoformat(" ", "microseconds"),
        "days400": (day - dt.timedelta(days=400)).isoformat(" ", "microseconds"),
        "last_year": f"{day.year - 1}-01-01 00:00:00.000000+00:00",
        "year": f"{day.year}-01-01 00:00:00.000000+00:00",
        "today": day.date().isoformat(),
        "in_90_days": (day.date() + dt.timedelta(days=90)).isoformat(),
    }
    names = [name for name in bounds if f":{name}:" in export.sql]
    names.sort(key=lambda name: export.sql.index(f":{name}:"))
    text = export.sql
    for name in names:
        text = text.replace(f":{name}:", "%s", 1)
    with connection.cursor() as cursor:
        cursor.execute(text, [bounds[name] for name in names])
        # PostgreSQL's driver has a type for ids.
        return [tuple(str(v) if isinstance(v, UUID) else v for v in row) for row in cursor.fetchall()]


def flat(value: Any) -> Any:
    """A value of an answer as a table holds it: of a lookup, the id."""
    if isinstance(value, dict):
        return str(value["id"])
    return value


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_an_export_gives_the_rows_that_plain_sql_gives(rita: Caller, export: Export) -> None:
    path = a_query("multi", export.fetchxml, cap=5000)
    answer, day = of_one_day(lambda: rita.get(path))
    assert answer.status_code == 200, answer.content
    rows = [tuple(flat(value) for value in row.values()) for row in answer.json()]
    expected = plain_sql(export, day)
    assert expected, "the data shows nothing"
    assert Counter(rows) == Counter(expected)
    if export.ordered:
        assert rows == expected


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_an_export_pages_to_the_same_rows(rita: Caller, export: Export) -> None:
    if "top=" in export.fetchxml:
        return
    whole = a_query("multi", export.fetchxml, name="whole", cap=5000)
    path = f"{a_query('paginated', export.fetchxml)}?pageSize=7"

    def both() -> tuple[list[Any], list[Any]]:
        walked: list[Any] = []
        cursor = ""
        while cursor is not None:
            page = body(rita, path + (f"&cursor={cursor}" if cursor else ""))
            walked, cursor = walked + page["data"], page["cursor"]
        return walked, rita.get(whole).json()

    (walked, expected), _ = of_one_day(both)
    assert walked == expected


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_in_the_studio_by_its_name(
    dora: Client, rita: Caller, name: str
) -> None:
    """The field says which construct; nothing that was pasted is lost, and what is served stays."""
    text, message = REFUSED[name]
    path = a_query("multi", '<fetch><entity name="account"><attribute name="name"/></entity></fetch>')
    url = change_url(Endpoint.objects.get(name="tested"))
    answer = send(dora, url, {**filled(page(dora, url)), "settings__query": text})
    form = answer.context["adminform"].form
    assert message in " ".join(form.errors["settings__query"])
    assert form["settings__query"].value() == text
    assert rita.get(path).status_code == 200
