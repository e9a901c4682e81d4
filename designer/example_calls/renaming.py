"""Example calls follow the inputs that they send values for to their new names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from designer.models import Endpoint, Input
from designer.types import TYPES


class _Known(NamedTuple):
    name: str
    # The list, or the record, whose items have the input; None for an input of the endpoint's own.
    parent: int | None
    type: str


# What the list of an update may say instead of its items.
_CHANGES = frozenset({"add", "change", "remove"})

_Inputs: TypeAlias = Mapping[int, _Known]
# The id of an input and its new name, by what it is an input of and its old name.
_Renames: TypeAlias = Mapping[tuple[int | None, str], tuple[int, str]]


@contextmanager
def following_renames(row: Endpoint) -> Iterator[None]:
    """Around a save of the inputs of `row`: its example calls send what they have sent by the new names.

    Where a new input takes the old name, calls go on sending that one, as bindings go on reading it.
    """
    if row.pk is None or not row.example_calls:
        yield
        return
    before = _inputs(row)
    yield
    after = _inputs(row)
    renames = _renames(before, after)
    if all(before[pk].name == name for pk, name in renames.values()):
        return
    reads = row.operation is not None and not row.operation.writes
    row.example_calls = [_renamed_call(call, renames, before, in_query=reads) for call in row.example_calls]
    row.save(update_fields=["example_calls"])


def _inputs(row: Endpoint) -> _Inputs:
    known = Input.objects.filter(endpoint=row).values_list("pk", "name", "parent", "type")
    return {pk: _Known(name, parent, type) for pk, name, parent, type in known}


def _renames(before: _Inputs, after: _Inputs) -> _Renames:
    taken = {
        (known.parent, known.name)
        for pk, known in after.items()
        if pk not in before or before[pk].name == known.name
    }
    return {
        (known.parent, known.name): (pk, after[pk].name)
        for pk, known in before.items()
        if pk in after and ((known.parent, known.name) not in taken or after[pk].name == known.name)
    }


def _renamed_call(
    call: Mapping[str, Any], renames: _Renames, inputs: _Inputs, *, in_query: bool
) -> dict[str, Any]:
    renamed = dict(call)
    for member in ("body", "query") if in_query else ("body",):
        if isinstance(call.get(member), dict):
            renamed[member] = _renamed(call[member], None, renames, inputs)
    return renamed


def _renamed(
    values: Mapping[str, Any], parent: int | None, renames: _Renames, inputs: _Inputs
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    moved: dict[str, Any] = {}
    for name, value in values.items():
        pk, new = renames.get((parent, name), (None, name))
        if pk is not None:
            value = _renamed_items(value, pk, renames, inputs)
        (kept if new == name else moved)[new] = value
    # What an input that is gone was sent by makes room for the one that has its name now.
    return kept | moved


def _renamed_items(value: Any, pk: int, renames: _Renames, inputs: _Inputs) -> Any:
    """Of a list: its items or, of a changed list, those that are added and changed; or the one record."""
    match value:
        case list():
            return [_renamed_items(item, pk, renames, inputs) for item in value]
        case dict() if TYPES[inputs[pk].type].holds_one or value.keys() - _CHANGES:
            return _renamed(value, pk, renames, inputs)
        case dict():
            return {change: _renamed_items(items, pk, renames, inputs) for change, items in value.items()}
    return value
