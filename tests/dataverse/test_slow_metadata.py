"""A platform that takes its time for metadata: pages come at once, and each document is asked for once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crmclient.errors import MetadataPending, UnknownEntity
from crmclient.metadata_deadline import waiting_for_metadata_until
from crmclient.query.ast import Column, Query
from designer.overview import UNCHECKED_SECONDS, overview
from project.metadata_store import DatabaseStore
from tests.chosen_platform import chosen_platform, serving_with
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import platform_at
from tests.designer.studio import change_url, page
from tests.runtime.accounts import endpoint

pytestmark = pytest.mark.processes

SECONDS = 8
METADATA = "EntityDefinitions|GlobalOptionSetDefinitions|metadata$|RetrieveMetadataChanges"
SLOW = {"path": METADATA, "delay": SECONDS, "times": None}


@pytest.fixture
def remote(portico: None, failing: Failing, settings: Any) -> Iterator[Failing]:
    """The service's platform is Dataverse, of which nothing is known yet."""
    store = DatabaseStore("https://slow.example/")
    platform = platform_at(failing.server, store=store, retries=0)
    platform.local_revision_sql = store.revision_sql
    with serving_with(platform, settings):
        yield failing


def _until_fetched() -> None:
    while chosen_platform().metadata_is_pending():
        time.sleep(0.1)


def _asked(failing: Failing) -> int:
    return sum(failing.struck())


def _said() -> str:
    return " ".join(str(each.message) for found in overview().by_endpoint.values() for each in found)


def test_pages_come_before_the_metadata_and_say_so_and_work_when_it_has_come(
    dora: Client, remote: Failing
) -> None:
    remote.arm(SLOW)
    with waiting_for_metadata_until(time.monotonic()):
        assert "metadata is being fetched" in _said()
    state = page(dora, reverse("studio:platform")).content.decode()
    assert "data-pending" in state
    assert "does not answer" not in state
    began = time.monotonic()
    while "metadata is being fetched" in _said():
        assert time.monotonic() - began < 20 * SECONDS
        _until_fetched()
        time.sleep(UNCHECKED_SECONDS)
    assert "websiteurl" in page(dora, change_url(endpoint("create"))).content.decode()
    assert "data-pending" not in page(dora, reverse("studio:platform")).content.decode()


def test_what_a_page_did_not_wait_for_is_not_asked_for_again(failing: Failing) -> None:
    platform = platform_at(failing.server)
    platform.entities()
    failing.arm({"path": METADATA, "delay": 1, "times": None})
    for _ in range(3):
        with waiting_for_metadata_until(time.monotonic()), pytest.raises(MetadataPending):
            platform.attributes("account")
    assert platform.attributes("account")
    asked = _asked(failing)
    assert platform.attributes("account")
    assert asked == _asked(failing) <= 6


def test_who_waits_gets_what_somebody_without_patience_asked_for(failing: Failing) -> None:
    platform = platform_at(failing.server)
    platform.entities()
    failing.arm({"path": METADATA, "delay": 1, "times": None})
    refused: list[MetadataPending] = []

    def in_a_hurry() -> None:
        with waiting_for_metadata_until(time.monotonic() + 0.5):
            try:
                platform.attributes("contact")
            except MetadataPending as error:
                refused.append(error)

    hurried = threading.Thread(target=in_a_hurry)
    hurried.start()
    time.sleep(0.1)
    assert platform.attributes("contact")
    hurried.join()
    assert refused[0].retry_after


def test_the_parts_of_an_entity_are_asked_for_at_once(failing: Failing) -> None:
    platform = platform_at(failing.server)
    platform.entities()
    failing.arm({"path": "EntityDefinitions", "delay": 2, "times": None})
    began = time.monotonic()
    assert platform.attributes("account")
    spent = time.monotonic() - began
    assert _asked(failing) * 2 > spent + 3


NAMES = ("account", "contact", "incident", "opportunity", "systemuser", "annotation", "appointment")


def test_entities_that_are_used_are_fetched_together(failing: Failing) -> None:
    one_by_one, together = platform_at(failing.server), platform_at(failing.server)
    alone = {name: (one_by_one.attributes(name), one_by_one.relationships(name)) for name in NAMES}
    failing.arm({"path": "EntityDefinitions|RetrieveMetadataChanges", "delay": 1, "times": None})

    together.fetch_metadata_ahead([*NAMES, "new_nothing"])

    assert {name: (together.attributes(name), together.relationships(name)) for name in NAMES} == alone
    # The first stamp, the entities, and what is known of those that are used.
    assert _asked(failing) == 3
    with pytest.raises(UnknownEntity):
        together.attributes("new_nothing")
    together.fetch_metadata_ahead(NAMES)
    assert not together.metadata_is_pending()
    assert together.query(Query("account", (Column("name"),), top=1)).rows
    assert _asked(failing) == 3


@pytest.mark.parametrize(("status", "code"), [(400, "0x80044352"), (403, "0x80040220"), (404, "0x8006088a")])
def test_entities_are_fetched_one_by_one_where_they_cannot_be_together(
    failing: Failing, status: int, code: str
) -> None:
    platform = platform_at(failing.server)
    refused = {"error": {"code": code, "message": "missing prvReadEntity privilege"}}
    failing.arm(
        {
            "path": "RetrieveMetadataChanges",
            "status": status,
            "body": json.dumps(refused),
            "headers": {"Content-Type": "application/json"},
            "times": None,
        }
    )
    platform.fetch_metadata_ahead(NAMES)
    assert all(platform.attributes(name) for name in NAMES)
