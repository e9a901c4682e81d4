"""Delta links: which records of an entity set have changed since an answer."""

from __future__ import annotations

import uuid
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.webapi.crm import Crm

pytestmark = pytest.mark.processes
TRACKED = {"Prefer": "odata.track-changes"}


def begun(crm: Crm, **headers: str) -> str:
    """A delta link of now, after all pages of leads."""
    answer = crm.get("leads?$select=subject", headers={**TRACKED, **headers})
    while "@odata.nextLink" in answer:
        answer = crm.get(answer["@odata.nextLink"])
    return str(answer["@odata.deltaLink"])


def test_a_delta_link_answers_what_came_changed_and_went_since(crm: Crm) -> None:
    kept, gone = (crm.create("leads", {"subject": name, "lastname": name}) for name in ("Kept", "Gone"))
    first = crm.send("GET", "leads?$select=subject", headers=TRACKED)
    assert "odata.track-changes" in first.headers["Preference-Applied"]
    link = begun(crm)
    assert crm.get(link)["value"] == []

    new = crm.create("leads", {"subject": "New", "lastname": "New"})
    assert crm.send("PATCH", f"leads({kept})", json={"subject": "Changed"}).status_code == 204
    assert crm.send("DELETE", f"leads({gone})").status_code == 204
    delta = crm.get(link)

    assert delta["@odata.context"].endswith("/$delta")
    assert {row["leadid"]: row["subject"] for row in delta["value"] if "leadid" in row} == {
        kept: "Changed",
        new: "New",
    }
    [deleted] = [row for row in delta["value"] if "reason" in row]
    assert (deleted["id"], deleted["reason"]) == (gone, "deleted")
    assert deleted["@odata.context"].endswith("leads/$deletedEntity")
    assert crm.get(delta["@odata.deltaLink"])["value"] == []
    token = parse_qs(urlsplit(link).query)["$deltatoken"][0]
    assert crm.send("GET", "leads/$count", params={"$deltatoken": token}).text == "3"


def test_what_changes_while_pages_are_turned_is_told_the_next_time(crm: Crm) -> None:
    ids = [crm.create("leads", {"subject": uuid.uuid4().hex, "lastname": "Page"}) for _ in range(3)]
    first = crm.get("leads?$select=subject", headers={"Prefer": "odata.track-changes,odata.maxpagesize=2"})
    assert "@odata.deltaLink" not in first
    shown = first["value"][0]["leadid"]
    assert crm.send("PATCH", f"leads({shown})", json={"subject": "Meanwhile"}).status_code == 204

    page = first
    while "@odata.nextLink" in page:
        page = crm.get(page["@odata.nextLink"], headers={"Prefer": "odata.maxpagesize=2"})

    rows = crm.get(page["@odata.deltaLink"])["value"]
    assert [(row["leadid"], row["subject"]) for row in rows] == [(shown, "Meanwhile")]
    assert len(ids) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"$filter": "subject eq 'x'"},
        {"$orderby": "subject"},
        {"$top": "1"},
        {"$deltatoken": "nonsense"},
        {"$deltatoken": "1!01/01/2020 00:00:00"},
    ],
)
def test_what_cannot_be_tracked_is_refused(crm: Crm, options: dict[str, str]) -> None:
    assert crm.error("GET", "leads", params=options, headers=TRACKED)[0] == 400


def test_metadata_says_whose_changes_are_tracked(crm: Crm) -> None:
    def tracked(name: str) -> bool:
        path = f"EntityDefinitions(LogicalName='{name}')?$select=ChangeTrackingEnabled"
        return bool(crm.get(path)["ChangeTrackingEnabled"])

    assert tracked("lead")
    assert not tracked("teammembership")
