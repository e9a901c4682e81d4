"""The row rule on the page of an exposed entity, and who may end one."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse

from designer.documents.document_reader import read
from designer.documents.document_writer import export, to_bytes
from designer.documents.problems import DocumentError
from designer.history.recording import Author, Origin
from designer.history.restoration import document_at, restore
from designer.imports.document_import import import_document
from designer.loading import load
from designer.models import Endpoint, ExposedEntity, Module, RecordedItem, Role, RowRuleEntry, Version
from tests.callers import Caller
from tests.designer.studio import add_row, change_url, errors, filled, page, send
from tests.designer.test_write_access import _import, _member
from tests.row_rules import by_roles, only_rule, ruled, schema_before_entries
from tests.runtime.accounts import an_account, endpoint

PUBLISHER = Author(origin=Origin.COMMAND, may_change_write_access=True)
MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
NAMED = '<filter><condition attribute="name" operator="eq" value="{}"/></filter>'


def exposed(segment: str = "accounts") -> ExposedEntity:
    return ExposedEntity.objects.get(segment=segment)


def rule() -> list[Any]:
    [entity] = [one for one in load().entities if one.key == "sales.accounts"]
    return [(entry.roles, entry.filter is not None, entry.all_records) for entry in entity.row_rule]


def test_entries_are_written_on_the_page(dora: Client, rita: Caller, max: Caller) -> None:
    record = an_account(name="Other")
    url = change_url(exposed())
    data = filled(page(dora, url))
    rep, manager = (Role.objects.get(name=name).pk for name in ("sales-rep", "sales-manager"))
    add_row(data, "row_rule", filter=MINE, callers=[rep])
    add_row(data, "row_rule", callers=[manager], all_records="on")
    saved = send(dora, url, data)
    assert saved.status_code == 302, errors(saved)
    assert rule() == [(("sales-manager",), False, True), (("sales-rep",), True, False)]
    assert (rita.get(record).status_code, max.get(record).status_code) == (404, 200)
    again = filled(page(dora, url))
    assert send(dora, url, again).status_code == 302
    assert len(rule()) == 2


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"filter": ""}, "Write a filter"),
        ({"filter": MINE, "all_records": "on"}, "Empty the filter"),
        ({"filter": "<filter><oops/></filter>"}, "oops"),
        ({"filter": '<filter><condition attribute="colour" operator="null"/></filter>'}, "colour"),
        (
            {"filter": '<filter><oops/><condition attribute="colour" operator="null"/></filter>'},
            "has no attribute 'colour'",
        ),
    ],
)
def test_what_an_entry_cannot_be_is_said_at_it(dora: Client, entry: dict[str, str], words: str) -> None:
    url = change_url(exposed())
    data = filled(page(dora, url))
    add_row(data, "row_rule", filter=MINE)
    add_row(data, "row_rule", callers=[Role.objects.get(name="sales-rep").pk], **entry)
    refused = send(dora, url, data)
    assert refused.status_code == 200
    [formset] = [one.formset for one in refused.context["inline_admin_formsets"]]
    first, second = formset.forms
    assert not first.errors
    said = [str(error) for error in second.errors["filter"]]
    assert words in " ".join(said)
    assert not entry["filter"] or "Write a filter, or switch" not in " ".join(said)
    assert rule() == []


def test_other_exposures_of_the_entity_stand_beside_each_other(dora: Client) -> None:
    other = Module.objects.create(segment="support")
    clients = ExposedEntity.objects.create(module=other, segment="clients", entity="account")
    by_roles([(MINE, ["sales-rep"]), ("", ["sales-manager"])])
    text = page(dora, change_url(exposed())).content.decode()
    assert "Also exposed" in text
    assert change_url(clients) in text
    assert "sales-manager: all records" in text
    assert "This rule differs" in text
    for filter, role in ((MINE, "sales-rep"), ("", "sales-manager")):
        ruled(clients, filter, role)
    assert "This rule differs" not in page(dora, change_url(exposed())).content.decode()
    assert "Also exposed" not in page(dora, change_url(exposed("leads"))).content.decode()


def _end(client: Client, **more: str) -> Any:
    data = filled(page(client, change_url(exposed())))
    return send(client, change_url(exposed()), data | {"row_rule-0-DELETE": "on"} | more)


def test_ending_a_rule_is_asked_about_once(portico: None) -> None:
    client = _member("Publisher")
    _import(client, _with_rule([{"filter": MINE}]))
    asked = _end(client)
    assert asked.status_code == 200
    assert 'name="_opens"' in asked.content.decode()
    assert "All callers would reach every record" in asked.content.decode()
    assert rule()
    assert _end(client, _opens="1").status_code == 302
    assert rule() == []
    assert "row rule removed: callers reach every record" in _last_words(client)


def test_a_designer_may_not_end_a_rule_by_whatever_way(portico: None) -> None:
    _import(_member("Publisher"), _with_rule([{"filter": MINE}]))
    client = _member("Designer")
    assert _end(client, _opens="1").status_code == 200
    assert rule()
    _import(client, _with_rule([]))
    _import(client, _with_rule([{"filter": MINE}, {"all_records": True}]))
    assert len(rule()) == 1
    Endpoint.objects.filter(entity=exposed()).update(enabled=False)
    _import(client, _with_rule([], enabled=False))
    _import(client, _with_rule([], enabled=True))
    assert not rule() or not endpoint("update").enabled
    assert not Endpoint.objects.filter(entity=exposed(), enabled=True, kind="update").exists()


def test_a_designer_changes_entries_that_keep_something_from_somebody(portico: None) -> None:
    _import(_member("Publisher"), _with_rule([{"filter": MINE}]))
    _import(_member("Designer"), _with_rule([{"filter": NAMED.format("x"), "roles": ["sales-rep"]}]))
    assert rule() == [(("sales-rep",), True, False)]


def _last_words(client: Client) -> str:
    version = Version.objects.latest("id")
    text: str = page(client, reverse("studio:version", args=[version.pk])).content.decode()
    return text


def _with_rule(entries: list[Any], enabled: bool | None = None) -> Any:
    document = json.loads(to_bytes(export(load())))
    entity = next(one for one in document["entities"] if one["segment"] == "accounts")
    entity["row_rule"] = entries
    for one in document["endpoints"]:
        if enabled is not None and one.get("exposure") == "accounts":
            one["enabled"] = enabled
        if one["kind"] == "create" and one.get("exposure") == "accounts":
            one["settings"] = {"may_create_outside_rule": True}
    return document


def test_a_role_of_an_entry_cannot_be_deleted(dora: Client, portico: None) -> None:
    Role.objects.create(name="lonely")
    by_roles([(MINE, ["lonely"])])
    with pytest.raises(ProtectedError):
        Role.objects.get(name="lonely").delete()
    shown = page(dora, reverse("admin:designer_role_delete", args=[Role.objects.get(name="lonely").pk]))
    assert "sales/accounts" in shown.content.decode()


def test_documents_name_the_roles_of_entries(portico: None) -> None:
    by_roles([(MINE, ["sales-rep"]), ("", ["sales-manager"])])
    whole = to_bytes(export(load()))
    written = next(one for one in json.loads(whole)["entities"] if one["segment"] == "accounts")["row_rule"]
    assert [sorted(entry) for entry in written] == [["all_records", "roles"], ["filter", "roles"]]
    assert import_document(whole, (), PUBLISHER).plan.does_nothing
    turned = json.loads(whole)
    next(one for one in turned["entities"] if one["segment"] == "accounts")["row_rule"].reverse()
    assert import_document(json.dumps(turned).encode(), (), PUBLISHER).plan.does_nothing
    unknown = _with_rule([{"filter": MINE, "roles": ["nobody"]}])
    with pytest.raises(DocumentError, match="There is no role “nobody”"):
        import_document(json.dumps(unknown).encode(), (), PUBLISHER)
    for wrong in ({"roles": ["sales-rep"]}, {"filter": MINE, "all_records": True}):
        with pytest.raises(DocumentError, match="all_records"):
            import_document(json.dumps(_with_rule([wrong])).encode(), (), PUBLISHER)
    Role.objects.create(name="only-here")
    by_roles([(MINE, ["only-here"])])
    assert "only-here" in {role.name for role in export(load(), "sales").roles}


@pytest.mark.parametrize("format", [1, 2])
def test_a_rule_that_is_one_filter_is_everyones(portico: None, format: int) -> None:
    document: Any = _with_rule([])
    next(one for one in document["entities"] if one["segment"] == "accounts")["row_rule"] = MINE
    import_document(json.dumps(document | {"format": format}).encode(), (), PUBLISHER)
    assert rule() == [((), True, False)]
    assert read(to_bytes(export(load()))).entities == load().entities


def test_a_version_is_restored_with_its_entries(portico: None) -> None:
    client = _member("Publisher")
    _import(client, _with_rule([{"filter": MINE, "roles": ["sales-rep"]}]))
    then, was = Version.objects.latest("id").pk, rule()
    _import(client, _with_rule([{"filter": NAMED.format("x")}]))
    assert "row rule: the entry for sales-rep removed" in _last_words(client)
    restore(document_at(then), PUBLISHER)
    assert rule() == was


def test_the_upgrade_makes_everyones_entry_and_no_version(portico: None) -> None:
    # Before entries there were none by role.
    RowRuleEntry.objects.exclude(roles=None).delete()
    only_rule(MINE)
    import_document(to_bytes(export(load())), (), PUBLISHER)
    versions, whole = Version.objects.count(), to_bytes(export(load()))
    recorded = RecordedItem.objects.get(collection="entities", key="sales.accounts")
    digest = recorded.digest
    recorded.content = {**recorded.content, "row_rule": recorded.content["row_rule"][0]["filter"]}
    recorded.save()
    models = schema_before_entries("0012_row_rule_entries")
    RowRuleEntry.objects.all().delete()
    importlib.import_module("designer.migrations.0012_row_rule_entries").make_entries(
        models, connection.schema_editor()
    )
    assert to_bytes(export(load())) == whole
    recorded.refresh_from_db()
    assert (recorded.digest, recorded.content["row_rule"][0].keys()) == (digest, {"filter"})
    assert Version.objects.count() == versions


def test_a_viewer_sees_entries_and_changes_none(portico: None) -> None:
    by_roles([(MINE, ["sales-rep"]), ("", [])])
    viewer = _member("Viewer")
    text = page(viewer, change_url(exposed())).content.decode()
    assert "sales-rep" in text
    assert "Everyone" in text
    assert 'name="row_rule-0-filter"' not in text


def test_an_entry_is_called_by_whom_it_is_for(dora: Client) -> None:
    by_roles([(MINE, ["sales-rep"]), ("", [])])
    assert sorted(str(entry) for entry in exposed().row_rule.all()) == [
        "Everyone",
        "Sales representative (sales-rep)",
    ]
    text = page(dora, change_url(exposed())).content.decode()
    assert "Add row rule entry" in text
    assert "Add another" not in text


def test_a_property_that_is_not_there_is_told_where_the_rule_names_it_and_leads_there(dora: Client) -> None:
    """The endpoint's page shows what the rule of its entity lacks, and has no field for that."""
    wrong = '<filter><condition attribute="name" operator="eq" value="@user.shoe"/></filter>'
    ruled(exposed(), wrong)
    text = page(
        dora, change_url(Endpoint.objects.get(kind="read", entity__segment="accounts"))
    ).content.decode()
    assert "The entity&#x27;s row rule: There is no user property “shoe”. Add it" in text
    assert f'href="{change_url(exposed())}#row_rule-group">Open the row rule</a>' in text
    # What is the endpoint's own is told without the name of a rule, and leads nowhere else.
    exposed().row_rule.all().delete()
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    row.row_rule, row.enabled = wrong, False
    row.save()
    text = page(dora, change_url(row)).content.decode()
    assert "There is no user property" in text
    assert "Open the row rule" not in text
