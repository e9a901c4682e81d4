"""Alternate keys: what a write by one may say, on every platform."""

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
    """The alternate key that is made of just these attributes. Raises UnknownKey."""
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
    """The alternate key that an upsert means.

    Raises UnknownKey, and InvalidRecord for an empty value of the key, one of its attributes among `values`,
    and an attribute that only one of a create and an update may write where the upsert may be either.
    """
    found = key_of(entity, key)
    problems: list[InvalidValue] = [
        MissingRequired(name, "It is part of the key.") for name, value in key.items() if value in (None, "")
    ]
    for name in values:
        attribute = attributes.get(name)
        if name in key:
            problems.append(ReadOnlyAttribute(name, "It is part of the key."))
        elif attribute is None or not (may_create and may_update):
            continue
        elif not (attribute.creatable and attribute.updatable):
            problems.append(ReadOnlyAttribute(name, "The platform fills it in itself."))
    if problems:
        raise InvalidRecord(entity.logical_name, problems)
    return found


def written(key: Values) -> str:
    """The values of a key as errors name it: `accountnumber=A-1`."""
    return ", ".join(
        f"{name}={value.id if isinstance(value, Reference) else value}" for name, value in key.items()
    )


def unknown_record(entity: Entity, key: Values) -> RecordNotFound:
    return RecordNotFound(entity.logical_name, written(key))
