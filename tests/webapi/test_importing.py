"""What the server tells of itself is what `manage.py importmetadata` makes elsewhere."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from crmbox.platform import EmbeddedPlatform
from crmclient.dataverse.platform import DataversePlatform
from crmclient.metadata import Attribute
from tests.dataverse.reaching import platform_at, settings_for
from tests.webapi.crm import Crm

pytestmark = [pytest.mark.processes, pytest.mark.django_db]

ALL = {"Properties": {"AllProperties": True}}
EVERYTHING = {**ALL, "AttributeQuery": ALL, "RelationshipQuery": ALL, "KeyQuery": ALL}
ENTITIES = ("account", "contact", "opportunity")


def told(attribute: Attribute) -> tuple[Any, ...]:
    limits = attribute.max_length, attribute.precision, attribute.minimum, attribute.maximum
    options = attribute.options and [
        (each.value, each.label, each.hidden) for each in attribute.options.options
    ]
    return attribute.type, attribute.label, attribute.behavior, limits, attribute.option_set, options


def test_a_copy_has_the_same_attributes_keys_and_relationships(crm: Crm, tmp_path: Path) -> None:
    asked = {"@p1": json.dumps(EVERYTHING)}
    path = tmp_path / "organisation.json"
    path.write_bytes(crm.send("GET", "RetrieveMetadataChanges(Query=@p1)", params=asked).content)
    original: DataversePlatform = platform_at(crm.server)

    call_command("importmetadata", str(path), "--entities", ",".join(ENTITIES), stdout=io.StringIO())

    copy = EmbeddedPlatform()
    for name in ENTITIES:
        assert copy.entities()[name].keys == original.entities()[name].keys
        made = copy.attributes(name)
        # A lookup to what is not there cannot be had.
        wanted = {
            key: each
            for key, each in original.attributes(name).items()
            if not each.targets or set(each.targets) & set(copy.entities())
        }
        assert {each: told(made[each]) for each in wanted} == {each: told(wanted[each]) for each in wanted}
        lookups = {
            each.name
            for each in original.relationships(name)
            if {each.referenced, each.referencing} <= {*ENTITIES, "systemuser", "team"} and not each.intersect
        }
        assert lookups <= {each.name for each in copy.relationships(name)}


def test_an_organisation_is_copied_without_a_file(crm: Crm, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, **settings_for(crm.server)}
    out = io.StringIO()

    call_command("importmetadata", "--organization", "--entities", "lead", "--related", stdout=out)

    original: DataversePlatform = platform_at(crm.server)
    copy = EmbeddedPlatform()
    assert "Made 3 entities" in out.getvalue()
    assert copy.entities()["lead"].label == original.entities()["lead"].label
    assert {"account", "contact"} <= copy.entities().keys()
    assert copy.attributes("lead").keys() >= original.attributes("lead").keys()


def test_what_an_organisation_has_is_not_said_to_be_in_files(crm: Crm, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, **settings_for(crm.server)}
    out = io.StringIO()

    call_command("importmetadata", "--organization", stdout=out)
    with pytest.raises(CommandError) as raised:
        call_command("importmetadata", "--organization", "--entities", "nothing")

    assert out.getvalue().startswith("The organisation has ")
    assert "0 attributes" not in out.getvalue()
    assert "There is no entity nothing." in str(raised.value)


def test_an_organisations_intersect_entities_keep_their_names(crm: Crm, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, **settings_for(crm.server)}
    original: DataversePlatform = platform_at(crm.server)
    there = {name: entity for name, entity in original.entities().items() if entity.is_intersect}

    call_command("importmetadata", "--organization", "--all", stdout=io.StringIO())

    copied = EmbeddedPlatform().entities()
    assert there
    assert {name: (copied[name].entity_set, copied[name].primary_id) for name in there} == {
        name: (entity.entity_set, entity.primary_id) for name, entity in there.items()
    }
