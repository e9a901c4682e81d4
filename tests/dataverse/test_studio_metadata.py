"""The studio in front of Dataverse: how old its metadata is, fetching it anew, and what serves meanwhile."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from crmclient.dataverse.metadata.stored_documents import FORMAT
from designer.access_control.groups import VIEWER
from designer.history.recording import record_outside
from designer.models import AuditEntry
from designer.overview import overview
from designer.platform import get_platform
from designer.readiness import State
from project.metadata_refresh import refresh_if_due
from project.metadata_store import DatabaseStore
from project.models import Claim
from tests.chosen_platform import forget_platform, serving_with
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import refreshed
from tests.designer.studio import change_url, page
from tests.row_rules import only_rule
from tests.runtime.accounts import endpoint

pytestmark = pytest.mark.processes

EVERYTHING = {"path": "/api/", "times": None, "status": 503}
_ACCOUNT = f"{FORMAT}/entity/account"


@pytest.fixture
def store(db: None) -> DatabaseStore:
    return DatabaseStore("https://contoso.example/")


@pytest.fixture
def remote(failing: Failing, store: DatabaseStore, settings: Any) -> Iterator[Failing]:
    """The service's platform is Dataverse, whose metadata has been fetched."""
    platform = failing.platform(store=store, retries=0)
    platform.local_revision_sql = store.revision_sql
    with serving_with(platform, settings):
        for name in ("contact", "incident", "opportunity", "systemuser", "annotation"):
            platform.attributes(name)
        platform.refresh_metadata()
        yield failing


def _once_upon_a_time(store: DatabaseStore) -> None:
    """The metadata that is known is of a day when names were longer and there was an attribute more."""
    document = json.loads(store.load(_ACCOUNT) or b"{}")
    attributes = document["attributes"]
    attributes["name"]["max_length"] = 4000
    attributes["new_former"] = {**attributes["telephone1"], "logical_name": "new_former"}
    del attributes["websiteurl"]
    documents = {name: store.load(name) or b"" for name in store.names()}
    store.replace(documents | {_ACCOUNT: json.dumps(document).encode()})


def test_a_refresh_says_what_is_different_and_who_is_degraded(
    dora: Client, remote: Failing, store: DatabaseStore
) -> None:
    _once_upon_a_time(store)
    row = endpoint("create")
    row.title = "Saved in those days"
    row.save()
    record_outside()
    assert overview().counts.get(State.DEGRADED, 0) == 0
    text = refreshed(dora)
    for news in ("<strong>account</strong>", "new: websiteurl", "gone: new_former", "changed: name"):
        assert news in text
    assert "POST /api/sales/accounts" in text.partition("Degraded by it")[2]
    assert AuditEntry.objects.latest("id").detail == "changed"
    assert "nothing is different" in refreshed(dora)


def test_a_refresh_is_offered_to_those_who_may(dora: Client, remote: Failing) -> None:
    url = reverse("studio:refresh_metadata")
    assert url in page(dora, reverse("studio:platform")).content.decode()
    vera = User.objects.create_user("vera", is_staff=True)
    vera.groups.add(Group.objects.get(name=VIEWER))
    dora.force_login(vera, backend="django.contrib.auth.backends.ModelBackend")
    assert url not in page(dora, reverse("studio:platform")).content.decode()


def test_a_refresh_tells_of_an_entity_that_only_a_row_rule_links_to(
    dora: Client, remote: Failing, store: DatabaseStore
) -> None:
    only_rule(
        '<filter><link-entity name="phonecall" from="regardingobjectid" to="accountid" '
        'link-type="any"/></filter>'
    )
    get_platform().attributes("phonecall")
    name = f"{FORMAT}/entity/phonecall"
    document = json.loads(store.load(name) or b"{}")
    del document["attributes"]["description"]
    documents = {known: store.load(known) or b"" for known in store.names()}
    store.replace(documents | {name: json.dumps(document).encode()})
    forget_platform()
    text = refreshed(dora)
    assert "<strong>phonecall</strong>" in text
    assert "new: description" in text


def test_a_platform_that_is_away_leaves_its_last_known_metadata(dora: Client, remote: Failing) -> None:
    text = page(dora, reverse("studio:platform")).content.decode()
    assert "The platform answers" in text
    assert "minutes ago" in text
    remote.arm(EVERYTHING)
    away = page(dora, reverse("studio:platform")).content.decode()
    assert "The platform answers 503." in away
    assert "The last known metadata, of 20" in away
    assert "stays in use" in refreshed(dora)
    assert "websiteurl" in page(dora, change_url(endpoint("create"))).content.decode()


def test_what_a_change_breaks_is_on_the_dashboard_without_a_refresh(
    dora: Client, remote: Failing, store: DatabaseStore
) -> None:
    _once_upon_a_time(store)
    store.save(f"{FORMAT}/stamp", b'"of those days"')
    row = endpoint("create")
    row.title = "Saved in those days"
    row.save()
    record_outside()
    assert overview().counts.get(State.DEGRADED, 0) == 0

    brought = refresh_if_due(900)

    assert brought is not None
    assert brought.is_different
    assert [degraded.definition.title for degraded in (brought.degraded or {}).values()] == [
        "Saved in those days"
    ]
    assert overview().counts[State.DEGRADED] == 1
    assert "Degraded" in page(dora, reverse("admin:index")).content.decode()


def test_one_process_refreshes_and_another_takes_over(remote: Failing) -> None:
    assert refresh_if_due(900) is not None
    assert refresh_if_due(900) is None
    Claim.objects.filter(name="metadata").update(until=dt.datetime.now(dt.UTC))

    assert refresh_if_due(900) is not None


def test_a_platform_that_is_away_is_asked_again_at_the_next_turn(remote: Failing, caplog: Any) -> None:
    remote.arm(EVERYTHING)

    assert refresh_if_due(900) is None

    assert "was not refreshed" in caplog.text
    remote.arm()
    assert refresh_if_due(900) is None
