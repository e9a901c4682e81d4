"""The states of records that messages close."""

from __future__ import annotations

from typing import Final

from crmbox.processes import Context
from crmclient.errors import InvalidRecord, MissingRequired, Refused, WrongType
from crmclient.metadata import OptionSet
from crmclient.values import NewRecord, Record, Reference, Values

OPEN: Final = 0
DEFAULT_STATUS: Final = -1
"""Callers send this for the default status of the state."""
_COMPLETED: Final = 1


def record_to_close(record: NewRecord, lookup: str) -> Reference:
    """Return the record that an activity closes, from its `lookup`.

    Raises InvalidRecord where it names none.
    """
    reference = record.values.get(lookup)
    if isinstance(reference, Reference):
        return reference
    problem = MissingRequired if reference is None else WrongType
    raise InvalidRecord(record.entity, [problem(lookup, "A reference to a record is needed.")])


def retrieve_open_record(context: Context, reference: Reference, columns: tuple[str, ...]) -> Record:
    """Return an open record with its state and those of `columns` that its entity has.

    Raises RecordNotFound, and Refused for a closed record, and for an entity without states: an import makes
    an entity of any name as its source describes it.
    """
    attributes = context.platform.attributes(reference.entity)
    if "statecode" not in attributes:
        raise Refused(f"The {_label_of(context, reference)} cannot be closed: its entity has no states.")
    names = [name for name in ("statecode", *columns) if name in attributes]
    record = context.platform.retrieve(reference.entity, reference.id, names, call=context.call)
    if record.values["statecode"] != OPEN:
        raise Refused(f"The {_label_of(context, reference)} is closed already.")
    return record


def _label_of(context: Context, reference: Reference) -> str:
    """Return what a record is called in a sentence, such as `case`."""
    return context.platform.entities()[reference.entity].label.text().lower() or reference.entity


def status_of(context: Context, entity: str, state: int, status: int) -> int:
    """Return the status that a record of `state` gets: `status`, or the state's default for -1.

    Raises Refused for a status of another state.
    """
    if status == DEFAULT_STATUS:
        return _default_status(context.platform.option_set("statecode", entity=entity), state)
    statuses = context.platform.option_set("statuscode", entity=entity).options
    if not any(option.value == status and option.state == state for option in statuses):
        raise Refused(f"{status} is not a valid status code for state code {state} of {entity}.")
    return status


def close_record(context: Context, record: Record, values: Values) -> None:
    """Close a record with those of `values` that the entity has, unless somebody else has changed it
    meanwhile.
    """
    context.platform.update(
        record.entity,
        record.id,
        known_values(context, record.entity, values),
        if_version=record.version,
        call=context.call,
    )


def create_closing_activity(context: Context, activity: NewRecord) -> None:
    """Create the activity that says how the record was closed. It is completed from the start."""
    entity = activity.entity
    completed = {"statecode": _COMPLETED} if "statecode" not in activity.values else {}
    values = {**known_values(context, entity, completed), **activity.values}
    context.platform.create(entity, values, call=context.call)


def known_values(context: Context, entity: str, values: Values) -> Values:
    """Return the values whose attributes the entity has."""
    attributes = context.platform.attributes(entity)
    return {name: value for name, value in values.items() if name in attributes}


def _default_status(states: OptionSet, state: int) -> int:
    status = next((option.default_status for option in states.options if option.value == state), None)
    if status is None:
        raise Refused("Say which status the record gets: its state comes with none.")
    return status
