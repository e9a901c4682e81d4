"""What callers may send."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from designer.definitions import InputDefinition
from designer.names import INPUT_PATTERN
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.types import TYPES, InputType, InvalidInput, Limits
from designer.types.choices import MULTI_OPTION_SET

_NAME = re.compile(INPUT_PATTERN)
_UNSET = (None, "", ())
_LABELS = {
    "minimum": "a smallest number",
    "maximum": "a largest number",
    "min_length": "a minimum length",
    "max_length": "a maximum length",
    "pattern": "a pattern",
    "allowed": "allowed values",
}


@blocking("input-name")
def names_are_well_formed(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if not _NAME.match(known.name):
            yield (
                f"“{known.name}” is no name for an input: write letters, digits and _, no digit first.",
                f"inputs.{known.name}.name",
            )


@blocking("input-repeated")
def names_are_different(subject: EndpointSubject) -> Found:
    spellings = Counter(known.name.lower() for known in subject.inputs)
    for known in subject.inputs:
        if spellings[known.name.lower()] > 1:
            yield f"Another input differs from “{known.name}” in case at most.", _at(known, "name")


@blocking("input-type")
def types_exist(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if known.type not in TYPES:
            yield f"Input “{known.name}” is of a type “{known.type}”, which there is not.", _at(known, "type")


@blocking("input-limits")
def limits_leave_something(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if known.minimum is not None and known.maximum is not None and known.minimum > known.maximum:
            yield f"Input “{known.name}” has a minimum above its maximum.", _at(known, "minimum")
        if (
            known.min_length is not None
            and known.max_length is not None
            and known.min_length > known.max_length
        ):
            yield f"Input “{known.name}” has a minimum length above its maximum.", _at(known, "min_length")


@warning("input-limits-unused")
def limits_mean_something(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        for field, label in _LABELS.items():
            if getattr(known, field) not in _UNSET and field not in kind.constraints:
                yield f"Input “{known.name}”: {label} means nothing for {kind.name}.", _at(known, field)


@blocking("input-pattern")
def patterns_compile(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        if known.pattern and "pattern" in kind.constraints:
            try:
                kind.compile(Limits(pattern=known.pattern))
            except ValueError as error:
                yield f"Input “{known.name}”: {error}.", _at(known, "pattern")


@blocking("input-allowed")
def allowed_values_are_accepted(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        if "allowed" not in kind.constraints:
            continue
        # Each by itself: the list itself is no limit for its own items.
        item = replace(_limits(subject, known), allowed=(), min_length=None)
        for value in known.allowed:
            if reason := _refusal(kind, item, [value] if kind is MULTI_OPTION_SET else value):
                yield f"Input “{known.name}”: the allowed value {value!r}: {reason}", _at(known, "allowed")


@blocking("input-default")
def defaults_are_accepted(subject: EndpointSubject) -> Found:
    for known, kind in _typed(subject):
        if known.default is not None and (reason := _refusal(kind, _limits(subject, known), known.default)):
            yield f"Input “{known.name}”: its default: {reason}", _at(known, "default")


@warning("input-default-partial")
def defaults_mean_something(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if subject.endpoint.kind.partial and known.default is not None:
            yield (
                f"Input “{known.name}” has a default, but what a call leaves out here stays as it is.",
                _at(known, "default"),
            )


@warning("input-required-default")
def defaults_can_be_used(subject: EndpointSubject) -> Found:
    for known in subject.inputs:
        if known.required and known.default is not None:
            yield (
                f"Input “{known.name}” is required, so its default is never used.",
                _at(known, "default"),
            )


@warning("input-unused")
def inputs_are_used(subject: EndpointSubject) -> Found:
    used = {binding.value for binding in subject.bindings if binding.source == "input"}
    expressions = [str(binding.value) for binding in subject.bindings if binding.source == "expression"]
    for known in subject.inputs:
        mentioned = any(re.search(rf"\b{re.escape(known.name)}\b", text) for text in expressions)
        if known.name not in used and not mentioned:
            yield f"Input “{known.name}” goes nowhere: bind an attribute to it.", _at(known, "name")


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
