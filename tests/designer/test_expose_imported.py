"""Entities of an imported organisation: exposed in the studio's one form and served."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient import Guid, Platform, Reference
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior, Entity, Label, RequiredLevel
from crmclient.query.ast import Column, Page, Query
from crmclient.query.bounds import MOST_COLUMNS
from designer.models import Binding, Endpoint
from designer.names import output_key
from designer.overview import overview
from designer.readiness import State
from tests.callers import Caller
from tests.crmbox import csdl
from tests.crmbox.organization import ORGANIZATION
from tests.crmbox.organization_kinds import KINDS
from tests.designer.studio import page

# The shapes do not depend on how many there are; `manage.py importmetadata` takes a thousand.
ENTITIES = 24

SAMPLES: dict[AttributeType, Any] = {
    AttributeType.STRING: "Ä text",
    AttributeType.MEMO: "Ä text\nof lines",
    AttributeType.INTEGER: 12,
    AttributeType.BIGINT: 12,
    AttributeType.DECIMAL: 1.25,
    AttributeType.DOUBLE: 1.25,
    AttributeType.MONEY: 1.25,
    AttributeType.BOOLEAN: True,
    AttributeType.UNIQUEIDENTIFIER: "5f0f3c6e-7b1d-4c3a-9a53-0123456789ab",
}


def sample(attribute: Attribute, platform: Platform) -> Any:
    """A value as JSON; of a lookup, a record that is there. None for what is not tried: states and files."""
    if attribute.type is AttributeType.DATETIME:
        day = "2026-11-23"
        return day if attribute.behavior is DateTimeBehavior.DATE_ONLY else f"{day}T10:20:30Z"
    if attribute.type is AttributeType.PICKLIST:
        options = attribute.options or platform.option_set(attribute.option_set or "")
        return next((option.value for option in options.options), None)
    if attribute.type.is_reference:
        target = attribute.targets[0]
        id = record(target, platform)
        return id if len(attribute.targets) == 1 else {"type": target, "id": id}
    return SAMPLES.get(attribute.type)


def record(entity: str, platform: Platform) -> Guid:
    """The id of a record of the entity: one that is there, or a new one with what is required."""
    key = platform.entities()[entity].primary_id
    rows = platform.query(Query(entity, (Column(key),)), Page(size=1)).rows
    if rows:
        return str(rows[0][key])
    needed = [each for each in platform.attributes(entity).values() if each.is_required and each.creatable]
    lookups = [each for each in needed if each.type.is_reference]
    values = {
        one.logical_name: Reference(one.targets[0], record(one.targets[0], platform)) for one in lookups
    }
    return platform.create(entity, values).id


def answered_as(name: str, attribute: Attribute) -> str:
    """The key of an answer: that of a reference has no id at its end."""
    key = output_key(name)
    return key.removesuffix("Id").removesuffix("id") if attribute.type.is_reference else key


def plain(value: Any) -> Any:
    """A reference as its id, however it is written."""
    return value["id"] if isinstance(value, dict) else value


def exposed(client: Client, entity: str) -> str:
    """The segment of an entity that was exposed with all that the form offers."""
    url = f"{reverse('studio:expose')}?entity={entity}"
    form = page(client, url).context["form"]
    data = {bound.html_name: bound.value() for bound in form}
    data |= {
        "roles": ["sales-rep"],
        "module": "imported",
        "attributes": [name for name, _ in form.fields["attributes"].choices],
    }
    answer = client.post(url, {name: value for name, value in data.items() if value not in (None, False)})
    assert answer.status_code == 302, answer.content.decode()
    return str(data["segment"])


def imported(folder: Path, document: str) -> None:
    path = folder / "organisation.xml"
    path.write_text(document, encoding="utf-8")
    call_command("importmetadata", str(path), "--all", stdout=io.StringIO())


def test_an_entity_that_shows_the_records_of_others_is_exposed_to_be_read(
    portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    imported(tmp_path, ORGANIZATION)

    segment = exposed(dora, "activitypointer")

    kinds = {each.kind for each in Endpoint.objects.filter(module__segment="imported")}
    kinds |= {each.kind for each in Endpoint.objects.filter(entity__module__segment="imported")}
    assert kinds == {"read", "paginated-query"}
    before = rita.get(f"/api/imported/queries/{segment}").json()["count"]
    EmbeddedPlatform().create("letter", {"subject": "Dear Sirs"})
    assert rita.get(f"/api/imported/queries/{segment}").json()["count"] == before + 1


def test_a_name_that_is_made_of_others_is_not_written(
    portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    names = csdl.props(fullname="Edm.String", firstname="Edm.String", lastname="Edm.String")
    imported(tmp_path, csdl.document([csdl.table("new_person", names)], {"new_people": "new_person"}))

    holds_records("new_person", dora, rita)

    create = Endpoint.objects.get(kind="create", entity__module__segment="imported")
    assert {each.attribute for each in Binding.objects.filter(endpoint=create)} & {
        "fullname",
        "firstname",
        "lastname",
    } == {"firstname", "lastname"}


@pytest.mark.parametrize("entity", ["new_zoo", "new_ring", "task", "letter", "systemuser", "team"])
def test_an_imported_entity_is_exposed_and_served(
    entity: str, portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    imported(tmp_path, ORGANIZATION)

    holds_records(entity, dora, rita)


@pytest.mark.parametrize("kind", KINDS)
def test_organisations_that_are_large_in_different_ways_are_exposed_and_served(
    kind: str, portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    organization = KINDS[kind](ENTITIES)
    imported(tmp_path, organization.document)

    holds_records(organization.served, dora, rita)


def test_a_list_has_as_many_columns_as_a_query_takes(
    portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    numbers = "".join(csdl.prop(f"new_w{number}", "Edm.Int32") for number in range(MOST_COLUMNS + 10))
    wide = csdl.table("new_wide", csdl.prop("new_name"), numbers)
    imported(tmp_path, csdl.document([wide], {"new_wides": "new_wide"}))

    holds_records("new_wide", dora, rita)


def test_a_text_and_a_lookup_of_nearly_one_name_have_keys_of_their_own(
    portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    shelf = csdl.table("new_shelf", csdl.prop("new_name"))
    names = csdl.props(new_name="Edm.String", new_library="Edm.String", new_place="Edm.String")
    button = csdl.table(
        "new_button",
        names,
        csdl.lookup("new_libraryid", "new_shelf"),
        csdl.lookup("new_placeid", "new_shelf"),
    )
    imported(
        tmp_path, csdl.document([shelf, button], {"new_shelves": "new_shelf", "new_buttons": "new_button"})
    )

    exposed(dora, "new_button")

    [read] = Endpoint.objects.filter(entity__entity="new_button", kind="read")
    answered = {column.attribute: column.name for column in read.columns.all()}
    assert {"new_library", "new_libraryid", "new_place", "new_placeid"} <= answered.keys()
    assert overview().states[read.pk] is State.READY


def test_names_that_differ_in_case_only_are_told_apart(
    portico: None, dora: Client, rita: Caller, tmp_path: Path
) -> None:
    names = csdl.props(new_name="Edm.String", new_file_title="Edm.String", new_filetitle="Edm.String")
    imported(tmp_path, csdl.document([csdl.table("new_upload", names)], {"new_uploads": "new_upload"}))

    holds_records("new_upload", dora, rita)


def test_a_lookup_that_is_required_is_filled(portico: None, dora: Client, rita: Caller) -> None:
    with change() as metadata:
        for name, target in (("new_house", "account"), ("new_room", "new_house")):
            metadata.create_entity(
                Entity(name, f"{name}s", Label({1033: name}), Label({1033: name}), f"{name}id", None),
                [
                    Attribute(
                        "new_inside",
                        AttributeType.LOOKUP,
                        Label({1033: "Inside"}),
                        required=RequiredLevel.APPLICATION,
                        targets=(target,),
                    )
                ],
            )

    holds_records("new_room", dora, rita)


def holds_records(entity: str, dora: Client, rita: Caller) -> None:
    """Exposed with all that it has, the entity takes values of every type, and answers them as they were."""
    served = f"/api/imported/{exposed(dora, entity)}"

    platform = EmbeddedPlatform()
    attributes = platform.attributes(entity)
    create = Endpoint.objects.get(kind="create", entity__module__segment="imported")
    written = {
        str(each.value): attributes[each.attribute] for each in Binding.objects.filter(endpoint=create)
    }
    values = {name: value for name, each in written.items() if (value := sample(each, platform)) is not None}
    before = len(platform.query(Query(entity, (Column(platform.entities()[entity].primary_id),))).rows)
    made = rita.post(served, values)
    assert made.status_code == 200, made.json()
    answer = rita.get(f"{served}/{made.json()['id']}").json()
    shown = {name: answer[answered_as(name, each)] for name, each in written.items() if name in values}
    assert {name: plain(value) for name, value in shown.items()} == {
        name: plain(value) for name, value in values.items()
    }
    changes = {name: value for name, value in values.items() if written[name].updatable}
    assert rita.patch(f"{served}/{made.json()['id']}", changes).status_code == 204
    listed = rita.get(served.replace("/imported/", "/imported/queries/")).json()
    assert listed["count"] == before + 1
