"""Metadata and users: one picture of the CRM on every platform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import connection, connections
from pytest_django import DjangoDbBlocker

from crmbox.platform import EmbeddedPlatform
from crmclient import Call, Platform
from crmclient.dataverse.platform import DataversePlatform
from crmclient.metadata import Process
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.contract.making import account, read
from tests.servers import Site

SERVED = "served"


@pytest.fixture
def original(
    portico: None, _crm_site: Site, django_db_blocker: DjangoDbBlocker
) -> Iterator[EmbeddedPlatform]:
    """The platform behind the server, read from its own database.

    The suite's database may hold other entities beside the demo's.
    """
    connections.databases[SERVED] = {**connection.settings_dict, "NAME": _crm_site.database}
    with django_db_blocker.unblock():
        yield EmbeddedPlatform(SERVED)
        connections[SERVED].close()
    del connections.databases[SERVED]


@pytest.fixture
def dataverse(_dataverse: DataversePlatform) -> DataversePlatform:
    """The client that reads over the wire what the original has."""
    return _dataverse


def test_every_entity(dataverse: DataversePlatform, original: EmbeddedPlatform) -> None:
    assert dict(dataverse.entities()) == dict(original.entities())


def test_every_attribute(dataverse: DataversePlatform, original: EmbeddedPlatform) -> None:
    for name, entity in original.entities().items():
        if not entity.is_intersect:
            assert dict(dataverse.attributes(name)) == dict(original.attributes(name))


def test_every_relationship(dataverse: DataversePlatform, original: EmbeddedPlatform) -> None:
    for name in original.entities():
        expected = {relationship.name: relationship for relationship in original.relationships(name)}
        assert {item.name: item for item in dataverse.relationships(name)} == expected


def test_every_option_set(dataverse: DataversePlatform, original: EmbeddedPlatform) -> None:
    assert dict(dataverse.option_sets()) == dict(original.option_sets())
    for name in original.option_sets():
        assert dataverse.option_set(name) == original.option_set(name)
    for entity in ("account", "incident", "opportunity"):
        for name, attribute in original.attributes(entity).items():
            if attribute.type.has_options:
                assert dataverse.option_set(name, entity=entity) == original.option_set(name, entity=entity)


def test_every_process(dataverse: DataversePlatform, original: EmbeddedPlatform) -> None:
    def known(process: Process) -> Process:
        # Dataverse does not say which outputs are always there.
        return replace(process, outputs=tuple(replace(item, required=False) for item in process.outputs))

    assert {name: known(process) for name, process in dataverse.processes().items()} == {
        name: known(process) for name, process in original.processes().items()
    }


def test_the_same_names_for_what_every_crm_has(
    dataverse: DataversePlatform, original: EmbeddedPlatform
) -> None:
    # Dataverse's records are in no database of ours.
    own = replace(dataverse.conventions, takes_writes_back=True, takes_files_back=True)
    assert own == original.conventions


@pytest.mark.needs("the demo's languages and roles")
def test_languages_and_security_roles(platform: Platform, original: EmbeddedPlatform) -> None:
    assert list(platform.languages()) == list(original.languages())
    assert platform.languages()[0] == 1033
    assert list(platform.security_roles()) == list(original.security_roles())


@pytest.mark.needs("leads")
def test_the_revision_stays_while_nothing_changes(platform: Platform) -> None:
    before = platform.metadata_revision()
    platform.attributes("lead")

    assert platform.metadata_revision() == before
    assert before


@pytest.mark.needs("the demo's users")
def test_every_user(platform: Platform, original: EmbeddedPlatform) -> None:
    for row in original.query(Query("systemuser", (Column("systemuserid"),))).rows:
        assert platform.user(str(row["systemuserid"])) == original.user(str(row["systemuserid"]))


def test_the_service_acts_as_a_user_of_its_own(platform: Platform) -> None:
    me = platform.user(platform.who())

    assert not me.disabled
    made_by = read(platform, "account", account(platform), "createdby")
    assert getattr(made_by, "id", None) == me.id


@pytest.mark.needs("the demo's users")
def test_a_record_is_made_by_whom_the_call_is_for(platform: Platform) -> None:
    rita = Query(
        "systemuser", (Column("systemuserid"),), Filter((Condition("fullname", Operator.EQ, ("Rita Rep",)),))
    )
    [row] = platform.query(rita).rows
    call = Call(caller=str(row["systemuserid"]))

    id = platform.create("account", {"name": "Rita's"}, call=call).id
    platform.update("account", id, {"fax": "1"}, call=call)

    values = platform.retrieve("account", id, ["createdby", "modifiedby", "ownerid"], call=call).values
    assert {getattr(value, "name", None) for value in values.values()} == {"Rita Rep"}
