"""A query made in rows by keyboard alone: the focus stays where the work is, nothing changes by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from lxml import etree

from designer.models import Endpoint
from tests.designer.keyboard import Keys, signed_in
from tests.designer.studio import change_url, errors, filled, page, send
from tests.servers import Site, copied

if TYPE_CHECKING:
    from playwright.sync_api import Page

LONG = "8f0d1c5e-3a57-5d8e-9a41-6b2f7c90d3e4"
PASTED = (
    '<fetch><entity name="account"><attribute name="name"/><filter type="and">'
    f'<condition attribute="name" operator="eq-roleid" value="{LONG}"/></filter></entity></fetch>'
)


def shape(text: str) -> list[tuple[str, dict[str, str]]]:
    """Elements with their attributes, in the order of the text."""
    return [
        (str(node.tag), {str(name): str(value) for name, value in node.items()})
        for node in etree.fromstring(text).iter()
    ]


def link(entity: str, own: str, of_parent: str) -> dict[str, str]:
    return {"name": entity, "from": own, "to": of_parent, "link-type": "outer", "alias": entity}


@pytest.fixture(scope="module")
def studio(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A running studio. What one test makes of the query, the next one begins anew."""
    with copied(_prepared, tmp_path_factory.mktemp("queries") / "data", "queries") as site:
        site.start()
        yield site


@pytest.fixture
def keys(studio: Site, page: Page) -> Keys:
    """On the page of a query that has neither columns nor conditions."""
    empty = '<fetch><entity name="account"></entity></fetch>'
    studio.manage("shell", "-c", _QUERY.format(text=empty))
    keys = signed_in(studio.servers[0], page)
    keys.find("Empty query")
    keys.skip()
    return keys


_QUERY = """
from designer.models import Endpoint
row = Endpoint.objects.get(kind="paginated-query", name="accounts")
row.enabled, row.title, row.settings = False, "Empty query", row.settings | {{"query": '{text}'}}
row.save()
row.inputs.filter(name__in=("topic", "revenue", "createdon", "fullname")).delete()
"""


@pytest.mark.processes
@pytest.mark.browser
def test_a_query_is_made_by_keyboard_alone(keys: Keys, page: Page) -> None:
    text = page.locator("[name=settings__query]")
    page.locator("#id_settings__query_entity_search").wait_for()

    keys.go_to("Entity")
    keys.type("contact")
    keys.press("Enter")
    keys.stays("Entity")

    for column in ("fullname", "emailaddress1", "jobtitle"):
        keys.go_to("+ Column")
        keys.press("Enter")
        keys.stays("Column")
        keys.type(column)
        keys.press("Enter")
        keys.stays("Column")
    keys.go_to("Remove")
    keys.press("Enter")
    keys.stays("Remove")

    keys.go_to("+ Condition")
    keys.press("Enter")
    keys.stays("Attribute")
    keys.type("emailaddress1")
    keys.press("Enter")
    keys.stays("Attribute")
    keys.go_to("Operator")
    keys.choose("Contains d")
    keys.stays("Operator")
    keys.go_to("+ Condition", by="Shift+Tab")
    keys.press("Enter")
    keys.stays("Attribute")
    keys.type("statecode")
    keys.press("Enter")
    keys.go_to("Value")
    keys.type("Act")
    keys.stays("Value")

    keys.go_to("+ Group", by="Shift+Tab")
    keys.press("Enter")
    keys.stays("Group")
    keys.go_to("Remove")
    keys.press("Enter")
    keys.stays("+ Group")

    keys.go_to("+ Order by")
    keys.press("Enter")
    keys.stays("Order by")
    keys.type("fullname")
    keys.press("Enter")
    keys.stays("Order by")
    keys.go_to("Linked entity")
    assert shape(text.input_value()) == [
        ("fetch", {}),
        ("entity", {"name": "contact"}),
        ("attribute", {"name": "fullname"}),
        ("attribute", {"name": "emailaddress1"}),
        ("filter", {"type": "and"}),
        ("condition", {"attribute": "emailaddress1", "operator": "not-null"}),
        ("condition", {"attribute": "statecode", "operator": "eq", "value": "0"}),
        ("order", {"attribute": "fullname"}),
    ]
    assert keys.unseen == []
    keys.go_to("Save")
    keys.follow()
    page.get_by_text("was changed successfully").wait_for()


@pytest.mark.processes
@pytest.mark.browser
def test_links_nested_groups_and_parameters_are_made_by_keyboard_alone(keys: Keys, page: Page) -> None:
    text = page.locator("[name=settings__query]")
    page.locator("#id_settings__query_entity_search").wait_for()
    keys.go_to("+ Column")
    keys.press("Enter")
    keys.stays("Column")
    keys.type("Account Name")
    keys.press("Enter")
    keys.stays("Column")

    def condition(attribute: str, operator: str = "", by: str = "Tab") -> None:
        keys.go_to("+ Condition", by=by)
        keys.press("Enter")
        keys.stays("Attribute")
        keys.type(attribute)
        keys.press("Enter")
        keys.stays("Attribute")
        keys.go_to("Operator")
        if operator:
            keys.choose(operator)

    condition("Account Name", "Contains")
    keys.go_to("Value")
    keys.type("@topic")
    keys.press("Enter")
    for attribute, operator in (("Annual Revenue", "Is greater than or"), ("Created On", "On or after")):
        keys.go_to("+ Group", by="Shift+Tab")
        keys.press("Enter")
        keys.stays("Group")
        condition(attribute, operator)
        keys.go_to("From the caller")
        keys.press("Enter")
        keys.stays("Value")

    for linked in ("Contact (primarycontactid)", "Cases (customerid)", "User (ownerid)"):
        keys.go_to("Linked entity")
        keys.type(linked)
        keys.press("Enter")
        keys.stays("Rows without a linked record")
    condition("Full Name", "Contains")
    keys.go_to("From the caller")
    keys.press("Enter")
    keys.stays("Value")
    assert shape(text.input_value())[1:] == [
        ("entity", {"name": "account"}),
        ("attribute", {"name": "name"}),
        ("filter", {"type": "and"}),
        ("condition", {"attribute": "name", "operator": "contains", "value": "@topic"}),
        ("filter", {"type": "or"}),
        ("condition", {"attribute": "revenue", "operator": "ge", "value": "@annualRevenue"}),
        # A group inside of “any” begins as “all”: another “any” would say nothing.
        ("filter", {"type": "and"}),
        ("condition", {"attribute": "createdon", "operator": "on-or-after", "value": "@createdOn"}),
        ("link-entity", link("contact", "contactid", "primarycontactid")),
        ("link-entity", link("incident", "customerid", "contactid")),
        ("link-entity", link("systemuser", "systemuserid", "ownerid")),
        ("filter", {"type": "and"}),
        ("condition", {"attribute": "fullname", "operator": "contains", "value": "@fullName"}),
    ]
    names = [field.input_value() for field in page.locator("[name^=inputs-][name$=-name]").all()]
    assert names[-4:] == ["topic", "annualRevenue", "createdOn", "fullName"]
    keys.go_to("Save")
    keys.follow()
    page.get_by_text("was changed successfully").wait_for()
    assert keys.unseen == []


@pytest.mark.processes
@pytest.mark.browser
def test_an_operator_that_is_not_supported_is_shown_and_marked_and_kept(studio: Site, page: Page) -> None:
    studio.manage("shell", "-c", _QUERY.format(text=PASTED))
    keys = signed_in(studio.servers[0], page)
    keys.find("Empty query")
    row = page.locator("#field-settings__query .studio-group .studio-condition").first
    operator = row.get_by_label("Operator")
    operator.wait_for()
    assert operator.input_value() == "eq-roleid"
    assert operator.get_attribute("aria-invalid") == "true"
    row.get_by_text("This operator is not supported.").wait_for()
    value = row.locator("code")
    assert value.inner_text() == LONG
    # In a line of its own, not one letter below the other.
    tall, beside = value.bounding_box(), operator.bounding_box()
    assert tall
    assert beside
    assert tall["height"] < beside["height"]
    # Another row changes; this one does not.
    keys.skip()
    keys.go_to("+ Column")
    keys.press("Enter")
    keys.stays("Column")
    text = page.locator("[name=settings__query]")
    assert f'operator="eq-roleid" value="{LONG}"' in text.input_value()
    operator.select_option("like")
    row.get_by_label("Value").wait_for()
    assert f'operator="like" value="{LONG}"' in text.input_value()
    assert operator.get_attribute("aria-invalid") is None


@pytest.mark.parametrize("enabled", [True, False])
def test_a_query_with_an_operator_that_is_not_supported_is_refused_by_its_name(
    dora: Client, enabled: bool
) -> None:
    row = Endpoint.objects.get(kind="paginated-query", name="accounts")
    before = row.settings
    data = filled(page(dora, change_url(row))) | {"settings__query": PASTED}
    if not enabled:
        del data["enabled"]
    refused = send(dora, change_url(row), data)
    assert any("eq-roleid" in message for message in errors(refused))
    row.refresh_from_db()
    assert (row.enabled, row.settings) == (True, before)
