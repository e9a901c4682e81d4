"""User properties: what `/api/context` says of a caller."""

from __future__ import annotations

from collections import Counter

from designer.expressions import Expression, ExpressionError
from designer.names import output_key
from designer.readiness.metadata import USER
from designer.readiness.registry import Found, blocking_for_user_properties
from designer.readiness.subjects import UserPropertySubject

EXPRESSION_NAMES = ("user",)


@blocking_for_user_properties("user-property-name")
def key_is_its_own(subject: UserPropertySubject) -> Found:
    name = subject.definition.name
    key = output_key(name)
    if not key:
        yield f"“{name}” gives no key: write letters.", "name"
    for other in subject.surroundings.user_properties:
        if other != name and output_key(other) == key:
            yield f"“{name}” and “{other}” both become “{key}” in the answer.", "name"


@blocking_for_user_properties("user-property-attribute")
def attribute_exists(subject: UserPropertySubject) -> Found:
    definition = subject.definition
    if definition.kind != "field":
        return
    if not definition.attribute:
        yield "Choose the attribute of the user's record.", "attribute"
    elif definition.attribute not in subject.metadata.attributes(USER):
        yield f"{USER} has no attribute “{definition.attribute}”.", "attribute"


@blocking_for_user_properties("user-property-relationship")
def relationship_and_columns_exist(subject: UserPropertySubject) -> Found:
    definition = subject.definition
    if definition.kind != "related":
        return
    relationships = {known.name: known for known in subject.metadata.relationships_of_users()}
    if not definition.relationship:
        yield "Choose the relationship that leads to the data.", "relationship"
        return
    if definition.relationship not in relationships:
        yield f"{USER} has no relationship “{definition.relationship}”.", "relationship"
        return
    if not definition.columns:
        yield "Choose at least one column.", "columns"
    relationship = relationships[definition.relationship]
    target = relationship.referenced if relationship.referencing == USER else relationship.referencing
    attributes = subject.metadata.attributes(target)
    for column in definition.columns:
        if column.attribute not in attributes:
            yield f"{target} has no attribute “{column.attribute}”.", "columns"


@blocking_for_user_properties("user-property-columns")
def column_keys_are_different(subject: UserPropertySubject) -> Found:
    keys = Counter(output_key(column.name or column.attribute) for column in subject.definition.columns)
    for key, count in keys.items():
        if count > 1:
            yield f"{count} columns become “{key}” in the answer.", "columns"


@blocking_for_user_properties("user-property-expression")
def expression_compiles(subject: UserPropertySubject) -> Found:
    if subject.definition.kind == "custom":
        try:
            Expression(subject.definition.expression, EXPRESSION_NAMES)
        except ExpressionError as error:
            yield f"The expression: {error}", "expression"
