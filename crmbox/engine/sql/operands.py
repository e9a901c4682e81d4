"""An attribute of one source of a query, as SQL text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from crmbox.engine.codecs import as_stored
from crmbox.engine.dialects.base import Storage
from crmbox.engine.names import quote
from crmbox.engine.snapshot import Snapshot, StoredColumn
from crmclient.metadata import Attribute
from crmclient.query.families import FAMILY, Family
from crmclient.text import fold


@dataclass(frozen=True, slots=True)
class Operand:
    """An attribute as SQL: `value` is what is stored, `compared` its comparison form, of the kind `storage`.

    `target` says which entity a polymorphic lookup points at. `label` names the attribute in messages.
    `encode` makes a parameter that compares with `compared`; `decode` makes a value of what `value` gives
    (None: it is one).
    """

    label: str
    attribute: Attribute
    family: Family
    value: str
    compared: str
    target: str | None
    storage: Storage
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any] | None
    nullable: bool = True


def operand_of(column: StoredColumn, source: str, label: str) -> Operand:
    """Return the operand of an attribute's column in the table with the SQL alias `source`."""
    attribute = column.attribute
    value = f"{source}.{quote(column.name)}"
    return Operand(
        label=label,
        attribute=attribute,
        family=FAMILY[attribute.type],
        value=value,
        compared=f"{source}.{quote(column.key)}" if column.key is not None else value,
        target=f"{source}.{quote(column.target)}" if column.target is not None else None,
        storage=Storage.KEY if column.key is not None else column.codec.storage,
        encode=column.encode_key,
        decode=None if column.codec.decode is as_stored else column.codec.decode,
        nullable=not attribute.is_primary_id,
    )


def name_of(reference: Operand, snapshot: Snapshot) -> Operand:
    """Return an operand for the primary name of the record that a lookup points at, as text.

    The name is empty when the lookup is.
    """
    return replace(
        reference,
        label=f"{reference.label} (its name)",
        family=Family.TEXT,
        value=_name(reference, snapshot, compared=False),
        compared=_name(reference, snapshot, compared=True),
        target=None,
        storage=Storage.KEY,
        encode=fold_text,
        decode=None,
        nullable=True,
    )


def fold_text(value: object) -> str:
    """Return a text in its comparison form. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError("text is needed")
    return fold(value)


def _name(reference: Operand, snapshot: Snapshot, *, compared: bool) -> str:
    """Return SQL for the name of the record that a lookup points at: a subquery for each possible target.

    `compared`: the folded form of the name, which is compared and sorted by. Unlike a join, a subquery can
    stand in any clause.
    """
    targets = reference.attribute.targets
    if reference.target is None:
        return _name_in(targets[0], reference.value, snapshot, compared=compared) if targets else "NULL"
    # Targets are logical names, which hold neither quotes nor placeholders.
    cases = " ".join(
        f"WHEN '{target}' THEN {_name_in(target, reference.value, snapshot, compared=compared)}"
        for target in targets
    )
    return f"CASE {reference.target} {cases} END" if targets else "NULL"


def _name_in(target: str, id: str, snapshot: Snapshot, *, compared: bool) -> str:
    """Return the SQL of the name of the record with the id `id` in the entity `target`; NULL where that
    entity is unknown or has no primary name.
    """
    if target not in snapshot:
        return "NULL"
    stored = snapshot.entity(target)
    name = stored.name_column
    if name is None:
        return "NULL"
    column = quote(name.comparable if compared else name.name)
    table, key = quote(stored.table), quote(stored.id_column.name)
    return f"(SELECT named.{column} FROM {table} AS named WHERE named.{key} = {id})"
