"""Finds everything that is wrong with the inputs or outputs of a process, all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from crmclient.errors import InvalidValue, MissingRequired, UnknownAttribute, UnknownTarget, WrongType
from crmclient.limits import wrong_value
from crmclient.metadata import Attribute, Holds, Process, ProcessParameter
from crmclient.values import NewRecord, ProcessValue, ProcessValues, Reference

Encode: TypeAlias = Callable[[Attribute, Any], object]
"""Raises TypeError or ValueError, with a message for people, for what an attribute's type cannot hold."""


def target_problems(process: Process, target: Reference | None) -> list[InvalidValue]:
    """Return what is wrong with the record that a process is to run on (None: no record)."""
    if process.entity is None:
        return [] if target is None else [UnknownTarget("target", "The process is bound to no entity.")]
    if target is None:
        return [MissingRequired("target", f"The process is bound to {process.entity}.")]
    if target.entity != process.entity:
        return [UnknownTarget("target", f"The process is bound to {process.entity}.")]
    return []


def problems(
    parameters: Sequence[ProcessParameter], values: ProcessValues, encode: Encode
) -> list[InvalidValue]:
    """Return what is wrong with the values of a process's parameters. `encode` raises an error for a value of
    a wrong type.
    """
    names = {parameter.name for parameter in parameters}
    invalid_values: list[InvalidValue] = [
        UnknownAttribute(name, "The process has no such parameter.") for name in values if name not in names
    ]
    for parameter in parameters:
        problem = _problem(parameter, values.get(parameter.name), encode)
        if problem is not None:
            invalid_values.append(problem)
    return invalid_values


def records_in(value: ProcessValue, place: str) -> Iterator[tuple[str, NewRecord]]:
    """Yield the records that an input holds, each with its place; `place` is the input's name."""
    if isinstance(value, NewRecord):
        yield place, value
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            if isinstance(item, NewRecord):
                yield f"{place}/{index}", item


def in_place(place: str, problem: InvalidValue) -> InvalidValue:
    """Return the problem of a record's attribute as a problem of the input at `place` that holds the
    record: `problem` itself, with `attribute` changed to `place/attribute`.
    """
    problem.attribute = f"{place}/{problem.attribute}"
    return problem


def as_attribute(parameter: ProcessParameter) -> Attribute:
    return Attribute(parameter.name, parameter.type, targets=parameter.targets)


def _problem(parameter: ProcessParameter, value: ProcessValue, encode: Encode) -> InvalidValue | None:
    """Return what is wrong with the value of a parameter; None if nothing is."""
    name = parameter.name
    if value is None:
        return MissingRequired(name, "A value is required.") if parameter.required else None
    if parameter.holds is not Holds.VALUE:
        return _records_problem(parameter, value)
    if parameter.type.is_reference:
        if not isinstance(value, Reference):
            return WrongType(name, "A reference is needed.")
        if parameter.targets and value.entity not in parameter.targets:
            return UnknownTarget(name, f"It points at {' or '.join(parameter.targets)}.")
        # For an attribute that is a reference, `encode` takes the record's id.
        value = value.id
    try:
        encode(as_attribute(parameter), value)
    except (TypeError, ValueError) as error:
        return wrong_value(name, error)
    return None


def _records_problem(parameter: ProcessParameter, value: ProcessValue) -> InvalidValue | None:
    """Return the problem of a parameter for records: it takes one, or a tuple of them, of the entities
    it allows.
    """
    records: tuple[object, ...] = (value,)
    if parameter.holds is Holds.RECORDS:
        if not isinstance(value, tuple):
            return WrongType(parameter.name, "Several records are needed.")
        records = value
    for item in records:
        if not isinstance(item, NewRecord | Reference):
            return WrongType(parameter.name, "A record is needed.")
        if parameter.targets and item.entity not in parameter.targets:
            return UnknownTarget(parameter.name, f"It is a record of {' or '.join(parameter.targets)}.")
    return None
