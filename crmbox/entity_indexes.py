"""Which attributes of an entity have an index, and which could have one."""

from __future__ import annotations

from crmbox.engine.connection import Unit
from crmbox.engine.tables import can_be_indexed, indexed_columns
from crmclient.optional_abilities import Indexes


def entity_indexes(unit: Unit, entity: str) -> Indexes:
    """Return by which attributes of an entity an index sorts or searches, and which ones could have one.

    With them comes the approximate number of records. Raises UnknownEntity.
    """
    stored = unit.snapshot.entity(entity)
    definition = stored.definition
    if definition.is_view:
        # The tables that it shows have the indexes.
        nothing: frozenset[str] = frozenset()
        return Indexes(frozenset({stored.entity.primary_id}), nothing, nothing, nothing, records=0)
    items = {item.attribute.logical_name: item for item in definition.attributes}
    # An index of several columns helps to sort by its first one.
    indexed_names = {key.attributes[0] for key in stored.entity.keys} | {stored.entity.primary_id}
    indexed_names |= {name for name, item in items.items() if indexed_columns(definition, item)}
    [(records,)] = unit.rows(unit.dialect.approximate_count(stored.table))
    return Indexes(
        sorted=frozenset(indexed_names),
        searched=frozenset(name for name, item in items.items() if item.searched),
        sortable=frozenset(name for name, item in items.items() if can_be_indexed(item)),
        # Texts have a key, their comparison form, which is searched.
        searchable=frozenset(name for name, item in items.items() if item.key is not None),
        # PostgreSQL says -1 of a table that it has never counted, SQLite NULL of an empty one.
        records=max(0, records or 0),
    )
