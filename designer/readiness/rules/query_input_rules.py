"""Inputs of queries: parameters in a query string, each compared with attributes."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.query.shape import LISTS
from designer.definitions import InputDefinition
from designer.names import RESERVED_PARAMETERS
from designer.parameter_types import fitting_types
from designer.query_parameters import parameters_of
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES


@blocking("query-input-name")
def names_are_free(subject: EndpointSubject) -> Found:
    for known in _inputs(subject):
        if known.name.lower() in RESERVED_PARAMETERS:
            yield (
                _("“%(name)s” is every query's own parameter: take another name.", name=known.name),
                _at(known, "name"),
            )


@blocking("query-input-type")
def types_fit_the_conditions(subject: EndpointSubject) -> Found:
    uses = parameters_of(subject.definition)
    for known in _inputs(subject):
        kind = TYPES.get(known.type)
        if kind is not None and not kind.in_query:
            yield (
                _("“%(name)s”: a query string holds no %(type)s.", name=known.name, type=known.type),
                _at(known, "type"),
            )
            continue
        for use in uses.get(known.name, ()):
            attribute = subject.metadata.attributes(use.entity).get(use.attribute)
            if attribute is None:
                continue
            wanted = fitting_types(use.operator, attribute)
            if wanted and known.type not in wanted:
                yield (
                    _(
                        "“%(attribute)s” %(operator)s @%(name)s takes %(wanted)s; the input is %(type)s.",
                        attribute=use.attribute,
                        operator=use.operator.value,
                        name=known.name,
                        wanted=wanted[0],
                        type=known.type,
                    ),
                    _at(known, "type"),
                )


@blocking("query-input-list")
def lists_are_lists_everywhere(subject: EndpointSubject) -> Found:
    uses = parameters_of(subject.definition)
    for known in _inputs(subject):
        several = {use.operator in LISTS for use in uses.get(known.name, ())}
        if len(several) > 1:
            yield (
                _(
                    "@%(name)s stands for several values in one condition and for one in "
                    "another: make two inputs of it.",
                    name=known.name,
                ),
                _at(known, "name"),
            )


def _inputs(subject: EndpointSubject) -> Iterator[InputDefinition]:
    if subject.definition.settings.asks_query:
        yield from subject.inputs


def _at(known: InputDefinition, field: str) -> str:
    return f"inputs.{known.name}.{field}"
