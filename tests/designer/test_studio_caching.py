"""Cached answers in the studio: switched on, told in versions and documents, and who shares them."""

from __future__ import annotations

import html

import pytest
from django.test import Client

from designer.documents.document_writer import export
from designer.history.wording import lines
from designer.kinds.effects import Effect
from designer.loading import load
from designer.models import Column, Endpoint, Module
from tests.designer.studio import change_url, filled, page, send
from tests.row_rules import by_roles, only_rule

FETCH = '<fetch><entity name="account"><attribute name="name"/></entity></fetch>'
MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'


@pytest.fixture
def row(portico: None) -> Endpoint:
    """A query of the module `sales`, for accounts under their row rule."""
    module = Module.objects.get(segment="sales")
    only_rule("")
    return Endpoint.objects.create(kind="multi-query", module=module, name="kept", settings={"query": FETCH})


def shown(client: Client, row: Endpoint) -> str:
    """What the page says of who shares answers."""
    text = page(client, change_url(row)).content.decode()
    heading = text.partition('id="title-caching">')[2].partition("</h2>")[0]
    return html.unescape(heading)


def test_consultants_switch_it_on_and_see_who_shares(dora: Client, row: Endpoint) -> None:
    assert "All callers share one answer" in shown(dora, row)
    by_roles([("", ["sales-rep"]), (MINE.replace("eq-userid", "not-null"), [])])
    assert "Callers who have the same of these roles share an answer: sales-rep." in shown(dora, row)
    only_rule(MINE)
    assert "Each caller has answers of their own, because the endpoint reads eq-userid." in shown(dora, row)
    only_rule("")
    Column.objects.create(endpoint=row, name="me", expression="user.type")
    assert "the endpoint reads user.type." in shown(dora, row)
    data = filled(page(dora, change_url(row)))
    assert data["settings__cache__seconds"] == 0
    data |= {"settings__cache__seconds": 60, "settings__cache__stale_seconds": 600}
    assert send(dora, change_url(row), data).status_code == 302
    row.refresh_from_db()
    assert row.settings["cache"] == {"seconds": 60, "stale_seconds": 600}


def test_a_time_that_cannot_be_is_refused(dora: Client, row: Endpoint) -> None:
    for seconds in (-1, 43_201):
        data = {**filled(page(dora, change_url(row))), "settings__cache__seconds": seconds}
        assert send(dora, change_url(row), data).status_code == 200
        row.refresh_from_db()
        assert "cache" not in row.settings


def test_writes_offer_no_cache(dora: Client, row: Endpoint) -> None:
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    assert "settings__cache__seconds" not in filled(page(dora, change_url(create)))


def test_documents_hold_it_where_it_is_on(row: Endpoint) -> None:
    def of_document() -> object:
        endpoints = [
            endpoint for endpoint in export(load()).to_json()["endpoints"] if endpoint.get("name") == "kept"
        ]
        return endpoints[0]["settings"].get("cache")

    assert of_document() is None
    row.settings = {**row.settings, "cache": {"seconds": 60}}
    row.save()
    assert of_document() == {"seconds": 60}


def test_versions_tell_what_changed() -> None:
    before = {"kind": "read", "settings": {}}

    def told(old: dict[str, int], new: dict[str, int]) -> tuple[str, Effect]:
        [line] = lines(
            "endpoints",
            {**before, "settings": {"cache": old} if old else {}},
            {**before, "settings": {"cache": new} if new else {}},
        )
        return line.text, line.effect

    kept = ("answers are cached for 60 seconds", Effect.BEHAVIOUR)
    assert told({}, {"seconds": 60}) == kept
    assert told({"seconds": 90}, {"seconds": 60}) == (kept[0], Effect.ADDITIVE)
    assert told({"seconds": 60}, {}) == ("answers are no longer cached", Effect.ADDITIVE)
    assert told({}, {"stale_seconds": 60}) == ("answers are not cached", Effect.ADDITIVE)
    asked = "callers may ask for answers that are not cached"
    assert told({"seconds": 60}, {"seconds": 60, "fresh": True}) == (asked, Effect.ADDITIVE)
    kept_by_others = {"seconds": 60, "downstream": True}
    assert told({"seconds": 60}, kept_by_others) == (
        "browsers and proxies keep answers, too",
        Effect.BEHAVIOUR,
    )
    assert told(kept_by_others, {"seconds": 60}) == (
        "browsers and proxies no longer keep answers",
        Effect.ADDITIVE,
    )
    # All that changed at once is told, and the most serious of it counts.
    assert told(kept_by_others, {"seconds": 30, "fresh": True}) == (
        f"answers are cached for 30 seconds; browsers and proxies no longer keep answers; {asked}",
        Effect.ADDITIVE,
    )
    assert told({"seconds": 60, "fresh": True}, kept_by_others) == (
        "browsers and proxies keep answers, too; callers may no longer ask for answers that are not cached",
        Effect.BEHAVIOUR,
    )
    assert told({"seconds": 30, "stale_seconds": 600}, {"seconds": 60}) == kept
    assert told({}, {"seconds": 1}) == ("answers are cached for 1 second", Effect.BEHAVIOUR)
    late = "answers are cached for 60 seconds, and 5 more while the platform is away"
    assert told({"seconds": 60}, {"seconds": 60, "stale_seconds": 5}) == (late, Effect.BEHAVIOUR)
