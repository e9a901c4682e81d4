"""Row rules in the permission matrix: what a column's callers reach is changed from its cell."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from designer.loading import load
from designer.models import Endpoint, ExposedEntity, Role, Version
from tests.callers import Caller
from tests.designer.studio import add_row, errors, filled, page, send
from tests.row_rules import by_roles, only_rule
from tests.runtime.accounts import an_account

MINE = '<filter><condition attribute="ownerid" operator="eq-userid"/></filter>'
NAMED = '<filter><condition attribute="name" operator="eq" value="{}"/></filter>'


def _accounts() -> ExposedEntity:
    return ExposedEntity.objects.get(module__segment="sales", segment="accounts")


def _rule() -> list[tuple[tuple[str, ...], bool]]:
    """The roles of each entry, and whether it is for all records."""
    [exposed] = [one for one in load().entities if one.key == "sales.accounts"]
    return [(entry.roles, entry.all_records) for entry in exposed.row_rule]


def _cell(client: Client, column: str, query: str = "") -> str:
    """The address behind the cell of accounts, in a column of the matrix."""
    text = page(client, reverse("studio:matrix") + query).content.decode()
    title = f"Change which records {column} reach of sales/accounts"
    [address] = re.findall(rf'<a class="studio-cell-rule" href="([^"]+)" title="{title}"', text)
    return str(address).replace("&amp;", "&")


def _said(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", str(message)) for message in answer.context["messages"])


def test_a_roles_entry_is_written_where_its_cell_leads_to(dora: Client, rita: Caller, max: Caller) -> None:
    path = an_account(name="Nobody's")
    by_roles([("", ["sales-manager"])])
    address = _cell(dora, "sales-rep")
    opened = page(dora, address)
    # The entry that is there belongs to another column; an empty one of this role stands ready.
    data = filled(opened)
    assert data["row_rule-TOTAL_FORMS"] == 1
    assert data["row_rule-0-callers"] == [Role.objects.get(name="sales-rep").pk]
    answer = dora.post(address, data | {"row_rule-0-filter": NAMED.format("Other")}, follow=True)
    assert answer.request["PATH_INFO"] == reverse("studio:matrix")
    assert _rule() == [(("sales-manager",), True), (("sales-rep",), False)]
    assert rita.get(path).status_code == 404
    assert max.get(path).status_code == 200
    assert "Undo" in _said(answer)
    assert "Account Name is “Other”" in answer.content.decode()


def test_what_is_not_filled_in_makes_no_entry(dora: Client) -> None:
    by_roles([("", ["sales-manager"])])
    address = _cell(dora, "sales-rep")
    data = filled(page(dora, address))
    # What the fixture has done past the studio is a version, too.
    page(dora, reverse("studio:versions"))
    versions = Version.objects.count()
    assert send(dora, address, data).status_code == 302
    add_row(data, "row_rule", callers=[Role.objects.get(name="sales-rep").pk])
    assert send(dora, address, data).status_code == 302
    assert (_rule(), Version.objects.count()) == ([(("sales-manager",), True)], versions)


def test_a_cell_leads_to_the_entries_of_its_callers_alone(dora: Client) -> None:
    by_roles([(MINE, ["sales-rep", "support"]), (NAMED.format("x"), []), ("", ["sales-manager"])])
    shared = page(dora, _cell(dora, "support"))
    assert sorted(filled(shared)["row_rule-0-callers"]) == sorted(
        Role.objects.filter(name__in=("sales-rep", "support")).values_list("pk", flat=True)
    )
    assert filled(shared)["row_rule-TOTAL_FORMS"] == 1
    assert "Everyone: " in shared.content.decode()
    for column in ("Anonymous", "Authenticated"):
        everyones = page(dora, _cell(dora, column))
        assert filled(everyones)["row_rule-0-filter"] == NAMED.format("x")
        assert filled(everyones)["row_rule-TOTAL_FORMS"] == 1


def test_the_first_entry_says_what_it_takes_from_others(dora: Client) -> None:
    only_rule("")
    first = page(dora, _cell(dora, "sales-rep")).content.decode()
    assert "With its first entry, callers without an entry reach no record." in first
    by_roles([(MINE, ["sales-rep"])])
    assert "With its first entry" not in page(dora, _cell(dora, "sales-rep")).content.decode()


def test_ending_a_rule_in_its_last_column_is_asked_about(dora: Client) -> None:
    by_roles([(MINE, ["sales-rep"])])
    address = _cell(dora, "sales-rep")
    data = filled(page(dora, address)) | {"row_rule-0-DELETE": "on"}
    refused = send(dora, address, data)
    assert any("All callers would reach every record" in text for text in errors(refused))
    assert _rule() == [(("sales-rep",), False)]
    assert send(dora, address, data | {"_opens": "1"}).status_code == 302
    assert _rule() == []


def test_what_would_block_an_endpoint_is_said_at_the_entry(dora: Client) -> None:
    by_roles([("", ["sales-manager"])])
    address = _cell(dora, "sales-rep")
    wrong = '<filter><condition attribute="no_such" operator="eq" value="1"/></filter>'
    refused = send(dora, address, filled(page(dora, address)) | {"row_rule-0-filter": wrong})
    assert any("no_such" in text for text in errors(refused))
    assert wrong in [row["filter"].value() for row in refused.context["inline_admin_formsets"][0].formset]
    assert _rule() == [(("sales-manager",), True)]


def test_a_save_leads_back_to_the_part_of_the_matrix_that_was_left(dora: Client) -> None:
    by_roles([(MINE, ["sales-rep"])])
    address = _cell(dora, "sales-rep", "?module=sales&role=sales-rep")
    assert address.endswith("?module=sales&role=sales-rep")
    answer = send(dora, address, filled(page(dora, address)))
    assert answer["Location"] == f"{reverse('studio:matrix')}?module=sales&role=sales-rep"


def test_two_people_in_two_columns_keep_both_entries(dora: Client) -> None:
    by_roles([("", ["sales-manager"])])
    opened = {role: filled(page(dora, _cell(dora, role))) for role in ("sales-rep", "support")}
    for role, data in opened.items():
        address = _cell(dora, role)
        assert send(dora, address, data | {"row_rule-0-filter": NAMED.format(role)}).status_code == 302
    assert _rule() == [(("sales-manager",), True), (("sales-rep",), False), (("support",), False)]


def test_the_filters_that_row_rules_often_are_stand_ready(dora: Client) -> None:
    def offered(segment: str, module: str) -> list[str]:
        row = ExposedEntity.objects.get(module__segment=module, segment=segment)
        address = reverse("admin:designer_exposedentity_row_rule", args=[row.pk])
        text = page(dora, address).content.decode()
        data = re.search(r'<script id="page-data"[^>]*>(.*?)</script>', text, re.DOTALL)
        assert data is not None
        return [one["filter"] for one in json.loads(data[1])["usual"]]

    accounts = offered("accounts", "sales")
    assert 'attribute="ownerid" operator="eq-userid"' in accounts[0]
    assert 'attribute="owningbusinessunit" operator="eq-businessid"' in accounts[1]
    assert any(
        'attribute="customerid" operator="eq" value="@user.id"' in one for one in offered("cases", "portal")
    )
    # The record of a contact is the contact's own.
    assert any(
        'attribute="contactid" operator="eq" value="@user.id"' in one for one in offered("profile", "portal")
    )


@pytest.mark.parametrize("column", ["nobody", "*anonymous", "*authenticated"])
def test_a_column_that_there_is_not_is_not_found(dora: Client, column: str) -> None:
    address = reverse("admin:designer_exposedentity_row_rule_of_role", args=[_accounts().pk, column])
    assert dora.get(address).status_code == 404


def test_who_may_look_sees_what_is_reached_and_no_way_to_change_it(portico: None) -> None:
    by_roles([(MINE, ["sales-rep"])])
    vera = User.objects.create_user("vera", is_staff=True)
    vera.groups.add(Group.objects.get(name="Viewer"))
    client = Client()
    client.force_login(vera, backend="django.contrib.auth.backends.ModelBackend")
    text = page(client, reverse("studio:matrix")).content.decode()
    assert "no record" in text
    assert "studio-cell-rule" not in text
    address = reverse("admin:designer_exposedentity_row_rule_of_role", args=[_accounts().pk, "sales-rep"])
    assert client.post(address, {"row_rule-TOTAL_FORMS": 0, "row_rule-INITIAL_FORMS": 0}).status_code == 403


def test_more_endpoints_than_a_page_holds_have_a_next_and_a_previous_one(dora: Client) -> None:
    exposed = _accounts()
    Endpoint.objects.bulk_create(
        Endpoint(kind="create", module=exposed.module, entity=exposed, segment=f"many-{at}")
        for at in range(100)
    )
    first = page(dora, reverse("studio:matrix")).content.decode()
    assert re.search(r'rel="next">Next<', first)
    second = page(dora, reverse("studio:matrix") + "?page=2").content.decode()
    assert re.search(r'rel="prev">Previous<', second)
