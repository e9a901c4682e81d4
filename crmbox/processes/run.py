"""Running a process: inputs checked, body in a transaction, outputs checked."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from crmbox.engine.codecs import codec_for
from crmbox.engine.connection import read_unit
from crmbox.engine.snapshot import Snapshot
from crmbox.processes.registry import PROCESSES, Context, CustomProcess
from crmbox.records.retrieve import retrieve
from crmclient.errors import InvalidRecord, UnexpectedAnswer, UnknownProcess
from crmclient.metadata import Holds, Process
from crmclient.parameters import Encode, in_place, problems, records_in, target_problems
from crmclient.values import ProcessValues


def offered_processes(snapshot: Snapshot) -> dict[str, Process]:
    """Return the processes whose entities exist: those of the records that they run on and create."""
    return {
        name: item.process
        for name, item in PROCESSES.items()
        if all(entity in snapshot for entity in _needed_entities(item.process))
    }


def _needed_entities(process: Process) -> Iterable[str]:
    """Yield the entity that a process is bound to, and those of the records that it creates."""
    if process.entity is not None:
        yield process.entity
    for parameter in process.inputs:
        if parameter.holds is not Holds.VALUE:
            yield from parameter.targets


def execute(alias: str, name: str, inputs: ProcessValues, context: Context) -> ProcessValues:
    """Run a process. Raises the errors of `Platform.execute`."""
    with read_unit(alias) as unit:
        if name not in offered_processes(unit.snapshot):
            raise UnknownProcess(name)
        item = PROCESSES[name]
        wrong_values = target_problems(item.process, context.target)
        wrong_values += problems(item.process.inputs, inputs, _encoder(unit.dialect.name))
        if wrong_values:
            raise InvalidRecord(name, wrong_values)
        if context.target is not None:
            # The result is not used: this raises RecordNotFound for a target that does not exist.
            retrieve(unit, context.target.entity, context.target.id, ())
    try:
        with transaction.atomic(using=alias):
            outputs = item.body(
                context, {parameter.name: inputs.get(parameter.name) for parameter in item.process.inputs}
            )
    except InvalidRecord as error:
        raise _as_error_of_input(item.process, inputs, error) from error
    return _checked_outputs(item, outputs, unit.dialect.name)


def _as_error_of_input(process: Process, inputs: ProcessValues, error: InvalidRecord) -> InvalidRecord:
    """Return an error of a record that the process wrote as an error of the input that the record came from.

    The input is found by the record's entity. Where none or several of the inputs' records are of it, the
    error itself is returned.
    """
    places = [
        place
        for parameter in process.inputs
        for place, record in records_in(inputs.get(parameter.name), parameter.name)
        if record.entity == error.entity
    ]
    if len(places) != 1:
        return error
    return InvalidRecord(process.name, [in_place(places[0], problem) for problem in error.problems])


def _checked_outputs(item: CustomProcess, outputs: ProcessValues, dialect_name: str) -> ProcessValues:
    """Return every output of a process, None for one that it has not given. Raises UnexpectedAnswer."""
    wrong_values = problems(item.process.outputs, outputs, _encoder(dialect_name))
    if wrong_values:
        names = ", ".join(problem.attribute for problem in wrong_values)
        raise UnexpectedAnswer(f"The process {item.process.name!r} gave wrong outputs: {names}.")
    return {parameter.name: outputs.get(parameter.name) for parameter in item.process.outputs}


def _encoder(dialect_name: str) -> Encode:
    return lambda attribute, value: codec_for(attribute, dialect_name).encode(value)
