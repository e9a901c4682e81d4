"""User properties: what `/api/context` says of a caller."""

from __future__ import annotations

from collections import Counter

from designer.names import RESERVED_PROPERTIES, output_key
from designer.readiness.expressions import faults
from designer.readiness.registry import Found, blocking_for_user_properties
from designer.readiness.rules.column_rules import not_returned
from designer.readiness.samples import sample_of_user
from designer.readiness.subjects import UserPropertySubject
from designer.sentences import Sentence as _


@blocking_for_user_properties("user-property-name")
def key_is_its_own(subject: UserPropertySubject) -> Found:
    """Find a name that gives no key of the answer, or the key of another property of the caller type."""
    name = subject.definition.name
    key = output_key(name)
    if not key:
        yield _("“%(name)s” gives no key of the answer. Use letters.", name=name), "name"
    for other in subject.surroundings.properties_by_type[subject.definition.caller_type]:
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


@blocking_for_user_properties("user-property-reserved")
def name_is_not_reserved(subject: UserPropertySubject) -> Found:
    """Find a name that every caller has a value for already."""
    name = subject.definition.name
    if (reserved := output_key(name)) in RESERVED_PROPERTIES:
        yield (
            _(
                "The user property “%(name)s” has a reserved name: expressions read user.%(reserved)s of "
                "every caller. Rename the property, for example to “my%(other)s”.",
                name=name,
                reserved=reserved,
                other=reserved.capitalize(),
            ),
            "name",
        )


@blocking_for_user_properties("user-property-type")
def caller_type_has_what_it_reads(subject: UserPropertySubject) -> Found:
    """Find a caller type that does not exist, or that has no record to read."""
    definition, type = subject.definition, subject.caller_type
    if type is None:
        yield _("There is no caller type “%(name)s”.", name=definition.caller_type), "caller_type"
    elif definition.kind != "custom" and not type.is_of_users and not type.entity:
        yield (
            _(
                "Callers of the type “%(type)s” have no record to read. Make the property a custom one, or "
                "choose another type.",
                type=type.name,
            ),
            "kind",
        )


@blocking_for_user_properties("user-property-attribute")
def attribute_exists(subject: UserPropertySubject) -> Found:
    """Find an attribute of the caller's record that is not chosen, does not exist or cannot be read."""
    definition = subject.definition
    if definition.kind != "field" or not subject.entity:
        return
    if not definition.attribute:
        yield _("Choose the attribute of the user's record."), "attribute"
        return
    attribute = subject.metadata.attributes(subject.entity).get(definition.attribute)
    if attribute is None:
        yield (
            _(
                "%(user)s has no attribute “%(attribute)s”.",
                user=subject.entity,
                attribute=definition.attribute,
            ),
            "attribute",
        )
    elif not attribute.readable:
        yield not_returned(definition.attribute), "attribute"


@blocking_for_user_properties("user-property-relationship")
def relationship_and_columns_exist(subject: UserPropertySubject) -> Found:
    """Find a relationship or columns of related data that are not chosen, do not exist or cannot be read."""
    definition = subject.definition
    if definition.kind != "related" or not subject.entity:
        return
    relationships = {
        candidate.name: candidate for candidate in subject.metadata.relationships(subject.entity)
    }
    if not definition.relationship:
        yield _("Choose the relationship that leads to the data."), "relationship"
        return
    if definition.relationship not in relationships:
        yield (
            _(
                "%(user)s has no relationship “%(relationship)s”.",
                user=subject.entity,
                relationship=definition.relationship,
            ),
            "relationship",
        )
        return
    if not definition.columns:
        yield _("Choose at least one column."), "columns"
    relationship = relationships[definition.relationship]
    target = subject.metadata.related_to(subject.entity, relationship)
    lookup = subject.metadata.attributes(relationship.referencing).get(
        relationship.referencing_attribute or ""
    )
    if lookup is not None and not lookup.readable:
        yield not_returned(lookup.logical_name), "relationship"
    attributes = subject.metadata.attributes(target)
    for column in definition.columns:
        attribute = attributes.get(column.attribute)
        if attribute is None:
            yield (
                _("%(target)s has no attribute “%(attribute)s”.", target=target, attribute=column.attribute),
                "columns",
            )
        elif not attribute.readable:
            yield not_returned(column.attribute), "columns"


@blocking_for_user_properties("user-property-columns")
def column_keys_are_different(subject: UserPropertySubject) -> Found:
    """Find keys of the answer that several columns have."""
    keys = Counter(output_key(column.name or column.attribute) for column in subject.definition.columns)
    for key, count in keys.items():
        if count > 1:
            yield _("%(count)s columns become “%(key)s” in the answer.", count=count, key=key), "columns"


@blocking_for_user_properties("user-property-expression")
def expression_compiles(subject: UserPropertySubject) -> Found:
    """Find mistakes in the expression of a custom property. It may read the other properties, but no custom
    ones.
    """
    if subject.definition.kind == "custom":
        properties = subject.surroundings.properties_by_type[subject.definition.caller_type]
        samples = {"user": sample_of_user(subject.surroundings, properties, custom=False)}
        for fault in faults(subject.definition.expression, samples):
            yield _("The expression: %(fault)s", fault=fault), "expression"
