"""User properties: what `/api/context` says of a caller."""

from __future__ import annotations

from collections import Counter

from designer.names import output_key
from designer.readiness.expressions import faults
from designer.readiness.registry import Found, blocking_for_user_properties
from designer.readiness.samples import of_user
from designer.readiness.subjects import UserPropertySubject
from designer.sentences import Sentence as _


@blocking_for_user_properties("user-property-name")
def key_is_its_own(subject: UserPropertySubject) -> Found:
    name = subject.definition.name
    key = output_key(name)
    if not key:
        yield _("“%(name)s” gives no key: write letters.", name=name), "name"
    for other in subject.surroundings.user_properties:
        if other != name and output_key(other) == key:
            yield (
                _(
                    "“%(name)s” and “%(other)s” both become “%(key)s” in the answer.",
                    name=name,
                    other=other,
                    key=key,
                ),
                "name",
            )


@blocking_for_user_properties("user-property-attribute")
def attribute_exists(subject: UserPropertySubject) -> Found:
    definition = subject.definition
    if definition.kind != "field" or not subject.metadata.users:
        return
    if not definition.attribute:
        yield _("Choose the attribute of the user's record."), "attribute"
    elif definition.attribute not in subject.metadata.attributes_of_users():
        yield (
            _(
                "%(user)s has no attribute “%(attribute)s”.",
                user=subject.metadata.users,
                attribute=definition.attribute,
            ),
            "attribute",
        )


@blocking_for_user_properties("user-property-relationship")
def relationship_and_columns_exist(subject: UserPropertySubject) -> Found:
    definition = subject.definition
    if definition.kind != "related" or not subject.metadata.users:
        return
    relationships = {known.name: known for known in subject.metadata.relationships_of_users()}
    if not definition.relationship:
        yield _("Choose the relationship that leads to the data."), "relationship"
        return
    if definition.relationship not in relationships:
        yield (
            _(
                "%(user)s has no relationship “%(relationship)s”.",
                user=subject.metadata.users,
                relationship=definition.relationship,
            ),
            "relationship",
        )
        return
    if not definition.columns:
        yield _("Choose at least one column."), "columns"
    relationship = relationships[definition.relationship]
    target = subject.metadata.related_to_users(relationship)
    attributes = subject.metadata.attributes(target)
    for column in definition.columns:
        if column.attribute not in attributes:
            yield (
                _("%(target)s has no attribute “%(attribute)s”.", target=target, attribute=column.attribute),
                "columns",
            )


@blocking_for_user_properties("user-property-columns")
def column_keys_are_different(subject: UserPropertySubject) -> Found:
    keys = Counter(output_key(column.name or column.attribute) for column in subject.definition.columns)
    for key, count in keys.items():
        if count > 1:
            yield _("%(count)s columns become “%(key)s” in the answer.", count=count, key=key), "columns"


@blocking_for_user_properties("user-property-expression")
def expression_compiles(subject: UserPropertySubject) -> Found:
    if subject.definition.kind == "custom":
        seen = {"user": of_user(subject.surroundings, custom=False)}
        for fault in faults(subject.definition.expression, seen):
            yield _("The expression: %(fault)s", fault=fault), "expression"
