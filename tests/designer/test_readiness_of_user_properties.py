"""Readiness of user properties: each rule finds what it is for."""

from __future__ import annotations

import pytest

from designer.definitions import (
    ColumnDefinition,
    UserPropertyDefinition,
)
from designer.readiness import Checker
from tests.designer.judged import (
    MAIL,
    configured,
    metadata,
)

PROPERTY_FINDINGS = {
    "a name without letters": ("user-property-name", MAIL.model_copy(update={"name": "--"})),
    "a key that another has": ("user-property-name", MAIL.model_copy(update={"name": "Mail"})),
    "no attribute": ("user-property-attribute", UserPropertyDefinition(name="x")),
    "unknown attribute": ("user-property-attribute", UserPropertyDefinition(name="x", attribute="gone")),
    "an attribute that the platform never answers": (
        "user-property-attribute", UserPropertyDefinition(name="x", attribute="pin"),
    ),
    "no relationship": ("user-property-relationship", UserPropertyDefinition(name="x", kind="related")),
    "unknown relationship": (
        "user-property-relationship", UserPropertyDefinition(name="x", kind="related", relationship="gone"),
    ),
    "a name that expressions read of every caller": (
        "user-property-reserved", UserPropertyDefinition(name="Roles", kind="custom", expression="1"),
    ),
    "a caller type that there is not": (
        "user-property-type", UserPropertyDefinition(name="x", caller_type="robot", attribute="mail"),
    ),
    "a record of callers that have none": (
        "user-property-type", UserPropertyDefinition(name="x", caller_type="service", attribute="mail"),
    ),
    "no columns": (
        "user-property-relationship",
        UserPropertyDefinition(name="x", kind="related", relationship="unit_users"),
    ),
    "unknown column": (
        "user-property-relationship",
        UserPropertyDefinition(
            name="x", kind="related", relationship="unit_users", columns=(ColumnDefinition(attribute="gone"),)
        ),
    ),
    "a column that the platform never answers": (
        "user-property-relationship",
        UserPropertyDefinition(
            name="x", kind="related", relationship="unit_users",
            columns=(ColumnDefinition(attribute="vault"),),
        ),
    ),
    "a relationship over a lookup that the platform never answers": (
        "user-property-relationship",
        UserPropertyDefinition(
            name="x", kind="related", relationship="keeper_users",
            columns=(ColumnDefinition(attribute="name"),),
        ),
    ),
    "columns of one key": (
        "user-property-columns",
        UserPropertyDefinition(
            name="x", kind="related", relationship="unit_users",
            columns=(ColumnDefinition(attribute="name"), ColumnDefinition(attribute="name", name="Name")),
        ),
    ),
    "an expression that does not compile": (
        "user-property-expression", UserPropertyDefinition(name="x", kind="custom", expression="usr.roles"),
    ),
}  # fmt: skip


def found_of_property(user_property: UserPropertyDefinition) -> set[str]:
    checker = Checker(configured(properties=(MAIL, user_property)), metadata())
    return {finding.rule for finding in checker.user_property(user_property)}


@pytest.mark.parametrize("case", PROPERTY_FINDINGS)
def test_a_rule_of_user_properties_finds_what_it_is_for(case: str) -> None:
    rule, user_property = PROPERTY_FINDINGS[case]
    assert rule in found_of_property(user_property)


@pytest.mark.parametrize(
    "declared",
    [
        UserPropertyDefinition(name="id", attribute="systemuserid"),
        UserPropertyDefinition(
            name="unit",
            kind="related",
            relationship="unit_users",
            columns=(ColumnDefinition(attribute="name"),),
        ),
        UserPropertyDefinition(name="isBuyer", kind="custom", expression="'buyer' in user.roles"),
    ],
)
def test_nothing_is_found_of_a_good_user_property(declared: UserPropertyDefinition) -> None:
    assert found_of_property(declared) == set()
