"""What expressions see at their places: for each name its fields, and for each field a value of its kind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from crmclient.metadata import Attribute
from designer.definitions import InputDefinition, UserPropertyDefinition
from designer.queries import answered
from designer.readiness.subjects import EndpointSubject, Surroundings
from designer.types import TYPES, natural_type

# Nested objects; a leaf is a sample of what stands there.
Sample: TypeAlias = Any
# Where it is not known what stands there: anything may be read of it.
UNKNOWN: Any = object()

_TEXT = "1"
_ID = "00000000-0000-0000-0000-000000000001"
_NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
_FILE = {"id": _ID, "fileName": _TEXT, "size": 1}


def of_endpoint(
    subject: EndpointSubject, inputs: Iterable[InputDefinition], record: Mapping[str, Attribute] | None
) -> dict[str, Sample]:
    """What an endpoint's expressions see; `record` None: they see no record."""
    seen: dict[str, Sample] = {
        "input": of_inputs(inputs, changes=subject.endpoint.kind.partial),
        "user": _of_callers(subject),
        "fetch": {
            known.name: of_row(answered(known.query, subject.metadata.attributes)) if known.query else UNKNOWN
            for known in subject.definition.fetchers
        },
        "now": _NOW,
    }
    return seen if record is None else {**seen, "record": of_row(record) if record else UNKNOWN}


def of_inputs(inputs: Iterable[InputDefinition], *, changes: bool = False) -> dict[str, Sample]:
    """What callers send; of a list, one item. `changes`: of an update, whose lists have parts."""
    return {known.name: _of_input(known, changes=changes) for known in inputs}


def _of_input(known: InputDefinition, *, changes: bool) -> Sample:
    kind = TYPES.get(known.type)
    if kind is None:
        return UNKNOWN
    if not kind.holds_records:
        return kind.sample
    record = of_inputs(known.inputs)
    if changes:
        return {"add": [record], "change": [{"id": _ID, **record}], "remove": [_ID]}
    return record if kind.holds_one else [record]


def _of_callers(subject: EndpointSubject) -> Mapping[str, Sample]:
    """The same for all endpoints that admit the same types; of a thousand, it is made for a handful."""
    known = subject.surroundings.samples_of_callers
    types = frozenset(subject.definition.access.caller_types)
    if types not in known:
        known[types] = of_user(subject.surroundings, subject.user_properties)
    return known[types]


def of_user(
    surroundings: Surroundings, properties: Mapping[str, UserPropertyDefinition], *, custom: bool = True
) -> dict[str, Sample]:
    """What expressions see of a caller with `properties`, by name, with or without custom ones."""
    return {
        "id": _ID,
        "type": _TEXT,
        "roles": [_TEXT],
        "claims": UNKNOWN,
        "teams": [{"id": _ID, "name": _TEXT}],
        **{
            name: _of_property(known, surroundings)
            for name, known in properties.items()
            if custom or known.kind != "custom"
        },
    }


def of_row(known: Mapping[str, Attribute]) -> dict[str, Sample]:
    """A row, with the columns of each link, `alias.attribute`, as an object."""
    row: dict[str, Sample] = {}
    for key, attribute in known.items():
        link, _, name = key.rpartition(".")
        within = row.setdefault(link, {}) if link else row
        within[name] = of_attribute(attribute)
    return row


def of_attribute(attribute: Attribute) -> Sample:
    if attribute.is_several:
        return [of_attribute(replace(attribute, is_several=False))]
    kind = natural_type(attribute)
    return _FILE if kind is None else kind.sample


def _of_property(known: UserPropertyDefinition, surroundings: Surroundings) -> Sample:
    attribute = surroundings.attribute_of(known)
    if attribute is None:
        return UNKNOWN
    return _ID if attribute.type.is_reference else of_attribute(attribute)
