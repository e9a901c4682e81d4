"""Renaming values in example calls when the inputs that they are for get new names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from designer.models import Endpoint, Input
from designer.types import TYPES


class _StoredInput(NamedTuple):
    name: str
    # The list, or the record, whose items have the input; None for an input of the endpoint's own.
    parent: int | None
    type: str


# An update may send the changes of a list, by these names, instead of its items.
_CHANGES = frozenset({"add", "change", "remove"})

_Inputs: TypeAlias = Mapping[int, _StoredInput]
# The id of an input and its new name, by the parent and the old name.
_Renames: TypeAlias = Mapping[tuple[int | None, str], tuple[int, str]]


@contextmanager
def following_renames(row: Endpoint) -> Iterator[None]:
    """Wrap a save of the inputs of `row`: its example calls get the new names of inputs.

    A new input may take the old name of another. Calls then go on sending the old name, as bindings go on
    reading it.
    """
    if row.pk is None or not row.example_calls:
        yield
        return
    before = _stored_inputs(row)
    yield
    after = _stored_inputs(row)
    renames = _renames_between(before, after)
    if all(before[pk].name == name for pk, name in renames.values()):
        return
    # Kinds that only read take their inputs in the query string.
    in_query = row.operation is not None and not row.operation.writes
    row.example_calls = [
        _renamed_call(call, renames, before, in_query=in_query) for call in row.example_calls
    ]
    row.save(update_fields=["example_calls"])


def _stored_inputs(row: Endpoint) -> _Inputs:
    """Return the inputs of an endpoint as they are stored, by row id."""
    rows = Input.objects.filter(endpoint=row).values_list("pk", "name", "parent", "type")
    return {pk: _StoredInput(name, parent, type) for pk, name, parent, type in rows}


def _renames_between(before: _Inputs, after: _Inputs) -> _Renames:
    """Return id and new name of each input, by its parent and old name. A name that another input has taken
    over is not among them.
    """
    names_in_use = {
        (stored_input.parent, stored_input.name)
        for pk, stored_input in after.items()
        if pk not in before or before[pk].name == stored_input.name
    }
    return {
        (stored_input.parent, stored_input.name): (pk, after[pk].name)
        for pk, stored_input in before.items()
        if pk in after
        and (
            (stored_input.parent, stored_input.name) not in names_in_use
            or after[pk].name == stored_input.name
        )
    }


def _renamed_call(
    call: Mapping[str, Any], renames: _Renames, inputs: _Inputs, *, in_query: bool
) -> dict[str, Any]:
    """Return a kept call with the new names of inputs in its body and, where they are there, in its query."""
    renamed = dict(call)
    for member in ("body", "query") if in_query else ("body",):
        if isinstance(call.get(member), dict):
            renamed[member] = _with_new_names(call[member], None, renames, inputs)
    return renamed


def _with_new_names(
    values: Mapping[str, Any], parent: int | None, renames: _Renames, inputs: _Inputs
) -> dict[str, Any]:
    """Return the values, which are by name, with the new names of their inputs, and so inside lists.

    `parent` is the row id of the input that holds the record; None for the endpoint's own inputs.
    """
    unchanged: dict[str, Any] = {}
    renamed: dict[str, Any] = {}
    for name, value in values.items():
        pk, new_name = renames.get((parent, name), (None, name))
        if pk is not None:
            value = _value_with_new_names(value, pk, renames, inputs)
        (unchanged if new_name == name else renamed)[new_name] = value
    # Renamed values come last: they replace the value of a removed input whose name they take.
    return unchanged | renamed


def _value_with_new_names(value: Any, pk: int, renames: _Renames, inputs: _Inputs) -> Any:
    """Return the value of the input `pk` with new names inside: in the items of a list, in added and changed
    items, or in a single record.
    """
    match value:
        case list():
            return [_value_with_new_names(item, pk, renames, inputs) for item in value]
        case dict() if TYPES[inputs[pk].type].holds_one or value.keys() - _CHANGES:
            return _with_new_names(value, pk, renames, inputs)
        case dict():
            return {
                change: _value_with_new_names(items, pk, renames, inputs) for change, items in value.items()
            }
    return value
