"""The ids of the records above or below one, along the lookups by which records form a hierarchy.

A record that was reached is not followed again, so that records in a circle end the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crmbox.engine.names import quote
from crmbox.engine.snapshot import StoredEntity
from crmclient.query.ast import Operator

_DOWNWARDS: Final = frozenset({Operator.UNDER, Operator.EQ_OR_UNDER, Operator.NOT_UNDER})
_WITH_ITSELF: Final = frozenset({Operator.EQ_OR_UNDER, Operator.EQ_OR_ABOVE})


def in_hierarchy(
    compared: str, operator: Operator, entities: Sequence[StoredEntity], placeholder: str
) -> tuple[str, int]:
    """Return a condition on the place of a record in a hierarchy, and how often it takes the parameter.

    `compared` is the id of the record, the parameter that of the record that `operator` starts from. Every
    one of `entities` must have a hierarchy.
    """
    # NOT UNDER denies UNDER, and also matches an empty lookup.
    matched_operator = Operator.UNDER if operator is Operator.NOT_UNDER else operator
    parts = [f"{compared} IN ({_ids(entity, matched_operator, placeholder)})" for entity in entities]
    text = " OR ".join(parts)
    if operator is Operator.NOT_UNDER:
        return f"({compared} IS NULL OR NOT ({text}))", len(parts)
    return f"({text})", len(parts)


def _ids(entity: StoredEntity, operator: Operator, placeholder: str) -> str:
    """Return the SQL that selects the ids of the records above or below one, whose id is its parameter."""
    parent = entity.parent_column
    assert parent is not None  # noqa: S101
    table, id, above = quote(entity.table), quote(entity.id_column.name), quote(parent.name)
    # `begin` selects the first ids, `step` those one level further down or up. UNION drops ids that were
    # reached before, so that a circle ends.
    # Downwards, the first rows have the parameter as their own id or, without the record itself, as the
    # record above them. Upwards, the row with that id gives its own id or that of the record above it.
    start_column = id if operator in _WITH_ITSELF else above
    if operator in _DOWNWARDS:
        begin = f"SELECT n.{id} FROM {table} AS n WHERE n.{start_column} = {placeholder}"
        step = f"SELECT n.{id} FROM {table} AS n JOIN reached ON n.{above} = reached.id"
    else:
        begin = f"SELECT n.{start_column} FROM {table} AS n WHERE n.{id} = {placeholder}"
        step = f"SELECT n.{above} FROM {table} AS n JOIN reached ON n.{id} = reached.id"
    # A record at the top has no record above it. The empty id equals none, and is left out.
    return f"WITH RECURSIVE reached(id) AS ({begin} UNION {step}) SELECT id FROM reached WHERE id IS NOT NULL"
