"""Running a process: inputs checked, body in a transaction, outputs checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from crmclient.embedded.codecs import codec_for
from crmclient.embedded.connection import read_unit
from crmclient.embedded.limits import wrong_value
from crmclient.embedded.processes.registry import Context, Registered, registered
from crmclient.embedded.records.retrieve import retrieve
from crmclient.embedded.snapshot import Snapshot
from crmclient.errors import (
    InvalidRecord,
    InvalidValue,
    MissingRequired,
    UnexpectedAnswer,
    UnknownAttribute,
    UnknownProcess,
    UnknownTarget,
    WrongType,
)
from crmclient.metadata import Attribute, Process, ProcessParameter
from crmclient.values import Reference, Value, Values


def offered(snapshot: Snapshot) -> dict[str, Process]:
    """The processes that can run here: a bound one needs its entity."""
    return {
        name: item.process
        for name, item in registered().items()
        if item.process.entity is None or item.process.entity in snapshot
    }


def execute(alias: str, name: str, inputs: Values, context: Context) -> Mapping[str, Value]:
    """Raises as `Platform.execute`."""
    with read_unit(alias) as unit:
        if name not in offered(unit.snapshot):
            raise UnknownProcess(name)
        item = registered()[name]
        problems = [*_target_problems(item.process, context.target)]
        problems += _problems(item.process.inputs, inputs, unit.dialect.name)
        if problems:
            raise InvalidRecord(name, problems)
        if context.target is not None:
            retrieve(unit, context.target.entity, context.target.id, ())
    with transaction.atomic(using=alias):
        outputs = item.body(
            context, {parameter.name: inputs.get(parameter.name) for parameter in item.process.inputs}
        )
    return _checked(item, outputs, unit.dialect.name)


def _target_problems(process: Process, target: Reference | None) -> list[InvalidValue]:
    if process.entity is None:
        return [] if target is None else [UnknownTarget("target", "The process is bound to no entity.")]
    if target is None:
        return [MissingRequired("target", f"The process is bound to {process.entity}.")]
    if target.entity != process.entity:
        return [UnknownTarget("target", f"The process is bound to {process.entity}.")]
    return []


def _checked(item: Registered, outputs: Values, dialect_name: str) -> Mapping[str, Value]:
    problems = _problems(item.process.outputs, outputs, dialect_name)
    if problems:
        names = ", ".join(problem.attribute for problem in problems)
        raise UnexpectedAnswer(f"The process {item.process.name!r} gave wrong outputs: {names}.")
    return {parameter.name: outputs.get(parameter.name) for parameter in item.process.outputs}


def _problems(
    parameters: Sequence[ProcessParameter], values: Values, dialect_name: str
) -> list[InvalidValue]:
    known = {parameter.name for parameter in parameters}
    problems: list[InvalidValue] = [
        UnknownAttribute(name, "The process has no such parameter.") for name in values if name not in known
    ]
    for parameter in parameters:
        problem = _problem(parameter, values.get(parameter.name), dialect_name)
        if problem is not None:
            problems.append(problem)
    return problems


def _problem(parameter: ProcessParameter, value: Value, dialect_name: str) -> InvalidValue | None:
    name = parameter.name
    if value is None:
        return MissingRequired(name, "A value is required.") if parameter.required else None
    if parameter.type.is_reference:
        if not isinstance(value, Reference):
            return WrongType(name, "A reference is needed.")
        if parameter.targets and value.entity not in parameter.targets:
            return UnknownTarget(name, f"It points at {' or '.join(parameter.targets)}.")
    try:
        codec_for(Attribute(name, parameter.type), dialect_name).encode(value)
    except (TypeError, ValueError) as error:
        return wrong_value(name, error)
    return None
