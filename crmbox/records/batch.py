"""Several writes in one unit of work: all of them, or none."""

from __future__ import annotations

from collections.abc import Sequence

from crmbox.engine.connection import WriteUnit
from crmbox.engine.deadlines import check_deadline
from crmbox.records.create import create
from crmbox.records.delete import delete
from crmbox.records.duplicates import refuse_duplicates
from crmbox.records.update import update
from crmclient.errors import PlatformError
from crmclient.platform import Call, Create, Operation, Update
from crmclient.values import Stored


def run_batch(unit: WriteUnit, operations: Sequence[Operation], call: Call) -> list[Stored | None]:
    """Run the operations, and return one answer for each. An operation may refer to what an earlier one has
    created.

    The `item` of an error says which operation failed.
    """
    answers: list[Stored | None] = []
    for index, operation in enumerate(operations):
        check_deadline(call)
        try:
            answers.append(_run(unit, operation, call))
        except PlatformError as error:
            error.item = index
            raise
    return answers


def _run(unit: WriteUnit, operation: Operation, call: Call) -> Stored | None:
    """Carry out one operation of a batch in its transaction. Return None for a deletion."""
    if isinstance(operation, Create):
        created = create(unit, operation.entity, operation.values, id=operation.id, caller=call.caller)
        refuse_duplicates(unit, operation.entity, created.id, call)
        return created
    if isinstance(operation, Update):
        updated = update(
            unit,
            operation.entity,
            operation.id,
            operation.values,
            if_version=operation.if_version,
            caller=call.caller,
        )
        refuse_duplicates(unit, operation.entity, updated.id, call, operation.values)
        return updated
    delete(unit, operation.entity, operation.id, if_version=operation.if_version, caller=call.caller)
    return None
