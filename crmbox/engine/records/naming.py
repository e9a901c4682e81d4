"""The primary name of the record that a lookup points at, as an SQL expression."""

from __future__ import annotations

from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, StoredColumn

MOST_TARGETS = 16
"""Lookups with more targets, such as a note's *regarding*, go without names: each target costs a subquery."""


def name_expression(snapshot: Snapshot, column: StoredColumn, table: str) -> str | None:
    """The name of what `column` of `table` (an alias, as SQL text) points at; None where there is none to
    give.
    """
    targets = column.attribute.targets
    if not column.attribute.type.is_reference or len(targets) > MOST_TARGETS:
        return None
    names = {target: _name_of(snapshot, target, f"{table}.{quote(column.name)}") for target in targets}
    if column.target is None:
        return next(iter(names.values()), None)
    cases = " ".join(f"WHEN '{target}' THEN {name}" for target, name in names.items() if name is not None)
    return f"CASE {table}.{quote(column.target)} {cases} END" if cases else None


def _name_of(snapshot: Snapshot, target: str, pointer: str) -> str | None:
    stored = snapshot.entity(target)
    name = stored.name_column
    if name is None:
        return None
    return (
        f"(SELECT n.{quote(name.name)} FROM {quote(stored.table)} n "
        f"WHERE n.{quote(stored.id_column.name)} = {pointer})"
    )
