"""What others change in Dataverse ends the cached answers that are read from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from lxml import html

from crmclient.errors import InvalidQuery
from designer.models import Endpoint, Module, TrackedEntity
from project.change_polling import poll_if_due
from project.metadata_store import DatabaseStore
from project.models import Claim
from runtime.caching.platform_changes import PAUSE
from tests.callers import Caller
from tests.chosen_platform import chosen_platform, serving_with
from tests.dataverse.conftest import Failing
from tests.webapi.crm import Crm, service

pytestmark = pytest.mark.processes
KEPT = "/api/sales/queries/kept"
QUERY = """<fetch><entity name="lead"><attribute name="subject"/>
  <filter><condition attribute="subject" operator="like" value="Kept%"/></filter></entity></fetch>"""


@pytest.fixture
def crm(portico: None, failing: Failing, settings: Any) -> Iterator[Crm]:
    store = DatabaseStore("https://contoso.example/")
    platform = failing.platform(store=store)
    platform.local_revision_sql = store.revision_sql
    with serving_with(platform, settings):
        yield service(failing.server)


def cached() -> Endpoint:
    endpoint: Endpoint = Endpoint.objects.create(
        kind="multi-query",
        module=Module.objects.get(segment="sales"),
        name="kept",
        settings={"query": QUERY, "cache": {"seconds": 600}},
    )
    return endpoint


def poll() -> list[str]:
    # The last one's claim lasts for nearly as long as the interval.
    Claim.objects.all().delete()
    return poll_if_due(30)


def test_changes_by_others_end_the_answers_that_are_read_from_the_entity(crm: Crm, max: Caller) -> None:
    cached()
    lead = crm.create("leads", {"subject": "Kept", "lastname": "Kept"})
    assert poll() == []
    before = max.get(KEPT).json()
    assert poll() == []
    assert "hit" in max.get(KEPT)["Cache-Status"]

    assert crm.send("PATCH", f"leads({lead})", json={"subject": "Kept anew"}).status_code == 204
    assert max.get(KEPT).json() == before
    assert poll() == ["lead"]
    assert {"subject": "Kept anew"} in max.get(KEPT).json()

    assert crm.send("DELETE", f"leads({lead})").status_code == 204
    assert poll() == ["lead"]
    assert {"subject": "Kept anew"} not in max.get(KEPT).json()
    row = TrackedEntity.objects.get()
    assert (row.entity, row.calls, row.changes) == ("lead", 4, 2)


def test_one_process_asks_and_nobody_while_nothing_is_cached(crm: Crm, failing: Failing) -> None:
    failing.arm({"path": "/leads", "times": None})
    assert poll() == []
    assert failing.struck() == [0]
    endpoint = cached()

    assert poll() == []
    assert poll_if_due(30) == []

    assert failing.struck() == [1]
    endpoint.delete()
    poll()
    assert failing.struck() == [1]
    assert not TrackedEntity.objects.exists()


def test_a_mark_that_the_platform_knows_no_more_counts_as_a_change(crm: Crm, max: Caller) -> None:
    cached()
    poll()
    TrackedEntity.objects.update(mark="1!01/01/2020 00:00:00")

    assert poll() == ["lead"]

    crm.create("leads", {"subject": "Kept", "lastname": "Kept"})
    assert poll() == ["lead"]
    assert poll() == []


def test_what_changed_before_the_first_look_ends_answers_too(crm: Crm, max: Caller) -> None:
    cached()
    lead = crm.create("leads", {"subject": "Kept", "lastname": "Kept"})
    max.get(KEPT)
    assert crm.send("PATCH", f"leads({lead})", json={"subject": "Kept early"}).status_code == 204

    assert poll() == []

    assert {"subject": "Kept early"} in max.get(KEPT).json()


def test_marks_of_another_organisation_are_not_asked_with(crm: Crm, max: Caller) -> None:
    cached()
    poll()
    TrackedEntity.objects.update(platform="https://fabrikam.example/", mark="9999999!01/01/2099 00:00:00")

    poll()

    crm.create("leads", {"subject": "Kept", "lastname": "Kept"})
    assert poll() == ["lead"]


def test_an_entity_that_the_platform_cannot_tell_of_is_left_alone_for_a_while(
    crm: Crm, failing: Failing
) -> None:
    cached()
    refused = '{"error":{"code":"0x80060888","message":"Change tracking is not enabled."}}'
    failing.arm({"path": "/leads", "times": None, "status": 400, "body": refused})
    assert poll() == []
    assert poll() == []
    assert failing.struck() == [1]
    failing.arm()

    TrackedEntity.objects.update(asked_at=F("asked_at") - PAUSE)
    assert poll() == []
    assert TrackedEntity.objects.get().mark


def test_while_the_platform_is_away_nothing_is_missed(crm: Crm, failing: Failing) -> None:
    cached()
    poll()
    crm.create("leads", {"subject": "Kept", "lastname": "Kept"})
    failing.arm({"path": "/leads", "times": None, "status": 503})
    assert poll() == []
    failing.arm()

    assert poll() == ["lead"]


def test_the_platform_page_counts_the_looks(crm: Crm, dora: Client) -> None:
    cached()
    poll()
    page: Any = html.fromstring(dora.get(reverse("studio:platform_budget")).content)
    (row,) = page.xpath('//tr[th/code="lead"]')
    assert [cell.text for cell in row.findall("td")][:2] == ["1", "0"]


def test_an_entity_without_tracking_is_not_asked_for_changes(crm: Crm) -> None:
    with pytest.raises(InvalidQuery):
        chosen_platform().record_changes("teammembership", None)
