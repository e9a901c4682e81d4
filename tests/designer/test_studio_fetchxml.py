"""Queries, row rules and calculated columns on the pages of the studio."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from crmclient.query.designed import OPERATORS
from crmclient.query.families import Family
from designer.models import Endpoint, ExposedEntity
from designer.queries.advanced_find import operators_of
from tests.callers import Caller
from tests.designer.studio import add_row, change_url, errors, filled, page, send
from tests.runtime.accounts import an_account, endpoint

MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'


def _metadata(dora: Client, entity: str = "") -> Any:
    return page(dora, f"{reverse('studio:metadata')}?entity={entity}").json()


def test_a_row_rule_of_an_endpoint_narrows_what_callers_reach(dora: Client, rita: Caller) -> None:
    record = an_account()
    assert rita.get(record).status_code == 200
    url = change_url(endpoint("read"))
    saved = send(dora, url, filled(page(dora, url)) | {"row_rule": MINE})
    assert saved.status_code == 302, errors(saved)
    assert rita.get(record).status_code == 404


def test_a_row_rule_of_an_entity_narrows_all_its_endpoints(dora: Client, max: Caller) -> None:
    record = an_account()
    url = change_url(ExposedEntity.objects.get(segment="accounts"))
    data = filled(page(dora, url))
    add_row(data, "row_rule", filter=MINE)
    saved = send(dora, url, data)
    assert saved.status_code == 302, errors(saved)
    assert max.get(record).status_code == 404
    assert max.patch(record, {"phone": "1"}, if_match="*").status_code == 404


def test_what_is_no_filter_is_refused_at_its_field_and_kept(dora: Client) -> None:
    url = change_url(endpoint("read"))
    refused = send(dora, url, filled(page(dora, url)) | {"row_rule": "<filter><oops/></filter>"})
    form = refused.context["adminform"].form
    assert "oops" in str(form.errors["row_rule"])
    assert form["row_rule"].value() == "<filter><oops/></filter>"


def test_a_calculated_column_is_answered(dora: Client, rita: Caller) -> None:
    url = change_url(endpoint("read"))
    data = filled(page(dora, url))
    add_row(data, "columns", attribute="", name="shout", expression="record.name + '!'", position=99)
    saved = send(dora, url, data)
    assert saved.status_code == 302, errors(saved)
    assert rita.get(an_account()).json()["shout"] == "Contoso!"


def test_the_page_says_in_words_what_a_query_does(dora: Client) -> None:
    row = Endpoint.objects.get(kind="paginated-query", name="accounts")
    data = filled(page(dora, change_url(row))) | {"row_rule": MINE}
    state = dora.post(reverse("admin:designer_endpoint_check", args=[row.pk]), data).json()
    assert state["words"]["settings__query"].startswith("Accounts, where Status is Active")
    assert "revenue" in state["columns"]


def _offered(dora: Client, attribute: str) -> dict[str, str]:
    """The operators that conditions on an attribute of accounts offer, by name, in the words of the list."""
    family = _metadata(dora, "account")["attributes"][attribute]["family"]
    return {
        operator["name"]: operator["label"] for operator in _metadata(dora)["operators"]["offered"][family]
    }


def test_operators_are_those_of_the_attributes_type_in_the_words_of_advanced_find(dora: Client) -> None:
    created, name, owner = (_offered(dora, one) for one in ("createdon", "name", "ownerid"))
    assert list(created)[:3] == ["on", "on-or-after", "on-or-before"]
    assert created["gt"] == "Is after"
    assert created["last-x-days"] == "Last X days"
    assert name["contains"] == "Contains"
    assert not set(name) & {"last-x-days", "eq-userid", "contain-values"}
    assert owner["eq-userid"] == "Equals current user"
    assert "gt" not in owner
    assert list(_offered(dora, "donotemail")) == ["eq", "ne", "in", "not-in", "null", "not-null"]


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_every_operator_is_offered_for_something(operator: str) -> None:
    assert any(operator in {offered.name for offered in operators_of(family)} for family in Family)


def test_a_parameter_that_there_is_not_is_added_with_the_type_of_its_attribute(dora: Client) -> None:
    row = Endpoint.objects.get(kind="paginated-query", name="accounts")
    query = (
        '<fetch><entity name="account"><attribute name="name"/><filter>'
        '<condition attribute="createdon" operator="on-or-after" value="@since"/>'
        '<condition attribute="createdon" operator="last-x-days" value="@days"/></filter></entity></fetch>'
    )
    data = filled(page(dora, change_url(row))) | {"settings__query": query}
    state = dora.post(reverse("admin:designer_endpoint_check", args=[row.pk]), data).json()
    said = state["findings"]["settings__query"]
    assert "uses @since, but the endpoint has no parameter of that name" in said
    assert "Add parameter since (Date)" in said
    assert "Add parameter days (Integer)" in said


def test_records_are_found_by_their_names(dora: Client) -> None:
    def found(**asked: str) -> list[str]:
        return [one["label"] for one in page(dora, f"{url}?{urlencode(asked)}").json()["records"]]

    url = reverse("studio:records")
    id = an_account().rpartition("/")[2]
    assert found(entity="account", id=f"{{{id.upper()}}}") == ["Contoso"]
    assert "Contoso" in found(entity="account", search="ontos")
    assert found(entity="nonsense", search="a") == []


def test_only_who_may_run_queries_finds_records(portico: None) -> None:
    account = get_user_model().objects.create_user("reader", is_staff=True)
    account.groups.add(Group.objects.get(name="Viewer"))
    reader = Client()
    reader.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    assert reader.get(f"{reverse('studio:metadata')}?entity=account").status_code == 200
    assert reader.get(f"{reverse('studio:records')}?entity=account&search=a").status_code == 403


def test_rows_of_an_entity_that_there_is_not_are_left_to_the_finding_at_the_query(dora: Client) -> None:
    answer = dora.get(reverse("studio:metadata"), {"entity": "nothing"})
    assert (answer.status_code, answer.json()) == (200, {"label": "nothing", "attributes": {}, "links": []})


def test_metadata_for_rows(dora: Client) -> None:
    metadata = _metadata(dora)
    assert metadata["entities"]["contact"]["label"] == "Contact"
    assert metadata["operators"]["known"]["null"] == {"label": "Does not contain data", "values": 0}
    account = _metadata(dora, "account")
    assert ["0", "Active"] in account["attributes"]["statecode"]["options"]
    assert account["attributes"]["revenue"]["parameters"]["ge"] == "Money"
    assert account["attributes"]["createdon"]["parameters"]["last-x-days"] == "Integer"
    assert {"entity": "contact", "from": "contactid", "to": "primarycontactid"}.items() <= next(
        link for link in account["links"] if link["to"] == "primarycontactid"
    ).items()


def test_links_by_several_lookups_to_one_entity_are_told_apart_by_label(dora: Client) -> None:
    """Who knows an opportunity by its form knows its lookups by their labels."""
    labels = {(link["entity"], link["to"]): link["label"] for link in _metadata(dora, "opportunity")["links"]}
    assert labels["contact", "parentcontactid"] == "Contact (parentcontactid)"
    assert labels["systemuser", "ownerid"] == "User – Owner (ownerid)"
    assert labels["systemuser", "modifiedby"] == "User – Modified By (modifiedby)"
    account = {link["to"]: link["label"] for link in _metadata(dora, "account")["links"]}
    assert account["primarycontactid"] == "Contact – Primary Contact (primarycontactid)"
