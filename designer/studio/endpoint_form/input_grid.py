"""Inputs as a grid: each with the entity properties that it fills, and the properties that no input fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Template tags import this module before the admin is there.
    from django.contrib.admin.helpers import InlineAdminForm, InlineAdminFormSet


@dataclass(frozen=True, slots=True)
class InputLine:
    """The row of an input, and the rows of the entity properties that take their value from the input."""

    row: InlineAdminForm
    bindings: tuple[InlineAdminForm, ...] = ()


@dataclass(frozen=True, slots=True)
class InputGrid:
    """The lines, and `other_bindings`, the entity properties that no input of the grid fills.

    `blank` and `blank_binding` are the rows that scripts copy: one each where rows may be added, else none.
    """

    lines: tuple[InputLine, ...]
    other_bindings: tuple[InlineAdminForm, ...] = ()
    blank: tuple[InputLine, ...] = ()
    blank_binding: tuple[InlineAdminForm, ...] = ()


def grid(inputs: InlineAdminFormSet, bindings: InlineAdminFormSet | None) -> InputGrid:
    """Return the grid of a page. `bindings` is None for a kind that writes nothing."""
    rows, blank = existing_and_blank(inputs)
    binding_rows, blank_binding = existing_and_blank(bindings) if bindings is not None else ((), ())
    names = {_value(row, "name") for row in rows} - {""}
    bindings_by_input: dict[str, list[InlineAdminForm]] = {name: [] for name in names}
    other_bindings: list[InlineAdminForm] = []
    for row in binding_rows:
        name = _value(row, "value_text").strip().removeprefix("@")
        is_filled = _value(row, "source") == "input" and name in bindings_by_input
        (bindings_by_input[name] if is_filled else other_bindings).append(row)
    # Popped: of two inputs of one name, which is a finding, only the first shows the properties.
    lines = tuple(InputLine(row, tuple(bindings_by_input.pop(_value(row, "name"), ()))) for row in rows)
    return InputGrid(lines, tuple(other_bindings), tuple(InputLine(row) for row in blank), blank_binding)


def existing_and_blank(
    inline: InlineAdminFormSet,
) -> tuple[tuple[InlineAdminForm, ...], tuple[InlineAdminForm, ...]]:
    """Return the existing rows of a formset, and apart its blank row (none if rows cannot be added)."""
    rows = tuple(inline)
    blank = tuple(row for row in rows if str(row.form.prefix).endswith("__prefix__"))
    return tuple(row for row in rows if row not in blank), blank[-1:]


def _value(row: InlineAdminForm, name: str) -> str:
    """Return the value of a row's field on the page; empty where the row has no such field."""
    form = row.form
    return str(form[name].value() or "") if name in form.fields else ""
