"""Which attributes of an entity have an index, and which could have one."""

from __future__ import annotations

from crmbox.engine.connection import Unit
from crmbox.engine.tables import can_be_indexed, indexed_columns
from crmclient.platform import Indexes


def entity_indexes(unit: Unit, entity: str) -> Indexes:
    """Raises UnknownEntity."""
    stored = unit.snapshot.entity(entity)
    definition = stored.definition
    items = {item.attribute.logical_name: item for item in definition.attributes}
    found = {key.attributes[0] for key in stored.entity.keys} | {stored.entity.primary_id}
    found |= {name for name, item in items.items() if indexed_columns(definition, item)}
    [(records,)] = unit.rows(unit.dialect.about_records(stored.table))
    return Indexes(
        sorted=frozenset(found),
        searched=frozenset(name for name, item in items.items() if item.searched),
        sortable=frozenset(name for name, item in items.items() if can_be_indexed(item)),
        searchable=frozenset(name for name, item in items.items() if item.key is not None),
        records=max(0, records or 0),
    )
