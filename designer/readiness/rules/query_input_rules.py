"""Inputs of queries: parameters in a query string, each compared with attributes."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.query.shape import LISTS
from designer.definitions import InputDefinition
from designer.endpoint_facts.parameter_types import fitting_types
from designer.endpoint_facts.query_parameters import parameters_of
from designer.names import RESERVED_PARAMETERS
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES


@blocking("query-input-name")
def names_are_free(subject: EndpointSubject) -> Found:
    """Find parameters that have the name of one that every query has."""
    for parameter in _parameters_of_query(subject):
        if parameter.name.lower() in RESERVED_PARAMETERS:
            yield (
                _(
                    "“%(name)s” is a parameter that every query has. Choose another name.",
                    name=parameter.name,
                ),
                _place_in_input(parameter, "name"),
            )


@blocking("query-input-type")
def types_fit_the_conditions(subject: EndpointSubject) -> Found:
    """Find parameters whose type a query string cannot hold, or does not fit a condition."""
    uses = parameters_of(subject.definition)
    for parameter in _parameters_of_query(subject):
        input_type = TYPES.get(parameter.type)
        if input_type is not None and not input_type.in_query:
            yield (
                _(
                    "“%(name)s”: a query string cannot hold %(type)s. Choose another type.",
                    name=parameter.name,
                    type=parameter.type,
                ),
                _place_in_input(parameter, "type"),
            )
            continue
        for use in uses.get(parameter.name, ()):
            attribute = subject.metadata.attributes(use.entity).get(use.attribute)
            if attribute is None:
                continue
            possible_types = fitting_types(use.operator, attribute)
            if possible_types and parameter.type not in possible_types:
                yield (
                    _(
                        "“%(attribute)s” %(operator)s @%(name)s takes %(wanted)s; the input is %(type)s.",
                        attribute=use.attribute,
                        operator=use.operator.value,
                        name=parameter.name,
                        wanted=possible_types[0],
                        type=parameter.type,
                    ),
                    _place_in_input(parameter, "type"),
                )


@blocking("query-input-list")
def parameters_are_lists_everywhere_or_nowhere(subject: EndpointSubject) -> Found:
    """Find parameters that one condition compares as a list, and another as one value."""
    uses = parameters_of(subject.definition)
    for parameter in _parameters_of_query(subject):
        takes_list = {use.operator in LISTS for use in uses.get(parameter.name, ())}
        if len(takes_list) > 1:
            yield (
                _(
                    "@%(name)s stands for several values in one condition and for one in "
                    "another: make two inputs of it.",
                    name=parameter.name,
                ),
                _place_in_input(parameter, "name"),
            )


def _parameters_of_query(subject: EndpointSubject) -> Iterator[InputDefinition]:
    """Yield the inputs of a query; none for another kind."""
    if subject.definition.settings.asks_query:
        yield from subject.inputs


def _place_in_input(parameter: InputDefinition, field: str) -> str:
    return f"inputs.{parameter.name}.{field}"
