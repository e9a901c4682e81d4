"""Checks of alternate keys that hold on every platform."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from crmclient.errors import (
    InvalidRecord,
    InvalidValue,
    MissingRequired,
    ReadOnlyAttribute,
    RecordNotFound,
    UnknownKey,
)
from crmclient.metadata import AlternateKey, Attribute, Entity
from crmclient.values import Reference, Values


def key_of(entity: Entity, attributes: Collection[str]) -> AlternateKey:
    """Return the alternate key that consists of exactly these attributes. Raises UnknownKey."""
    for key in entity.keys:
        if set(key.attributes) == set(attributes):
            return key
    raise UnknownKey(entity.logical_name, attributes)


def checked_key(
    entity: Entity,
    attributes: Mapping[str, Attribute],
    key: Values,
    values: Values,
    *,
    may_create: bool,
    may_update: bool,
) -> AlternateKey:
    """Return the alternate key of an upsert. `key` and `values` are by attribute, and so are `attributes`.

    Raises UnknownKey. Raises InvalidRecord for an empty value in `key`, for an attribute of the key among
    `values` and, if the upsert may both create and update, for an attribute that only one of these may write.
    """
    alternate_key = key_of(entity, key)
    problems: list[InvalidValue] = [
        MissingRequired(name, "It is part of the key.") for name, value in key.items() if value in (None, "")
    ]
    for name in values:
        attribute = attributes.get(name)
        if name in key:
            problems.append(ReadOnlyAttribute(name, "It is part of the key."))
        elif attribute is None or not (may_create and may_update):
            # Whoever encodes the values finds unknown attributes, and those that the one write cannot set.
            continue
        elif not (attribute.creatable and attribute.updatable):
            problems.append(ReadOnlyAttribute(name, "The platform fills it in itself."))
    if problems:
        raise InvalidRecord(entity.logical_name, problems)
    return alternate_key


def key_text(key: Values) -> str:
    """Return the values of a key as errors name them: `accountnumber=A-1`."""
    return ", ".join(
        f"{name}={value.id if isinstance(value, Reference) else value}" for name, value in key.items()
    )


def unknown_record(entity: Entity, key: Values) -> RecordNotFound:
    return RecordNotFound(entity.logical_name, key_text(key))
