"""Inputs as a grid: each with the entity properties that it fills, and the properties that no input fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class InputLine:
    """The row of an input, and the rows of the entity properties that take their value from the input."""

    row: Any
    bound: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class InputGrid:
    """`others` are the properties that no input of the grid fills. `blank` and `blank_binding` are what
    scripts copy where rows may be added: none or one each.
    """

    lines: tuple[InputLine, ...]
    others: tuple[Any, ...] = ()
    blank: tuple[InputLine, ...] = ()
    blank_binding: tuple[Any, ...] = ()


def grid(inputs: Any, bindings: Any = None) -> InputGrid:
    """`inputs` and `bindings` are the admin's formsets of a page; None where its kind writes nothing."""
    rows, blank = _rows(inputs)
    properties, blank_binding = _rows(bindings) if bindings is not None else ((), ())
    names = {_value(row, "name") for row in rows} - {""}
    filled: dict[str, list[Any]] = {name: [] for name in names}
    others: list[Any] = []
    for row in properties:
        # An input that is called so twice has a finding; the first has the property then.
        name = _value(row, "value_text").strip().removeprefix("@")
        is_filled = _value(row, "source") == "input" and name in filled
        (filled[name] if is_filled else others).append(row)
    lines = tuple(InputLine(row, tuple(filled.pop(_value(row, "name"), ()))) for row in rows)
    return InputGrid(lines, tuple(others), tuple(InputLine(row) for row in blank), blank_binding)


def _rows(inline: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the existing rows, and the blank row (empty if rows cannot be added)."""
    rows = tuple(inline)
    blank = tuple(row for row in rows if str(row.form.prefix).endswith("__prefix__"))
    return tuple(row for row in rows if row not in blank), blank[-1:]


def _value(row: Any, name: str) -> str:
    """What a field of a row holds on the page; empty where the row has no such field."""
    form = row.form
    return str(form[name].value() or "") if name in form.fields else ""
