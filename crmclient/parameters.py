"""What is wrong with the inputs or outputs of a process, all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from crmclient.errors import InvalidValue, MissingRequired, UnknownAttribute, UnknownTarget, WrongType
from crmclient.limits import wrong_value
from crmclient.metadata import Attribute, Process, ProcessParameter
from crmclient.values import Reference, Value, Values

Encode: TypeAlias = Callable[[Attribute, Value], object]
"""Raises TypeError or ValueError, with a message for people, for what an attribute's type cannot hold."""


def target_problems(process: Process, target: Reference | None) -> list[InvalidValue]:
    if process.entity is None:
        return [] if target is None else [UnknownTarget("target", "The process is bound to no entity.")]
    if target is None:
        return [MissingRequired("target", f"The process is bound to {process.entity}.")]
    if target.entity != process.entity:
        return [UnknownTarget("target", f"The process is bound to {process.entity}.")]
    return []


def problems(parameters: Sequence[ProcessParameter], values: Values, encode: Encode) -> list[InvalidValue]:
    known = {parameter.name for parameter in parameters}
    found: list[InvalidValue] = [
        UnknownAttribute(name, "The process has no such parameter.") for name in values if name not in known
    ]
    for parameter in parameters:
        problem = _problem(parameter, values.get(parameter.name), encode)
        if problem is not None:
            found.append(problem)
    return found


def as_attribute(parameter: ProcessParameter) -> Attribute:
    return Attribute(parameter.name, parameter.type, targets=parameter.targets)


def _problem(parameter: ProcessParameter, value: Value, encode: Encode) -> InvalidValue | None:
    name = parameter.name
    if value is None:
        return MissingRequired(name, "A value is required.") if parameter.required else None
    if parameter.type.is_reference:
        if not isinstance(value, Reference):
            return WrongType(name, "A reference is needed.")
        if parameter.targets and value.entity not in parameter.targets:
            return UnknownTarget(name, f"It points at {' or '.join(parameter.targets)}.")
        value = value.id
    try:
        encode(as_attribute(parameter), value)
    except (TypeError, ValueError) as error:
        return wrong_value(name, error)
    return None
