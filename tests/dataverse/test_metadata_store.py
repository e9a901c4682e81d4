"""Metadata in the database: it outlives the process, and the platform's absence."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from crmclient.dataverse.metadata import pending_fetches
from crmclient.dataverse.metadata.store import MemoryStore
from crmclient.dataverse.metadata.stored_documents import FORMAT
from crmclient.errors import PlatformFailure, UnknownEntity
from crmclient.query.ast import Query
from project.metadata_store import DatabaseStore
from tests.dataverse.conftest import Failing
from tests.webapi.crm import Crm, service

pytestmark = pytest.mark.django_db

EVERYTHING = {"path": "/api/", "times": None, "status": 503}


@pytest.fixture
def store() -> DatabaseStore:
    return DatabaseStore("https://contoso.example/")


def test_one_application_user_has_metadata_that_no_database_keeps(
    failing: Failing, store: DatabaseStore
) -> None:
    platform = failing.platform(store=store)
    platform.local_revision_sql = store.revision_sql

    alone = platform.as_user(0)

    assert alone.local_revision_sql is None
    assert platform.local_revision_sql == store.revision_sql
    assert alone.metadata_revision() != platform.metadata_revision()


def test_what_was_fetched_once_serves_the_next_process(failing: Failing, store: DatabaseStore) -> None:
    first = failing.platform(store=store)
    attributes = dict(first.attributes("contact"))
    failing.arm(EVERYTHING)

    second = failing.platform(store=store, retries=0)

    assert dict(second.attributes("contact")) == attributes
    assert second.entities().keys() == first.entities().keys()
    with pytest.raises(UnknownEntity):
        second.attributes("nothing")
    with pytest.raises(PlatformFailure):
        second.attributes("lead")


def test_a_refresh_without_news_leaves_the_revision(failing: Failing, store: DatabaseStore) -> None:
    platform = failing.platform(store=store)
    platform.refresh_metadata()
    before = platform.metadata_revision()

    assert platform.refresh_metadata() is False
    assert platform.metadata_revision() == before
    assert platform.metadata_refreshed() is not None


def test_a_refresh_with_news_is_seen_by_other_processes(failing: Failing, store: DatabaseStore) -> None:
    one, other = failing.platform(store=store), failing.platform(store=store)
    one.refresh_metadata()
    before = other.metadata_revision()
    forgotten = f"{FORMAT}/entity/account"
    document = store.load(forgotten)
    assert document is not None
    store.replace({**{name: store.load(name) or b"" for name in store.names()}, forgotten: b"old"})

    assert one.refresh_metadata() is True

    assert store.load(forgotten) == document
    assert other.metadata_revision() != before
    assert "name" in other.attributes("account")


def test_a_refresh_that_fails_changes_nothing(failing: Failing, store: DatabaseStore) -> None:
    platform = failing.platform(store=store, retries=0)
    platform.refresh_metadata()
    revision, names = platform.metadata_revision(), set(store.names())
    failing.arm({**EVERYTHING, "path": "GlobalOptionSetDefinitions"})

    with pytest.raises(PlatformFailure):
        platform.refresh_metadata()

    assert (platform.metadata_revision(), set(store.names())) == (revision, names)


def test_a_document_that_cannot_be_read_any_more_is_fetched_anew(
    failing: Failing, store: DatabaseStore
) -> None:
    failing.platform(store=store)
    store.save(f"{FORMAT}/entity/account", b'{"from": "another time"}')

    assert "name" in failing.platform(store=store).attributes("account")


def test_organisations_do_not_meet(store: DatabaseStore) -> None:
    store.save("a", b"1")

    assert DatabaseStore("https://contoso.example").load("a") == b"1"
    assert DatabaseStore("https://fabrikam.example").load("a") is None


def test_the_revision_can_be_read_along_with_the_services_own(store: DatabaseStore) -> None:
    revision = store.revision()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {store.revision_sql}")
        assert cursor.fetchone() == (revision,)


def test_metadata_that_is_nonsense_is_the_platforms_failure(failing: Failing, store: DatabaseStore) -> None:
    failing.arm({"path": "EntityDefinitions", "times": None, "status": 200, "body": '{"value": [{"x": 1}]}'})

    with pytest.raises(PlatformFailure):
        failing.platform(store=store)

    assert list(store.names()) == []
    failing.arm()
    assert failing.platform(store=store).query(Query("account", top=1)).rows


NEW = {
    "@odata.type": "Microsoft.Dynamics.CRM.StringAttributeMetadata",
    "SchemaName": "new_Nickname",
    "DisplayName": {"LocalizedLabels": [{"Label": "Nickname", "LanguageCode": 1033}]},
    "MaxLength": 40,
}
ATTRIBUTES = "EntityDefinitions(LogicalName='contact')/Attributes"


@pytest.fixture
def crm(failing: Failing) -> Crm:
    return service(failing.server)


def test_a_look_for_changes_without_news_takes_two_requests(failing: Failing, store: DatabaseStore) -> None:
    platform = failing.platform(store=store)
    platform.refresh_metadata()
    before = platform.metadata_revision()
    failing.arm({"path": "RetrieveMetadataChanges", "times": None}, {"path": "/api/data/", "times": None})

    assert platform.refresh_changed_metadata() is False

    assert failing.struck() == [1, 1]
    assert platform.metadata_revision() == before


def test_the_first_look_for_changes_asks_for_no_more_than_later_ones(
    failing: Failing, store: DatabaseStore
) -> None:
    """A service that had just started fetched each document twice within half a minute."""
    platform = failing.platform(store=store)
    platform.attributes("contact")
    before = platform.metadata_revision()
    failing.arm({"path": "RetrieveMetadataChanges", "times": None}, {"path": "/api/data/", "times": None})

    assert platform.refresh_changed_metadata() is False

    assert failing.struck() == [1, 0]
    assert platform.metadata_revision() == before


def test_a_look_for_changes_finds_what_came_and_what_went(
    failing: Failing, store: DatabaseStore, crm: Crm
) -> None:
    platform, other = failing.platform(store=store), failing.platform(store=store)
    platform.attributes("contact")
    platform.refresh_metadata()
    assert crm.send("POST", ATTRIBUTES, json=NEW).status_code == 204
    try:
        assert platform.refresh_changed_metadata() is True
        assert other.attributes("contact")["new_nickname"].max_length == 40
    finally:
        crm.send("DELETE", f"{ATTRIBUTES}(LogicalName='new_nickname')")

    assert other.refresh_changed_metadata() is True
    assert "new_nickname" not in platform.attributes("contact")
    assert platform.refresh_changed_metadata() is False


def test_what_another_process_stores_during_a_look_for_changes_is_not_older_than_its_stamp(
    failing: Failing, crm: Crm
) -> None:
    store = MemoryStore()
    looking, other = failing.platform(store=store), failing.platform(store=store)
    looking.refresh_metadata()
    # Not before the platform has been asked for its changes, which it tells two seconds later.
    failing.arm({"path": "RetrieveMetadataChanges", "delay": 2})
    with ThreadPoolExecutor(1) as pool:
        look = pool.submit(looking.refresh_changed_metadata)
        while failing.struck() == [0]:
            time.sleep(0.01)
        assert "new_nickname" not in other.attributes("contact")
        assert crm.send("POST", ATTRIBUTES, json=NEW).status_code == 204
        try:
            assert not look.done()
            look.result()
            assert "new_nickname" in other.attributes("contact")
            assert "new_nickname" in looking.attributes("contact")
        finally:
            crm.send("DELETE", f"{ATTRIBUTES}(LogicalName='new_nickname')")


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 400, "body": '{"error":{"code":"0x80044352","message":"The stamp has expired."}}'},
        {"status": 403, "body": '{"error":{"code":"0x80040220","message":"prvReadEntity"}}'},
    ],
)
def test_where_changes_are_not_told_everything_is_fetched(
    fault: dict[str, Any], failing: Failing, store: DatabaseStore, crm: Crm
) -> None:
    platform = failing.platform(store=store)
    platform.attributes("contact")
    platform.refresh_metadata()
    failing.arm({"path": "RetrieveMetadataChanges", "times": None, **fault})
    assert crm.send("POST", ATTRIBUTES, json=NEW).status_code == 204
    try:
        assert platform.refresh_changed_metadata() is True
        assert "new_nickname" in platform.attributes("contact")
    finally:
        crm.send("DELETE", f"{ATTRIBUTES}(LogicalName='new_nickname')")


def test_a_look_that_fails_changes_nothing(failing: Failing, store: DatabaseStore) -> None:
    platform = failing.platform(store=store, retries=0)
    platform.refresh_metadata()
    kept = {name: store.load(name) for name in store.names()}
    failing.arm({**EVERYTHING, "path": "GlobalOptionSetDefinitions"})

    with pytest.raises(PlatformFailure):
        platform.refresh_changed_metadata()

    assert {name: store.load(name) for name in store.names()} == kept


def test_what_was_not_given_is_asked_for_again_later_or_by_a_refresh(
    failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = failing.platform(retries=0)

    def fails() -> int:
        for _ in range(3):
            with pytest.raises(PlatformFailure, match="answers 500"):
                platform.option_sets()
        return sum(failing.struck())

    failing.arm({"path": "/GlobalOptionSetDefinitions", "times": None, "status": 500})
    assert fails() == 1
    monkeypatch.setattr(pending_fetches, "FAILED_SECONDS", 0.1)
    failing.arm({"path": "/GlobalOptionSetDefinitions", "times": None, "status": 500})
    other = failing.platform(retries=0)
    for _ in range(2):
        with pytest.raises(PlatformFailure):
            other.option_sets()
        time.sleep(0.5)
    assert failing.struck() == [2]

    failing.arm()
    platform.refresh_metadata()
    assert platform.option_sets()


def test_a_request_for_metadata_has_a_time_out_of_its_own(failing: Failing) -> None:
    slow = {"path": "EntityDefinitions", "delay": 2}
    patient = failing.platform(timeout=1, retries=0)
    failing.arm(slow)

    assert "fullname" in patient.attributes("contact")

    hasty = failing.platform(metadata_timeout=1, retries=0)
    failing.arm(slow)
    with pytest.raises(PlatformFailure):
        hasty.attributes("contact")
