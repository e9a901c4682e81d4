"""What callers may send."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from designer.definitions import InputDefinition
from designer.endpoint_facts.query_parameters import parameters_of
from designer.kinds import Section
from designer.names import INPUT_PATTERN
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import TYPES, InputType, InvalidInput, Limits, holds_records

_NAME = re.compile(INPUT_PATTERN)
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
    spellings = Counter(definition.name.lower() for definition in subject.inputs)
    for definition in subject.inputs:
        if spellings[definition.name.lower()] > 1:
            yield (
                _(
                    "Two inputs are called “%(name)s”: upper and lower case make no difference. Rename one.",
                    name=definition.name,
                ),
                _at(definition, "name"),
            )


@blocking("input-type")
def types_exist(subject: EndpointSubject) -> Found:
    for definition in subject.inputs:
        if definition.type not in TYPES:
            yield (
                _(
                    "Input “%(name)s” has the type “%(type)s”, which does not exist.",
                    name=definition.name,
                    type=definition.type,
                ),
                _at(definition, "type"),
            )


@blocking("input-limits")
def limits_leave_something(subject: EndpointSubject) -> Found:
    for definition in subject.inputs:
        if (
            definition.minimum is not None
            and definition.maximum is not None
            and definition.minimum > definition.maximum
        ):
            yield (
                _("Input “%(name)s” has a minimum above its maximum.", name=definition.name),
                _at(definition, "minimum"),
            )
        if (
            definition.min_length is not None
            and definition.max_length is not None
            and definition.min_length > definition.max_length
        ):
            yield (
                _("Input “%(name)s” has a minimum length above its maximum.", name=definition.name),
                _at(definition, "min_length"),
            )


@warning("input-limits-unused")
def limits_mean_something(subject: EndpointSubject) -> Found:
    for definition, kind in _typed(subject):
        for field, label in _LABELS.items():
            if getattr(definition, field) not in _UNSET and field not in kind.constraints:
                yield (
                    _(
                        "Input “%(name)s”: %(label)s has no effect for %(type)s. Remove it.",
                        name=definition.name,
                        label=label,
                        type=kind.name,
                    ),
                    _at(definition, field),
                )


@blocking("input-pattern")
def patterns_compile(subject: EndpointSubject) -> Found:
    for definition, kind in _typed(subject):
        if definition.pattern and "pattern" in kind.constraints:
            try:
                kind.compile(Limits(pattern=definition.pattern))
            except ValueError as error:
                yield (
                    _("Input “%(name)s”: %(error)s.", name=definition.name, error=str(error)),
                    _at(definition, "pattern"),
                )


@blocking("input-allowed")
def allowed_values_are_accepted(subject: EndpointSubject) -> Found:
    for definition, kind in _typed(subject):
        if "allowed" not in kind.constraints:
            continue
        # Each value is judged by itself, without the others. Of several values that are sent together, the
        # length is no one value's.
        limits = replace(_limits(subject, definition), allowed=())
        item = replace(limits, min_length=None) if kind.is_several else limits
        for value in definition.allowed:
            if reason := _refusal(kind, item, [value] if kind.is_several else value):
                yield (
                    _(
                        "Input “%(name)s”: the allowed value %(value)s: %(reason)s",
                        name=definition.name,
                        value=repr(value),
                        reason=reason,
                    ),
                    _at(definition, "allowed"),
                )


@blocking("input-default")
def defaults_are_accepted(subject: EndpointSubject) -> Found:
    for definition, kind in _typed(subject):
        if definition.default is None:
            continue
        if kind.holds_records:
            # An update takes no defaults, and has a warning of its own.
            if not subject.endpoint.kind.partial:
                yield (
                    _(
                        "Input “%(name)s” holds records, which have no default. Remove the default.",
                        name=definition.name,
                    ),
                    _at(definition, "default"),
                )
        elif reason := _refusal(kind, _limits(subject, definition), definition.default):
            yield (
                _("Input “%(name)s”: its default: %(reason)s", name=definition.name, reason=reason),
                _at(definition, "default"),
            )


@warning("input-default-partial")
def defaults_mean_something(subject: EndpointSubject) -> Found:
    for definition in subject.inputs:
        if subject.endpoint.kind.partial and definition.default is not None:
            yield (
                _(
                    "Input “%(name)s” has a default, but what a call leaves out here stays as it is.",
                    name=definition.name,
                ),
                _at(definition, "default"),
            )


@warning("input-required-default")
def defaults_are_of_optional_inputs(subject: EndpointSubject) -> Found:
    for definition in subject.inputs:
        if definition.required and definition.default is not None:
            yield (
                _("Input “%(name)s” is required, so its default is never used.", name=definition.name),
                _at(definition, "default"),
            )


@warning("input-unused")
def inputs_are_used(subject: EndpointSubject) -> Found:
    used = {binding.value for binding in subject.bindings if binding.source == "input"}
    used |= parameters_of(subject.definition).keys()
    expressions = [str(binding.value) for binding in subject.bindings if binding.source == "expression"]
    expressions += [definition.expression for definition in subject.definition.preconditions]
    expressions += [column.expression for column in subject.columns]
    for definition in subject.inputs:
        mentioned = any(re.search(rf"\b{re.escape(definition.name)}\b", text) for text in expressions)
        if definition.name not in used and not mentioned and not holds_records(definition.type):
            queries = Section.BINDINGS not in subject.endpoint.kind.sections
            how = (
                _("compare with @%(name)s in the query", name=definition.name)
                if queries
                else _("bind an attribute to it")
            )
            yield (
                _("Input “%(name)s” is not used: %(how)s.", name=definition.name, how=how),
                _at(definition, "name"),
            )


def _typed(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, InputType]]:
    for definition in subject.inputs:
        if definition.type in TYPES:
            yield definition, TYPES[definition.type]


def _limits(subject: EndpointSubject, definition: InputDefinition) -> Limits:
    attribute = subject.bound(definition.name)
    return Limits.of(definition, attribute, subject.options(attribute))


def _refusal(kind: InputType, limits: Limits, value: object) -> str:
    """Return why `kind` does not accept `value`; empty when it does."""
    try:
        kind.compile(limits)(value)
    except InvalidInput as error:
        return error.message
    except ValueError:
        # Another rule says what is wrong with the limits themselves.
        return ""
    return ""


def _at(definition: InputDefinition, field: str) -> str:
    return f"inputs.{definition.name}.{field}"
