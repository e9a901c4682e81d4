"""States of records that messages end: whether they still can, and what the end is."""

from __future__ import annotations

from typing import Final

from crmbox.processes import Context
from crmclient.errors import InvalidRecord, MissingRequired, Refused, WrongType
from crmclient.metadata import OptionSet
from crmclient.values import NewRecord, Record, Reference, Values

OPEN: Final = 0
DEFAULT_STATUS: Final = -1
"""What callers send for the status that the state comes with."""
_COMPLETED: Final = 1


def ended(record: NewRecord, lookup: str) -> Reference:
    """The record that an activity ends by `lookup`. Raises InvalidRecord where it names none."""
    reference = record.values.get(lookup)
    if isinstance(reference, Reference):
        return reference
    problem = MissingRequired if reference is None else WrongType
    raise InvalidRecord(record.entity, [problem(lookup, "A reference to a record is needed.")])


def still_open(context: Context, reference: Reference, columns: tuple[str, ...]) -> Record:
    """The record as it is. Raises RecordNotFound, and Refused for one that has ended."""
    known = context.platform.attributes(reference.entity)
    wanted = [name for name in ("statecode", *columns) if name in known]
    record = context.platform.retrieve(reference.entity, reference.id, wanted, call=context.call)
    if record.values["statecode"] != OPEN:
        label = context.platform.entities()[reference.entity].label.text().lower()
        raise Refused(f"The {label} is closed already.")
    return record


def status_of(context: Context, entity: str, state: int, status: int) -> int:
    """The status that a record of `state` gets. Raises Refused for one of another state."""
    if status == DEFAULT_STATUS:
        return _default(context.platform.option_set("statecode", entity=entity), state)
    statuses = context.platform.option_set("statuscode", entity=entity).options
    if not any(option.value == status and option.state == state for option in statuses):
        raise Refused(f"{status} is not a valid status code for state code {state} of {entity}.")
    return status


def end(context: Context, record: Record, values: Values) -> None:
    """Write what the end changes, of what the entity has, unless somebody else has written meanwhile."""
    context.platform.update(
        record.entity,
        record.id,
        kept(context, record.entity, values),
        if_version=record.version,
        call=context.call,
    )


def note_end(context: Context, activity: NewRecord) -> None:
    """Make the activity that tells of the end. It is completed as it is made."""
    entity = activity.entity
    completed = {"statecode": _COMPLETED} if "statecode" not in activity.values else {}
    values = {**kept(context, entity, completed), **activity.values}
    context.platform.create(entity, values, call=context.call)


def kept(context: Context, entity: str, values: Values) -> Values:
    """The values whose attributes the entity has."""
    known = context.platform.attributes(entity)
    return {name: value for name, value in values.items() if name in known}


def _default(states: OptionSet, state: int) -> int:
    found = next((option.default_status for option in states.options if option.value == state), None)
    if found is None:
        raise Refused("Say which status the record gets: its state comes with none.")
    return found
