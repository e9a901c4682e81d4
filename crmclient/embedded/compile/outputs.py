"""The selected columns: what is selected for them, and how a row becomes a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crmclient.embedded.compile.operands import Family, Operand, name_of
from crmclient.embedded.snapshot import Snapshot
from crmclient.values import Reference, Value

ReadReference = Callable[[Sequence[Any]], Value]


class Outputs:
    """`expressions` begins with one for each key, in order; what references need besides comes after them."""

    def __init__(self, columns: Sequence[tuple[str, Operand]], snapshot: Snapshot) -> None:
        self.keys = tuple(key for key, _ in columns)
        self.expressions = [operand.value for _, operand in columns]
        self._decoders: list[tuple[str, Callable[[Any], Value]]] = []
        self._references: list[tuple[str, ReadReference]] = []
        for position, (key, operand) in enumerate(columns):
            if operand.family is Family.REFERENCE:
                self._references.append((key, self._reference(position, operand, snapshot)))
            elif operand.decode is not None:
                self._decoders.append((key, operand.decode))

    def record(self, row: Sequence[Any]) -> dict[str, Value]:
        record: dict[str, Any] = dict(zip(self.keys, row, strict=False))
        for key, decode in self._decoders:
            stored = record[key]
            if stored is not None:
                record[key] = decode(stored)
        for key, read in self._references:
            if record[key] is not None:
                record[key] = read(row)
        return record

    def position_of(self, expression: str) -> int:
        """Where `expression` is selected, adding it if it is not yet."""
        if expression not in self.expressions:
            self.expressions.append(expression)
        return self.expressions.index(expression)

    def _reference(self, id: int, operand: Operand, snapshot: Snapshot) -> ReadReference:
        name = self.position_of(name_of(operand, snapshot).value)
        if operand.target is not None:
            target = self.position_of(operand.target)
            return lambda row: Reference(row[target], row[id], row[name])
        entity = next(iter(operand.attribute.targets), "")
        return lambda row: Reference(entity, row[id], row[name])
