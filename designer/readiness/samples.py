"""Samples of what expressions see: the fields of each name, with a value of the right kind for each field."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedQuery
from designer.definitions import InputDefinition, UserPropertyDefinition
from designer.queries.answered_columns import answered_attributes, unknown_keys
from designer.readiness.subjects import EndpointSubject, Surroundings
from designer.types import TYPES, natural_type

# Nested objects. A leaf is a sample of the value there.
Sample: TypeAlias = Any
# Stands for a value that is not known: any field may be read of it.
UNKNOWN: Any = object()

# A text that can be read as a number, too: expressions may convert what they read.
_TEXT = "1"
_ID = "00000000-0000-0000-0000-000000000001"
_NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
_FILE = {"id": _ID, "fileName": _TEXT, "size": 1}


def samples_for_endpoint(
    subject: EndpointSubject, inputs: Iterable[InputDefinition], record: Mapping[str, Attribute] | None
) -> dict[str, Sample]:
    """Return samples of the values that an endpoint's expressions read, by name.

    `inputs` are those that the expression reads. `record` are the attributes of the record in the path: None
    where the expression reads no record, empty where the attributes are not known.
    """
    samples: dict[str, Sample] = {
        "input": samples_of_inputs(inputs, changes=subject.endpoint.kind.partial),
        "user": _sample_of_callers(subject),
        "fetch": {
            fetcher.name: _sample_of_fetched(fetcher.query, subject)
            for fetcher in subject.definition.fetchers
        },
        "now": _NOW,
    }
    return samples if record is None else {**samples, "record": sample_of_row(record) if record else UNKNOWN}


def samples_of_inputs(inputs: Iterable[InputDefinition], *, changes: bool = False) -> dict[str, Sample]:
    """Return a sample for each input. `changes`: the inputs of an update, whose lists have parts."""
    return {
        input_definition.name: _sample_of_input(input_definition, changes=changes)
        for input_definition in inputs
    }


def _sample_of_input(input_definition: InputDefinition, *, changes: bool) -> Sample:
    """Return a sample of an input's value. `changes`: a list holds records to add, change and remove."""
    input_type = TYPES.get(input_definition.type)
    if input_type is None:
        return UNKNOWN
    if not input_type.holds_records:
        return input_type.sample
    record = samples_of_inputs(input_definition.inputs)
    if changes:
        return {"add": [record], "change": [{"id": _ID, **record}], "remove": [_ID]}
    return record if input_type.holds_one else [record]


def _sample_of_callers(subject: EndpointSubject) -> Mapping[str, Sample]:
    """Return a sample of the endpoint's callers. Endpoints that admit the same caller types share it."""
    samples_by_types = subject.surroundings.samples_of_callers
    types = frozenset(subject.definition.access.caller_types)
    if types not in samples_by_types:
        samples_by_types[types] = sample_of_user(subject.surroundings, subject.user_properties)
    return samples_by_types[types]


def sample_of_user(
    surroundings: Surroundings, properties: Mapping[str, UserPropertyDefinition], *, custom: bool = True
) -> dict[str, Sample]:
    """Return a sample of a caller with `properties`, by name. `custom`: with the custom ones among them."""
    return {
        "id": _ID,
        "type": _TEXT,
        "roles": [_TEXT],
        "claims": UNKNOWN,
        "teams": [{"id": _ID, "name": _TEXT}],
        **{
            name: _sample_of_property(user_property, surroundings)
            for name, user_property in properties.items()
            if custom or user_property.kind != "custom"
        },
    }


def _sample_of_fetched(query: DesignedQuery | None, subject: EndpointSubject) -> Sample:
    """Return a sample of the row that the query of a data fetcher finds. UNKNOWN where metadata lack what it
    selects, of which any field may be read.
    """
    attributes = subject.metadata.attributes
    if query is None or not attributes(query.entity) or unknown_keys(query, attributes):
        return UNKNOWN
    return sample_of_row(answered_attributes(query, attributes))


def sample_of_row(attributes: Mapping[str, Attribute]) -> dict[str, Sample]:
    """Return a sample of a row.

    The columns of each link, `alias.attribute`, are in an object called `alias`.
    """
    row: dict[str, Sample] = {}
    for key, attribute in attributes.items():
        link, _, name = key.rpartition(".")
        branch = row.setdefault(link, {}) if link else row
        branch[name] = sample_of_attribute(attribute)
    return row


def sample_of_attribute(attribute: Attribute) -> Sample:
    """Return a sample of the value of an attribute: a file without content for a file, a list for several
    values.
    """
    if attribute.is_several:
        # A list of one sample of its items.
        return [sample_of_attribute(replace(attribute, is_several=False))]
    input_type = natural_type(attribute)
    return _FILE if input_type is None else input_type.sample


def _sample_of_property(user_property: UserPropertyDefinition, surroundings: Surroundings) -> Sample:
    """Return a sample of the value of a user property: an id for a lookup; UNKNOWN where no single attribute
    is read.
    """
    attribute = surroundings.attribute_of(user_property)
    if attribute is None:
        return UNKNOWN
    return _ID if attribute.type.is_reference else sample_of_attribute(attribute)
