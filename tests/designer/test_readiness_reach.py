"""Queries that reach past row rules: found, until a publisher has acknowledged it with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.history.restoration import document_at
from designer.loading import load
from designer.models import AuditEntry, Endpoint, ExposedEntity, Fetcher, Module, Version
from designer.overview import overview
from tests.designer.studio import page
from tests.designer.test_write_access import _import, _member
from tests.designer.two_people import while_it_waits
from tests.row_rules import by_roles, only_rule, ruled
from tests.runtime.queries import a_query, accounts, where

RULE = "row-rule-not-applied"
CASES = '<fetch><entity name="incident"><attribute name="title"/></entity></fetch>'


@pytest.fixture
def elsewhere(portico: None) -> Endpoint:
    """A query of the module “sales” on cases, which have row rules in other modules alone."""
    a_query("multi", CASES)
    return Endpoint.objects.get(name="tested")


def found(row: Endpoint) -> list[tuple[str, str]]:
    return [(one.field, one.message) for one in overview().of(row.pk) if one.rule == RULE]


def acknowledge(client: Client, row: Endpoint, entity: str = "incident", **data: str) -> Any:
    url = reverse("admin:designer_endpoint_acknowledge", args=[row.pk])
    return client.post(url, {"entity": entity, f"reason-{entity}": "Counts only", **data})


def test_a_query_on_what_another_module_rules_is_found(elsewhere: Endpoint) -> None:
    [(place, message)] = found(elsewhere)
    assert place == "settings.query"
    assert "another module has a row rule for incident" in message


def test_it_is_found_no_more_where_a_rule_applies_or_there_is_none(elsewhere: Endpoint) -> None:
    exposed = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="tickets", entity="incident"
    )
    assert found(elsewhere)
    entry = ruled(exposed, where('attribute="title" operator="not-null"'))
    assert not found(elsewhere)
    entry.delete()
    assert found(elsewhere)
    only_rule("", segment="cases")
    assert not found(elsewhere)


def test_a_rule_that_lets_everyone_reach_all_records_is_none(elsewhere: Endpoint) -> None:
    by_roles([("", []), (where('attribute="title" operator="null"'), ["support"])], segment="cases")
    assert not found(elsewhere)


@pytest.mark.parametrize("ticked", [False, True])
def test_links_are_found_unless_their_rules_are_ticked(portico: None, ticked: bool) -> None:
    link = (
        '<link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="c">'
        '<attribute name="fullname" alias="contact"/></link-entity>'
    )
    only_rule("", segment="profile")
    a_query("multi", accounts(link), linked_row_rules=ticked)
    row = Endpoint.objects.get(name="tested")
    assert not found(row)
    people = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), segment="people", entity="contact"
    )
    ruled(people, where('attribute="lastname" operator="not-null"'))
    assert [place for place, _ in found(row)] == ([] if ticked else ["settings.query"])


@pytest.mark.parametrize("ticked", [False, True])
def test_data_fetchers_are_found_unless_they_apply_the_rule(portico: None, ticked: bool) -> None:
    only_rule(where('attribute="name" operator="not-null"'))
    a_query("multi", accounts())
    row = Endpoint.objects.get(name="tested")
    assert not found(row)
    Fetcher.objects.create(endpoint=row, name="it", query=accounts(), apply_row_rules=ticked)
    assert [place for place, _ in found(row)] == ([] if ticked else ["fetchers.it.query"])


def test_a_publisher_acknowledges_with_a_reason_that_stays(elsewhere: Endpoint) -> None:
    client = _member("Publisher")
    shown = page(client, reverse("admin:designer_endpoint_change", args=[elsewhere.pk])).content.decode()
    assert 'name="reason-incident"' in shown
    assert "data-may-acknowledge" in shown
    assert acknowledge(client, elsewhere, **{"reason-incident": " \0"}).status_code == 302
    assert found(elsewhere)
    assert acknowledge(client, elsewhere).status_code == 302
    assert not found(elsewhere)
    elsewhere.refresh_from_db()
    [kept] = elsewhere.acknowledgements
    assert (kept["entity"], kept["reason"]) == ("incident", "Counts only")
    assert kept["account"]
    assert kept["at"]
    noted = AuditEntry.objects.latest("id")
    assert (noted.account, noted.detail) == (
        kept["account"],
        "acknowledged that it reaches incident past row rules",
    )
    assert Version.objects.latest("id").note == "Counts only"
    shown = page(client, reverse("admin:designer_endpoint_change", args=[elsewhere.pk])).content.decode()
    assert "Counts only" in shown


def test_what_two_acknowledge_at_once_is_kept_of_both(elsewhere: Endpoint) -> None:
    client = _member("Publisher")
    only_rule(where('attribute="title" operator="not-null"'), segment="leads")
    leads = '<link-entity name="lead" from="leadid" to="incidentid"><attribute name="subject"/></link-entity>'
    query = CASES.replace("</entity>", f"{leads}</entity>")
    Endpoint.objects.filter(pk=elsewhere.pk).update(settings={**elsewhere.settings, "query": query})
    assert len(found(elsewhere)) == 2
    with while_it_waits(lambda: acknowledge(client, elsewhere, "lead")):
        acknowledge(client, elsewhere)
    assert not found(elsewhere)
    with while_it_waits(lambda: acknowledge(client, elsewhere, withdraw="lead")):
        acknowledge(client, elsewhere, withdraw="incident")
    elsewhere.refresh_from_db()
    assert elsewhere.acknowledgements == []
    theirs = {"reason-incident": "Theirs"}
    with while_it_waits(lambda: acknowledge(client, elsewhere, **theirs)):
        acknowledge(client, elsewhere)
    elsewhere.refresh_from_db()
    assert [kept["reason"] for kept in elsewhere.acknowledgements] == ["Theirs"]


def test_the_finding_returns_where_another_entity_is_reached_or_it_is_withdrawn(elsewhere: Endpoint) -> None:
    client = _member("Publisher")
    acknowledge(client, elsewhere)
    only_rule(where('attribute="title" operator="not-null"'), segment="leads")
    leads = '<fetch><entity name="lead"><attribute name="subject"/></entity></fetch>'
    Module.objects.create(segment="other")
    Endpoint.objects.filter(pk=elsewhere.pk).update(
        settings={**elsewhere.settings, "query": leads}, module=Module.objects.get(segment="other")
    )
    assert [("lead" in message) for _, message in found(elsewhere)] == [True]
    Endpoint.objects.filter(pk=elsewhere.pk).update(settings=elsewhere.settings)
    assert not found(elsewhere)
    acknowledge(client, elsewhere, withdraw="incident")
    assert found(elsewhere)


def test_only_a_publisher_acknowledges_by_whatever_way(elsewhere: Endpoint) -> None:
    client = _member("Designer")
    assert acknowledge(client, elsewhere).status_code == 403
    document = json.loads(to_bytes(export(load())))
    item = next(one for one in document["endpoints"] if one.get("name") == "tested")
    item["acknowledgements"] = [{"entity": "incident", "reason": "I say so"}]
    _import(client, document)
    assert found(elsewhere)
    _import(_member("Publisher"), document)
    assert not found(elsewhere)


def test_documents_carry_what_is_acknowledged_and_designers_keep_it(elsewhere: Endpoint) -> None:
    acknowledge(_member("Publisher"), elsewhere)
    document = to_bytes(export(load()))
    item = next(one for one in json.loads(document)["endpoints"] if one.get("name") == "tested")
    assert item["acknowledgements"] == [{"entity": "incident", "reason": "Counts only"}]
    version = Version.objects.latest("id").pk
    changed = json.loads(document)
    next(one for one in changed["endpoints"] if one.get("name") == "tested")["title"] = "Other"
    _import(_member("Designer"), changed)
    elsewhere.refresh_from_db()
    assert elsewhere.title == "Other"
    assert elsewhere.acknowledgements[0]["account"]
    restored = next(one for one in document_at(version).endpoints if one.name == "tested")
    assert [one.reason for one in restored.acknowledgements] == ["Counts only"]
