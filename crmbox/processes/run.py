"""Running a process: inputs checked, body in a transaction, outputs checked."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from crmbox.engine.codecs import codec_for
from crmbox.engine.connection import read_unit
from crmbox.engine.snapshot import Snapshot
from crmbox.processes.registry import PROCESSES, Context, CustomProcess
from crmbox.records.retrieve import retrieve
from crmclient.errors import InvalidRecord, UnexpectedAnswer, UnknownProcess
from crmclient.metadata import Process
from crmclient.parameters import Encode, problems, target_problems
from crmclient.values import Value, Values


def offered(snapshot: Snapshot) -> dict[str, Process]:
    """The processes that can run here: a bound one needs its entity."""
    return {
        name: item.process
        for name, item in PROCESSES.items()
        if item.process.entity is None or item.process.entity in snapshot
    }


def execute(alias: str, name: str, inputs: Values, context: Context) -> Mapping[str, Value]:
    """Raises as `Platform.execute`."""
    with read_unit(alias) as unit:
        if name not in offered(unit.snapshot):
            raise UnknownProcess(name)
        item = PROCESSES[name]
        wrong = target_problems(item.process, context.target)
        wrong += problems(item.process.inputs, inputs, _encoder(unit.dialect.name))
        if wrong:
            raise InvalidRecord(name, wrong)
        if context.target is not None:
            retrieve(unit, context.target.entity, context.target.id, ())
    with transaction.atomic(using=alias):
        outputs = item.body(
            context, {parameter.name: inputs.get(parameter.name) for parameter in item.process.inputs}
        )
    return _checked(item, outputs, unit.dialect.name)


def _checked(item: CustomProcess, outputs: Values, dialect_name: str) -> Mapping[str, Value]:
    wrong = problems(item.process.outputs, outputs, _encoder(dialect_name))
    if wrong:
        names = ", ".join(problem.attribute for problem in wrong)
        raise UnexpectedAnswer(f"The process {item.process.name!r} gave wrong outputs: {names}.")
    return {parameter.name: outputs.get(parameter.name) for parameter in item.process.outputs}


def _encoder(dialect_name: str) -> Encode:
    return lambda attribute, value: codec_for(attribute, dialect_name).encode(value)
