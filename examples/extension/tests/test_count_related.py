"""The kind *Count related*, wherever Portico shows it or uses it."""

from __future__ import annotations

import json

import jsonschema
import pytest
from django.test import Client
from driving import CONTACTS, KIND, findings, made, read, schema_of, tried

from crmclient import Reference
from crmclient.conventions import Conventions
from designer.history.effects import Effect, Line
from designer.history.wording import lines
from designer.loading import load
from designer.models import Endpoint, ExposedEntity, Module, RowRuleEntry
from designer.platform import get_platform
from designer.readiness import Checker, Metadata
from tests.callers import Caller
from tests.designer.studio import add_url, change_url, errors, filled, page, send
from tests.plain_tables import PlainTables


def test_it_counts_what_belongs_to_a_record(rita: Caller, counts: Endpoint) -> None:
    path = made(rita)
    assert read(rita, f"{path}/counts/contacts") == {"count": 0}
    id = path.rpartition("/")[2]
    for name in ("Ada", "Bo"):
        get_platform().create("contact", {"lastname": name, "parentcustomerid": Reference("account", id)})
    assert read(rita, f"{path}/counts/contacts") == {"count": 2}


def test_it_counts_for_nobody_else(aya: Caller, anonymous: Caller, rita: Caller, counts: Endpoint) -> None:
    path = f"{made(rita)}/counts/contacts"
    assert (anonymous.get(path).status_code, aya.get(path).status_code) == (401, 403)


def test_row_rules_hold_for_the_record_and_for_what_is_counted(rita: Caller, counts: Endpoint) -> None:
    path = f"{made(rita)}/counts/contacts"
    id = path.split("/")[4]
    get_platform().create("contact", {"lastname": "Ada", "parentcustomerid": Reference("account", id)})
    none = "<filter><condition attribute='{}' operator='eq' value='nobody'/></filter>"
    exposed = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="people", entity="contact"
    )
    RowRuleEntry.objects.create(exposed=exposed, filter=none.format("lastname"))
    assert read(rita, path) == {"count": 0}
    counts.row_rule = none.format("name")
    counts.save()
    assert rita.get(path).status_code == 404


@pytest.mark.parametrize("id", ["5", "00000000-0000-4000-8000-000000000000"])
def test_a_record_that_is_not_there_is_refused(rita: Caller, counts: Endpoint, id: str) -> None:
    assert rita.get(f"/api/sales/accounts/{id}/counts/contacts").status_code == (400 if id == "5" else 404)


def test_dora_adds_an_endpoint_of_the_kind(dora: Client, rita: Caller) -> None:
    exposed = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    opened = page(dora, add_url("endpoint"))
    assert "Count related: Counts the records that belong to a record." in opened.content.decode()
    data = {**filled(opened), "kind": KIND, "entity": exposed.pk, "name": "contacts"}
    added = send(dora, add_url("endpoint"), data)
    assert added.status_code == 302, errors(added)
    row = Endpoint.objects.get(kind=KIND)
    data = filled(page(dora, change_url(row)))
    choices = page(dora, change_url(row)).context["adminform"].form.fields["settings__relationship"].choices
    assert (CONTACTS, f"contact ({CONTACTS})") in list(choices)
    saved = send(dora, change_url(row), {**data, "enabled": "on", "settings__relationship": ""})
    assert "account has no one-to-many relationship “”. Choose another." in errors(saved)
    saved = send(dora, change_url(row), {**data, "enabled": "on", "settings__relationship": CONTACTS})
    assert saved.status_code == 302, errors(saved)
    assert read(rita, f"{made(rita)}/counts/contacts") == {"count": 0}


def test_readiness_judges_its_setting(counts: Endpoint) -> None:
    assert findings(counts) == {}
    counts.settings = {"relationship": "account_primary_contact"}
    counts.save()
    assert findings(counts) == {"count-relationship": "settings.relationship"}


def test_readiness_says_that_a_platform_cannot_count(counts: Endpoint) -> None:
    platform = PlainTables(conventions=Conventions())
    problems = Checker(load(), Metadata(platform)).endpoint(counts.pk)
    assert ("count-platform", "settings.relationship") in {(one.rule, one.field) for one in problems}


def test_the_documents_describe_the_kind(rita: Caller, counts: Endpoint) -> None:
    path = "/api/sales/accounts/{id}/counts/contacts"
    openapi = read(rita, "/api/openapi.json")
    answer = schema_of(openapi, path, "get", "responses", "200")
    assert answer["properties"]["count"]["type"] == "integer"
    operations = read(rita, "/api/schema/entities/sales.accounts")["operations"]
    assert operations[f"{KIND}.contacts"]["path"] == path
    published = read(rita, "/api/schema/format")
    jsonschema.validate(read(rita, "/api/schema"), {**published, "$ref": "#/$defs/SchemaDocument"})


def test_a_version_tells_another_relationship_as_breaking(counts: Endpoint) -> None:
    place = {"kind": KIND, "module": "sales", "exposure": "accounts", "name": "contacts"}
    before, after = ({**place, "settings": {"relationship": name}} for name in (CONTACTS, "new_all"))
    (line,) = lines("endpoints", before, after)
    assert line == Line("relationship: “contact_customer_accounts” → “new_all”", Effect.BREAKING)


def test_a_count_is_tried(daring: Client, rita: Caller, counts: Endpoint) -> None:
    record = made(rita).rpartition("/")[2]
    dry = tried(daring, counts, record=record)
    assert [call.sent for call in dry.calls][-1] is False
    assert "contact" in dry.calls[-1].request
    real = tried(daring, counts, record=record, mode="real")
    assert (real.status, json.loads(real.body)) == (200, {"count": 0})
