"""The selected columns: their SQL expressions, and how a row becomes a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crmbox.engine.snapshot import Snapshot
from crmbox.engine.sql.operands import Operand, name_of
from crmclient.query.families import Family
from crmclient.values import Reference, Value

ReadReference = Callable[[Sequence[Any]], Value]


class Outputs:
    """The expressions of a SELECT list: one for each key, in order, and then those that references need."""

    def __init__(self, columns: Sequence[tuple[str, Operand]], snapshot: Snapshot) -> None:
        """Take the key and the operand of each column of the result."""
        self.keys = tuple(key for key, _ in columns)
        self.expressions = [operand.value for _, operand in columns]
        self._decoders: list[tuple[str, Callable[[Any], Value]]] = []
        self._references: list[tuple[str, ReadReference]] = []
        # A reference needs further expressions: the name of its record and, at times, its entity.
        for position, (key, operand) in enumerate(columns):
            if operand.family is Family.REFERENCE:
                self._references.append((key, self._reference(position, operand, snapshot)))
            elif operand.decode is not None:
                self._decoders.append((key, operand.decode))

    def records(self, rows: Sequence[Sequence[Any]]) -> list[dict[str, Value]]:
        """Return the rows as records.

        It goes column by column, to decide once for a column how it is decoded. A row has more values than
        `keys`: those that references need come last, so `zip` is not strict.
        """
        keys = self.keys
        records: list[dict[str, Any]] = [dict(zip(keys, row, strict=False)) for row in rows]
        for key, decode in self._decoders:
            for record in records:
                stored = record[key]
                if stored is not None:
                    record[key] = decode(stored)
        for key, read in self._references:
            for record, row in zip(records, rows, strict=True):
                if record[key] is not None:
                    record[key] = read(row)
        return records

    def position_of(self, expression: str) -> int:
        """Return the position of `expression` in the SELECT list. Add the expression if it is missing."""
        if expression not in self.expressions:
            self.expressions.append(expression)
        return self.expressions.index(expression)

    def _reference(self, id_at: int, operand: Operand, snapshot: Snapshot) -> ReadReference:
        """Return what reads the reference of a lookup from a row that has its id at the position `id_at`."""
        name_at = self.position_of(name_of(operand, snapshot).value)
        if operand.target is not None:
            target_at = self.position_of(operand.target)
            return lambda row: Reference(row[target_at], row[id_at], row[name_at])
        entity = next(iter(operand.attribute.targets), "")
        return lambda row: Reference(entity, row[id_at], row[name_at])
