"""Entities of an imported organisation: exposed in the studio's one form and served."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from crmbox.platform import EmbeddedPlatform
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from designer.models import Binding, Endpoint
from designer.names import output_key
from tests.callers import Caller
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


def sample(attribute: Attribute) -> Any:
    """A value as JSON; None for what is not tried: choices, lookups and files."""
    if attribute.type is AttributeType.DATETIME:
        day = "2026-11-23"
        return day if attribute.behavior is DateTimeBehavior.DATE_ONLY else f"{day}T10:20:30Z"
    return SAMPLES.get(attribute.type)


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


@pytest.mark.parametrize("entity", ["new_zoo", "new_ring", "task", "letter"])
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


def holds_records(entity: str, dora: Client, rita: Caller) -> None:
    """Exposed with all that it has, the entity takes values of every type, and answers them as they were."""
    served = f"/api/imported/{exposed(dora, entity)}"

    attributes = EmbeddedPlatform().attributes(entity)
    create = Endpoint.objects.get(kind="create", entity__module__segment="imported")
    written = {
        str(each.value): attributes[each.attribute] for each in Binding.objects.filter(endpoint=create)
    }
    values = {name: value for name, each in written.items() if (value := sample(each)) is not None}
    made = rita.post(served, values)
    assert made.status_code == 200, made.json()
    answer = rita.get(f"{served}/{made.json()['id']}").json()
    assert {name: answer[output_key(name)] for name in values} == values
    changes = {name: value for name, value in values.items() if written[name].updatable}
    assert rita.patch(f"{served}/{made.json()['id']}", changes).status_code == 204
    listed = rita.get(served.replace("/imported/", "/imported/queries/")).json()
    assert listed["count"] == 1
