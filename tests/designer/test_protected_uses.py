"""What a protected module uses stays as it is: user properties, roles and row rules, however it uses them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from designer.configuration import Configuration, Endpoint, Protection
from designer.definitions import (
    AccessDefinition,
    BindingDefinition,
    ColumnDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    InputDefinition,
    PreconditionDefinition,
    RowRuleEntry,
    UserPropertyDefinition,
)
from designer.documents.protection import protection_refusals
from designer.models import Endpoint as EndpointRow
from designer.models import UserProperty
from tests.designer.judged import BOUND, EXPOSED, MAIL, NAME, configured, create, read
from tests.designer.proposing import create_endpoint, live, member, protect, save
from tests.row_rules import only_rule

BY_MAIL = '<filter><condition attribute="name" operator="eq" value="@user.mail"/></filter>'
RULE = (RowRuleEntry(filter=BY_MAIL, roles=("buyer",)),)
THINGS = EXPOSED.model_copy(update={"row_rule": RULE})
UNITS = ExposedEntityDefinition(module="shop", segment="units", entity="unit", row_rule=RULE)
OTHERS = AccessDefinition(caller_types=("contact",))
ANYONE = AccessDefinition(authentication_required=False)


def _fetch(entity: str, inside: str = "") -> str:
    return f'<fetch><entity name="{entity}"><attribute name="name"/>{inside}</entity></fetch>'


LINKED = _fetch("thing", '<link-entity name="unit" from="name" to="name" alias="u"/>')


def _query(fetch: str) -> Endpoint:
    return create(
        kind="multi-query", name="all", exposure="", entity=None, inputs=(), bindings=(),
        settings={"query": fetch},
    )  # fmt: skip


def _fetched(fetch: str) -> Endpoint:
    return create(fetchers=(FetcherDefinition(name="one", query=fetch, apply_row_rules=True),))


def _bound(source: Any, value: str) -> Endpoint:
    return create(bindings=(BOUND, BindingDefinition(attribute="colour", source=source, value=value)))


def _with_items(source: Any, value: str) -> Endpoint:
    """A create whose items have items with a binding."""
    binding = BindingDefinition(attribute="name", source=source, value=value)
    pieces = InputDefinition(name="pieces", type="List", relationship="thing_parts", bindings=(binding,))
    parts = InputDefinition(name="parts", type="List", relationship="thing_parts", inputs=(NAME, pieces))
    return create(inputs=(NAME, parts))


def _associate() -> Endpoint:
    settings = {"relationship": "thing_units", "related": "units"}
    return create(kind="associate", name="members", inputs=(), bindings=(), settings=settings)


def _column(expression: str, **values: Any) -> Endpoint:
    made = read(**values)
    columns = (ColumnDefinition(name="of", expression=expression),)
    return replace(made, definition=made.definition.model_copy(update={"columns": columns}))


def _ruled(endpoint: Endpoint) -> Endpoint:
    """The endpoint in a module that has a row rule for units."""
    return replace(endpoint, exposures=(EXPOSED, UNITS))


# The ways by which a row rule of another exposed entity applies.
BY_ANOTHER_RULE: dict[str, Endpoint] = {
    "an entity that a query reads": _ruled(_query(_fetch("unit"))),
    "an entity that a query links": _ruled(_query(LINKED)),
    "an entity that a data fetcher reads": _ruled(_fetched(_fetch("unit"))),
    "a related entity": _ruled(_associate()),
    "an entity of items": _ruled(_with_items("constant", "A")),
}
WAYS: dict[str, Endpoint] = {
    "a binding": _bound("user", "mail"),
    "a binding of an item": _with_items("user", "mail"),
    "an expression": _bound("expression", "lower(user.mail)"),
    "an expression with spaces": _bound("expression", "user . mail"),
    "an expression that reads it by a key": _bound("expression", "user['mail']"),
    "an expression of an item": _with_items("expression", "user.mail"),
    "a parameter of a query": _query(_fetch("thing", BY_MAIL)),
    "a parameter of a data fetcher": _fetched(_fetch("thing", BY_MAIL)),
    "a row rule of its own": read("name", row_rule=BY_MAIL),
    "its entity's row rule": read("name", entity=THINGS),
    "a pre-condition": create(preconditions=(PreconditionDefinition(expression="user.mail != ''"),)),
    "a column": _column("user.mail"),
    "a column for anyone": _column("user.mail", access=ANYONE),
    "a custom property": _bound("user", "greeting"),
    "a custom property that reads by a key": _bound("user", "shout"),
    **BY_ANOTHER_RULE,
}
PROPERTIES = (
    MAIL,
    UserPropertyDefinition(name="greeting", kind="custom", expression="'Dear ' + user.mail"),
    UserPropertyDefinition(name="shout", kind="custom", expression="upper(user['mail'])"),
)
NO_WAYS: dict[str, Endpoint] = {
    "another property": _bound("user", "mailbox"),
    "an expression with another property": _bound("expression", "user.mailbox"),
    "an input of this name": _bound("expression", "input.mail + record.user.mail"),
    "a property of other callers": _column("user.mail", access=OTHERS),
    "a draft": create(enabled=False, preconditions=(PreconditionDefinition(expression="user.mail != ''"),)),
    "a row rule that nothing applies": _ruled(_query(_fetch("thing"))),
}


def _served(endpoint: Endpoint, **changes: Any) -> Configuration:
    served = configured(endpoint, properties=PROPERTIES)
    return replace(served, entities=(EXPOSED, UNITS), protections=(Protection("shop"),), **changes)


def _refused(before: Configuration, now: Configuration) -> str:
    return " ".join(str(finding.message) for finding in protection_refusals(before, now))


def _property_changed(endpoint: Endpoint) -> str:
    before = _served(endpoint)
    changed = MAIL.model_copy(update={"attribute": "internalemailaddress"})
    return _refused(before, replace(before, user_properties=(changed, *PROPERTIES[1:])))


@pytest.mark.parametrize("way", WAYS)
def test_a_user_property_in_use_is_changed_by_a_proposal_alone(way: str) -> None:
    assert "user property mail" in _property_changed(WAYS[way])


@pytest.mark.parametrize("way", WAYS)
def test_a_user_property_that_is_read_already_is_added_by_a_proposal_alone(way: str) -> None:
    """Callers of another type have the name then, and reach what a row rule compares with it."""
    before = _served(WAYS[way])
    without = replace(before, user_properties=PROPERTIES[1:])
    assert "user property mail" in _refused(without, before)


@pytest.mark.parametrize("way", NO_WAYS)
def test_a_user_property_that_is_not_in_use_is_changed_at_once(way: str) -> None:
    assert not _property_changed(NO_WAYS[way])


@pytest.mark.parametrize("way", BY_ANOTHER_RULE)
def test_a_role_in_a_row_rule_is_removed_by_a_proposal_alone(way: str) -> None:
    before = _served(BY_ANOTHER_RULE[way])
    assert "role buyer" in _refused(before, replace(before, roles=()))


@pytest.mark.parametrize("way", BY_ANOTHER_RULE)
def test_a_row_rule_is_opened_by_a_proposal_alone(way: str) -> None:
    before = _served(BY_ANOTHER_RULE[way])
    opened = UNITS.model_copy(update={"row_rule": ()})
    assert "entity shop.units" in _refused(before, replace(before, entities=(EXPOSED, opened)))


def test_a_form_does_not_change_the_property_of_a_binding(portico: None) -> None:
    made = UserProperty.objects.create(name="used", attribute="fullname")
    binding = create_endpoint().bindings.create(attribute="description", source="user", value="used")
    _save_is_refused_until(made, binding)


def test_a_form_does_not_change_the_property_of_a_row_rule_that_a_query_applies(portico: None) -> None:
    made = UserProperty.objects.create(name="used", attribute="fullname")
    only_rule(BY_MAIL.replace("mail", "used"), segment="accounts", module="sales")
    # Queries alone: they have no exposed entity of their own.
    EndpointRow.objects.filter(module__segment="sales", entity__isnull=False).update(enabled=False)
    queries = EndpointRow.objects.filter(module__segment="sales", enabled=True)
    _save_is_refused_until(made, queries)


def _save_is_refused_until(made: UserProperty, uses: Any) -> None:
    """Whoever saves the property is refused, until its `uses` are deleted."""
    paul: Client = member("paul", "Publisher")
    protect("sales")
    before = live()
    save(paul, made, attribute="internalemailaddress")
    assert live() == before
    uses.delete()
    protect("sales")
    save(paul, made, attribute="internalemailaddress")
    made.refresh_from_db()
    assert made.attribute == "internalemailaddress"
