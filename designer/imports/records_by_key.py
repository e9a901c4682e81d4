"""Finding the records that documents name by their keys."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from crmclient import Platform, Value
from crmclient.errors import PlatformError
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from designer.definitions import InputDefinition
from designer.documents.record_keys import NoSuchRecord, RecordKey
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.sentences import Sentence
from designer.types import InvalidInput, Limits, natural_type


class PlatformRecords:
    """Implements `designer.documents.record_keys.Records`, and asks the platform."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def id_of(self, record: RecordKey) -> str:
        """Return the id of the one record with the key. Raises NoSuchRecord, also when the platform cannot be
        asked.
        """
        try:
            values = checked_key(record, Metadata(self._platform))
            primary_id = self._platform.entities()[record.entity].primary_id
            same = Filter(tuple(Condition(name, Operator.EQ, (value,)) for name, value in values.items()))
            # Two rows are enough to know that the key does not identify one record.
            page = Page(size=2)
            rows = self._platform.query(Query(record.entity, (Column(primary_id),), same), page).rows
        except (PlatformError, MetadataUnavailable) as error:
            raise NoSuchRecord(
                Sentence(
                    "The platform could not be asked for %(record)s: %(why)s Try again later.",
                    record=record.name,
                    why=str(error),
                )
            ) from error
        if not rows:
            raise NoSuchRecord(
                Sentence(
                    "The platform has no record %(record)s. Create it there, or correct the key.",
                    record=record.name,
                )
            )
        if len(rows) > 1:
            raise NoSuchRecord(
                Sentence(
                    "The platform has several records %(record)s. Add an attribute to the key that tells "
                    "them apart.",
                    record=record.name,
                )
            )
        return str(rows[0][primary_id])


class UnaskedRecords:
    """Implements `designer.documents.record_keys.Records` where no platform can be asked.

    Keys are checked against the metadata. The id that stands for a record belongs to no real one.
    """

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata

    def id_of(self, record: RecordKey) -> str:
        """Return an id made from the key, the same each time. Raises NoSuchRecord for a key that fits no
        record.
        """
        # The recorded metadata itself keeps a list of the entities that it lacks.
        with suppress(MetadataUnavailable):
            checked_key(record, self._metadata)
        return str(uuid.uuid5(uuid.NAMESPACE_URL, record.name))


def checked_key(record: RecordKey, metadata: Metadata) -> Mapping[str, Value]:
    """Return the values of the key as the platform has them. Raises NoSuchRecord and MetadataUnavailable."""
    if record.entity not in metadata.entities():
        raise NoSuchRecord(
            Sentence(
                "%(record)s: the platform has no entity “%(entity)s”. Correct the name.",
                record=record.name,
                entity=record.entity,
            )
        )
    return {name: _value_of_key(record, name, given, metadata) for name, given in record.key.items()}


def _value_of_key(record: RecordKey, name: str, given: Any, metadata: Metadata) -> Value:
    """Return the value of the attribute `name` in a key, as the platform has it.

    Raises NoSuchRecord for an unknown attribute, one that cannot be compared with a value, and a wrong value.
    """
    attribute = metadata.attributes(record.entity).get(name)
    if attribute is None:
        raise NoSuchRecord(
            Sentence(
                "%(record)s: %(entity)s has no attribute “%(attribute)s”. Correct the name.",
                record=record.name,
                entity=record.entity,
                attribute=name,
            )
        )
    input_type = natural_type(attribute)
    if input_type is None or input_type.is_several:
        raise NoSuchRecord(
            Sentence(
                "%(record)s: “%(attribute)s” cannot be searched by a value. Choose another attribute.",
                record=record.name,
                attribute=name,
            )
        )
    options = metadata.option_set(name, record.entity) if attribute.option_set else None
    try:
        limits = Limits.of(InputDefinition(name=name), attribute, options)
        value: Value = input_type.as_parameter.compile(limits)(given)
    except InvalidInput as error:
        raise NoSuchRecord(
            Sentence(
                "%(record)s: “%(attribute)s”: %(why)s",
                record=record.name,
                attribute=name,
                why=error.message,
            )
        ) from error
    return value
