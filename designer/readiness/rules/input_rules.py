"""What callers may send."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from designer.definitions import InputDefinition
from designer.kinds import Section
from designer.names import INPUT_PATTERN
from designer.query_parameters import parameters_of
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
    for known in subject.inputs:
        if not _NAME.match(known.name):
            yield (
                _(
                    "“%(name)s” cannot name an input. Use letters, digits and _, and do not start with a "
                    "digit.",
                    name=known.name,
                ),
                f"inputs.{known.name}.name",
            )


@blocking("input-repeated")
def names_are_different(subject: EndpointSubject) -> Found:
    spellings = Counter(known.name.lower() for known in subject.inputs)
    for known in subject.inputs:
        if spellings[known.name.lower()] > 1:
            yield (
                _("Another input differs from “%(name)s” in case at most.", name=known.name),
                _at(known, "name"),
            )


@blocking("input-type")
def types_exist(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if known.type not in TYPES:
            yield (
                _(
                    "Input “%(name)s” has the type “%(type)s”, which does not exist.",
                    name=known.name,
                    type=known.type,
                ),
                _at(known, "type"),
            )


@blocking("input-limits")
def limits_leave_something(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if known.minimum is not None and known.maximum is not None and known.minimum > known.maximum:
            yield (
                _("Input “%(name)s” has a minimum above its maximum.", name=known.name),
                _at(known, "minimum"),
            )
        if (
            known.min_length is not None
            and known.max_length is not None
            and known.min_length > known.max_length
        ):
            yield (
                _("Input “%(name)s” has a minimum length above its maximum.", name=known.name),
                _at(known, "min_length"),
            )


@warning("input-limits-unused")
def limits_mean_something(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        for field, label in _LABELS.items():
            if getattr(known, field) not in _UNSET and field not in kind.constraints:
                yield (
                    _(
                        "Input “%(name)s”: %(label)s means nothing for %(type)s.",
                        name=known.name,
                        label=label,
                        type=kind.name,
                    ),
                    _at(known, field),
                )


@blocking("input-pattern")
def patterns_compile(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        if known.pattern and "pattern" in kind.constraints:
            try:
                kind.compile(Limits(pattern=known.pattern))
            except ValueError as error:
                yield (
                    _("Input “%(name)s”: %(error)s.", name=known.name, error=str(error)),
                    _at(known, "pattern"),
                )


@blocking("input-allowed")
def allowed_values_are_accepted(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        if "allowed" not in kind.constraints:
            continue
        # Each by itself: the list itself is no limit for its own items.
        item = replace(_limits(subject, known), allowed=(), min_length=None)
        for value in known.allowed:
            if reason := _refusal(kind, item, [value] if kind.is_several else value):
                yield (
                    _(
                        "Input “%(name)s”: the allowed value %(value)s: %(reason)s",
                        name=known.name,
                        value=repr(value),
                        reason=reason,
                    ),
                    _at(known, "allowed"),
                )


@blocking("input-default")
def defaults_are_accepted(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        if known.default is not None and (reason := _refusal(kind, _limits(subject, known), known.default)):
            yield (
                _("Input “%(name)s”: its default: %(reason)s", name=known.name, reason=reason),
                _at(known, "default"),
            )


@warning("input-default-partial")
def defaults_mean_something(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if subject.endpoint.kind.partial and known.default is not None:
            yield (
                _(
                    "Input “%(name)s” has a default, but what a call leaves out here stays as it is.",
                    name=known.name,
                ),
                _at(known, "default"),
            )


@warning("input-required-default")
def defaults_can_be_used(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if known.required and known.default is not None:
            yield (
                _("Input “%(name)s” is required, so its default is never used.", name=known.name),
                _at(known, "default"),
            )


@warning("input-unused")
def inputs_are_used(subject: EndpointSubject) -> Found:
    used = {binding.value for binding in subject.bindings if binding.source == "input"}
    used |= parameters_of(subject.definition).keys()
    expressions = [str(binding.value) for binding in subject.bindings if binding.source == "expression"]
    expressions += [known.expression for known in subject.definition.preconditions]
    expressions += [column.expression for column in subject.columns]
    for known in subject.inputs:
        mentioned = any(re.search(rf"\b{re.escape(known.name)}\b", text) for text in expressions)
        if known.name not in used and not mentioned and not holds_records(known.type):
            queries = Section.BINDINGS not in subject.endpoint.kind.sections
            how = (
                _("compare with @%(name)s in the query", name=known.name)
                if queries
                else _("bind an attribute to it")
            )
            yield _("Input “%(name)s” goes nowhere: %(how)s.", name=known.name, how=how), _at(known, "name")


def _typed(subject: EndpointSubject) -> Iterator[tuple[InputDefinition, InputType]]:
    for known in subject.inputs:
        if known.type in TYPES:
            yield known, TYPES[known.type]


def _limits(subject: EndpointSubject, known: InputDefinition) -> Limits:
    attribute = subject.bound(known.name)
    return replace(Limits.of(known, attribute, subject.options(attribute)), pattern="")


def _refusal(kind: InputType, limits: Limits, value: object) -> str:
    """Why `kind` does not take `value`; empty when it does."""
    try:
        kind.compile(limits)(value)
    except InvalidInput as error:
        return error.message
    except ValueError:
        # Another rule says what is wrong with the limits themselves.
        return ""
    return ""


def _at(known: InputDefinition, field: str) -> str:
    return f"inputs.{known.name}.{field}"
