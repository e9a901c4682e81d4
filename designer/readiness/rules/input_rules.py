"""What callers may send."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from designer.definitions import InputDefinition
from designer.endpoint_facts.query_parameters import parameters_of
from designer.endpoint_facts.query_values import QueryValues
from designer.kinds import Section
from designer.names import INPUT_PATTERN
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES, InputType, InvalidInput, Limits, Reader, holds_records

_NAME = re.compile(INPUT_PATTERN)
# Values of a limit that is not set.
_UNSET = (None, "", ())
_LABELS = {
    "minimum": _("a smallest number"),
    "maximum": _("a largest number"),
    "min_length": _("a minimum length"),
    "max_length": _("a maximum length"),
    "pattern": _("a pattern"),
    "allowed": _("allowed values"),
}


@blocking("input-name")
def names_are_well_formed(subject: EndpointSubject) -> Found:
    """Find names of inputs that are not letters, digits and _, or that start with a digit."""
    for definition in subject.inputs:
        if not _NAME.match(definition.name):
            yield (
                _(
                    "“%(name)s” cannot name an input. Use letters, digits and _, and do not start with a "
                    "digit.",
                    name=definition.name,
                ),
                f"inputs.{definition.name}.name",
            )


@blocking("input-repeated")
def names_are_different(subject: EndpointSubject) -> Found:
    """Find inputs of the same name. Upper and lower case make no difference."""
    names_by_lower: defaultdict[str, list[str]] = defaultdict(list)
    for definition in subject.inputs:
        names_by_lower[definition.name.lower()].append(definition.name)
    for definition in subject.inputs:
        same = names_by_lower[definition.name.lower()]
        if len(same) == 1:
            continue
        other = next((name for name in same if name != definition.name), None)
        yield (
            _("Two inputs are called “%(name)s”. Rename one of them.", name=definition.name)
            if other is None
            else _(
                "The inputs “%(name)s” and “%(other)s” differ only in upper and lower case. Rename one of "
                "them.",
                name=definition.name,
                other=other,
            ),
            _place_in_input(definition, "name"),
        )


@blocking("input-type")
def types_exist(subject: EndpointSubject) -> Found:
    """Find inputs whose type does not exist."""
    for definition in subject.inputs:
        if definition.type not in TYPES:
            yield (
                _(
                    "Input “%(name)s” has the type “%(type)s”, which does not exist.",
                    name=definition.name,
                    type=definition.type,
                ),
                _place_in_input(definition, "type"),
            )


@blocking("input-limits")
def limits_leave_something(subject: EndpointSubject) -> Found:
    """Find inputs whose limits no value can meet."""
    for definition in subject.inputs:
        if (
            definition.minimum is not None
            and definition.maximum is not None
            and definition.minimum > definition.maximum
        ):
            yield (
                _("Input “%(name)s” has a minimum above its maximum.", name=definition.name),
                _place_in_input(definition, "minimum"),
            )
        if (
            definition.min_length is not None
            and definition.max_length is not None
            and definition.min_length > definition.max_length
        ):
            yield (
                _("Input “%(name)s” has a minimum length above its maximum.", name=definition.name),
                _place_in_input(definition, "min_length"),
            )
        elif (
            (input_type := TYPES.get(definition.type)) is not None
            and input_type.most_items is not None
            and (definition.min_length or 0) > input_type.most_items
        ):
            yield (
                _(
                    "Input “%(name)s” needs at least %(fewest)s items, and holds %(most)s at most. Lower its "
                    "minimum length.",
                    name=definition.name,
                    fewest=definition.min_length,
                    most=input_type.most_items,
                ),
                _place_in_input(definition, "min_length"),
            )
    for definition, input_type in _inputs_with_type(subject):
        # Patterns and allowed values have rules of their own.
        limits = replace(_limits_of_input(subject, definition), pattern="", allowed=())
        try:
            input_type.compile(limits)
        except ValueError as error:
            yield (
                _("Input “%(name)s”: %(error)s.", name=definition.name, error=str(error)),
                _place_in_input(definition, "type"),
            )


@warning("input-limits-unused")
def limits_mean_something(subject: EndpointSubject) -> Found:
    """Find limits that have no effect for the type of their input."""
    for definition, input_type in _inputs_with_type(subject):
        for field, label in _LABELS.items():
            if getattr(definition, field) not in _UNSET and field not in input_type.constraints:
                yield (
                    _(
                        "Input “%(name)s”: %(label)s has no effect for %(type)s. Remove it.",
                        name=definition.name,
                        label=label,
                        type=definition.type,
                    ),
                    _place_in_input(definition, field),
                )


@blocking("input-pattern")
def patterns_compile(subject: EndpointSubject) -> Found:
    """Find patterns that are no regular expressions."""
    for definition, input_type in _inputs_with_type(subject):
        if definition.pattern and "pattern" in input_type.constraints:
            try:
                input_type.compile(Limits(pattern=definition.pattern))
            except ValueError as error:
                yield (
                    _("Input “%(name)s”: %(error)s.", name=definition.name, error=str(error)),
                    _place_in_input(definition, "pattern"),
                )


@blocking("input-allowed")
def allowed_values_are_accepted(subject: EndpointSubject) -> Found:
    """Find allowed values that the type and the other limits of the input refuse."""
    for definition, input_type in _inputs_with_type(subject):
        if "allowed" not in input_type.constraints:
            continue
        # Each value is judged by itself, without the others. Of several values that are sent together, the
        # length is no one value's.
        limits = replace(_limits_of_input(subject, definition), allowed=())
        limits_of_one = replace(limits, min_length=None) if input_type.is_several else limits
        read = _reader_within_limits(input_type, limits_of_one)
        for value in definition.allowed:
            if reason := _refusal(read, [value] if input_type.is_several else value):
                yield (
                    _(
                        "Input “%(name)s”: the allowed value %(value)s: %(reason)s",
                        name=definition.name,
                        value=repr(value),
                        reason=reason,
                    ),
                    _place_in_input(definition, "allowed"),
                )


@blocking("input-default")
def defaults_are_accepted(subject: EndpointSubject) -> Found:
    """Find defaults that the input itself would refuse."""
    if subject.endpoint.kind.partial:
        # An update takes no defaults, and has a warning of its own.
        return
    for definition, input_type in _inputs_with_type(subject):
        if definition.default is None:
            continue
        if input_type.holds_records:
            yield (
                _(
                    "Input “%(name)s” holds records, which have no default. Remove the default.",
                    name=definition.name,
                ),
                _place_in_input(definition, "default"),
            )
        elif reason := _refusal(_reader_of_default(subject, definition, input_type), definition.default):
            yield (
                _("Input “%(name)s”: its default: %(reason)s", name=definition.name, reason=reason),
                _place_in_input(definition, "default"),
            )


@warning("input-default-partial")
def defaults_mean_something(subject: EndpointSubject) -> Found:
    """Find defaults of an update, which never take effect."""
    for definition in subject.inputs:
        if subject.endpoint.kind.partial and definition.default is not None:
            yield (
                _(
                    "Input “%(name)s” has a default, but what a call leaves out here stays as it is.",
                    name=definition.name,
                ),
                _place_in_input(definition, "default"),
            )


@warning("input-required-default")
def required_inputs_are_sent(subject: EndpointSubject) -> Found:
    """Find required inputs that callers may leave out, because they have a default."""
    if subject.endpoint.kind.partial:
        return
    for definition in subject.inputs:
        has_default = definition.default is not None and not holds_records(definition.type)
        if definition.required and has_default:
            yield (
                _(
                    "Input “%(name)s” is required, but callers may leave it out, because it has a default. "
                    "If every call must send the input, remove the default.",
                    name=definition.name,
                ),
                _place_in_input(definition, "default"),
            )


@warning("input-unused")
def inputs_are_used(subject: EndpointSubject) -> Found:
    """Find inputs whose value goes nowhere: not to a binding, a query or an expression."""
    used = {binding.value for binding in subject.bindings if binding.source == "input"}
    used |= parameters_of(subject.definition).keys()
    expressions = [str(binding.value) for binding in subject.bindings if binding.source == "expression"]
    expressions += [definition.expression for definition in subject.definition.preconditions]
    expressions += [column.expression for column in subject.columns]
    for definition in subject.inputs:
        mentioned = any(re.search(rf"\b{re.escape(definition.name)}\b", text) for text in expressions)
        if definition.name not in used and not mentioned and not holds_records(definition.type):
            has_no_bindings = Section.BINDINGS not in subject.endpoint.kind.sections
            how = (
                _("compare with @%(name)s in the query", name=definition.name)
                if has_no_bindings
                else _("bind an attribute to it")
            )
            yield (
                _("Input “%(name)s” is not used: %(how)s.", name=definition.name, how=how),
                _place_in_input(definition, "name"),
            )


def _inputs_with_type(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, InputType]]:
    """Yield the inputs whose type exists, each with the type that reads its values.

    An input whose type no query string holds is left out of a query: `query-input-type` finds it.
    """
    is_query = subject.definition.settings.asks_query
    for definition in subject.inputs:
        input_type = TYPES.get(definition.type)
        if input_type is not None and not is_query:
            yield definition, input_type
        elif input_type is not None and input_type.in_query:
            yield definition, input_type.as_parameter


def _limits_of_input(subject: EndpointSubject, definition: InputDefinition) -> Limits:
    """Return the limits that values of an input have to meet.

    They are its own, those of the attribute that a binding sets from it, and the options of the choice that a
    query compares it with.
    """
    if subject.definition.settings.asks_query:
        return _query_values(subject, definition).limits
    attribute = subject.attribute_limiting(definition.name)
    return Limits.of(definition, attribute, subject.options_limiting(definition.name))


def _query_values(subject: EndpointSubject, definition: InputDefinition) -> QueryValues:
    """Return how a query reads the values of an input, given the conditions that compare with it."""
    uses = parameters_of(subject.definition).get(definition.name, ())
    return QueryValues.of(definition, uses, subject.metadata)


def _reader_of_default(
    subject: EndpointSubject, definition: InputDefinition, input_type: InputType
) -> Callable[[Any], object] | None:
    """Return the function that reads the default of an input; None where the input itself cannot be read."""
    read = _reader_within_limits(input_type, _limits_of_input(subject, definition))
    if read is not None and subject.definition.settings.asks_query:
        return _query_values(subject, definition).read
    return read


def _reader_within_limits(input_type: InputType, limits: Limits) -> Reader | None:
    """Return the function that reads values of `input_type`; None where no such values are within `limits`.

    Other rules say what is wrong with the limits.
    """
    try:
        return input_type.compile(limits)
    except ValueError:
        return None


def _refusal(read: Callable[[Any], object] | None, value: object) -> str:
    """Return why `read` refuses `value`; empty when it does not, and where there is nothing that reads."""
    try:
        if read is not None:
            read(value)
    except InvalidInput as error:
        return error.message
    return ""


def _place_in_input(definition: InputDefinition, field: str) -> str:
    return f"inputs.{definition.name}.{field}"
