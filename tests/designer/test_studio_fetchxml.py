"""Queries, row rules and calculated columns on the pages of the studio."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from designer.models import Endpoint, ExposedEntity
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


def test_metadata_for_rows(dora: Client) -> None:
    known = _metadata(dora)
    assert known["entities"]["contact"]["label"] == "Contact"
    assert {"name": "null", "label": "is empty", "values": 0} in known["operators"]
    account = _metadata(dora, "account")
    assert ["0", "Active"] in account["attributes"]["statecode"]["options"]
    assert {"entity": "contact", "from": "contactid", "to": "primarycontactid"}.items() <= next(
        link for link in account["links"] if link["to"] == "primarycontactid"
    ).items()
    assert dora.get(f"{reverse('studio:metadata')}?entity=nonsense").status_code == 503
