"""Samples of what expressions see: the fields of each name, with a value of the right kind for each field."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from crmclient.metadata import Attribute
from designer.definitions import InputDefinition, UserPropertyDefinition
from designer.queries.answered_columns import answered
from designer.readiness.subjects import EndpointSubject, Surroundings
from designer.types import TYPES, natural_type

# Nested objects. A leaf is a sample of the value there.
Sample: TypeAlias = Any
# Stands for a value that is not known: any field may be read of it.
UNKNOWN: Any = object()

_TEXT = "1"
_ID = "00000000-0000-0000-0000-000000000001"
_NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
_FILE = {"id": _ID, "fileName": _TEXT, "size": 1}


def of_endpoint(
    subject: EndpointSubject, inputs: Iterable[InputDefinition], record: Mapping[str, Attribute] | None
) -> dict[str, Sample]:
    """Return samples of the values that an endpoint's expressions read, by name.

    Without `record`, they read no record.
    """
    samples: dict[str, Sample] = {
        "input": of_inputs(inputs, changes=subject.endpoint.kind.partial),
        "user": _of_callers(subject),
        "fetch": {
            fetcher.name: of_row(answered(fetcher.query, subject.metadata.attributes))
            if fetcher.query
            else UNKNOWN
            for fetcher in subject.definition.fetchers
        },
        "now": _NOW,
    }
    return samples if record is None else {**samples, "record": of_row(record) if record else UNKNOWN}


def of_inputs(inputs: Iterable[InputDefinition], *, changes: bool = False) -> dict[str, Sample]:
    """Return a sample for each input. `changes`: the inputs of an update, whose lists have parts."""
    return {
        input_definition.name: _of_input(input_definition, changes=changes) for input_definition in inputs
    }


def _of_input(input_definition: InputDefinition, *, changes: bool) -> Sample:
    """Return a sample of an input's value. `changes`: a list holds records to add, change and remove."""
    kind = TYPES.get(input_definition.type)
    if kind is None:
        return UNKNOWN
    if not kind.holds_records:
        return kind.sample
    record = of_inputs(input_definition.inputs)
    if changes:
        return {"add": [record], "change": [{"id": _ID, **record}], "remove": [_ID]}
    return record if kind.holds_one else [record]


def _of_callers(subject: EndpointSubject) -> Mapping[str, Sample]:
    """Return a sample of the endpoint's callers. Endpoints that admit the same caller types share it."""
    samples_by_types = subject.surroundings.samples_of_callers
    types = frozenset(subject.definition.access.caller_types)
    if types not in samples_by_types:
        samples_by_types[types] = of_user(subject.surroundings, subject.user_properties)
    return samples_by_types[types]


def of_user(
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
            name: _of_property(user_property, surroundings)
            for name, user_property in properties.items()
            if custom or user_property.kind != "custom"
        },
    }


def of_row(attributes: Mapping[str, Attribute]) -> dict[str, Sample]:
    """Return a sample of a row.

    The columns of each link, `alias.attribute`, are in an object called `alias`.
    """
    row: dict[str, Sample] = {}
    for key, attribute in attributes.items():
        link, _, name = key.rpartition(".")
        branch = row.setdefault(link, {}) if link else row
        branch[name] = of_attribute(attribute)
    return row


def of_attribute(attribute: Attribute) -> Sample:
    """Return a sample of the value of an attribute."""
    if attribute.is_several:
        return [of_attribute(replace(attribute, is_several=False))]
    kind = natural_type(attribute)
    return _FILE if kind is None else kind.sample


def _of_property(user_property: UserPropertyDefinition, surroundings: Surroundings) -> Sample:
    attribute = surroundings.attribute_of(user_property)
    if attribute is None:
        return UNKNOWN
    return _ID if attribute.type.is_reference else of_attribute(attribute)
