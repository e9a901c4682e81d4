"""Which attributes of an entity have an index, and which could have one."""

from __future__ import annotations

from crmbox.engine.connection import Unit
from crmbox.engine.tables import can_be_indexed, indexed_columns
from crmclient.optional_abilities import Indexes


def entity_indexes(unit: Unit, entity: str) -> Indexes | None:
    """Return the indexes of an entity as `TellsIndexes` does. Raises UnknownEntity."""
    stored = unit.snapshot.entity(entity)
    definition = stored.definition
    if definition.is_view:
        # Its rows are those of several tables. Each may have an index of its own, or none.
        return None
    primary_id = frozenset({stored.entity.primary_id})
    by_name = {
        attribute_definition.attribute.logical_name: attribute_definition
        for attribute_definition in definition.attributes
    }
    indexed = {name for name, item in by_name.items() if indexed_columns(definition, item)}
    # The index of a key lacks records that lack one of its values: it finds records only by all of them.
    found_by_key = {key.attributes[0] for key in stored.entity.keys if len(key.attributes) == 1}
    indexable = frozenset(name for name, item in by_name.items() if can_be_indexed(item))
    # Indexes of lookups lack the records without a value, and orders by a lookup are by the record's name.
    lookups = {name for name, item in by_name.items() if item.attribute.targets}
    [(records,)] = unit.rows(unit.dialect.approximate_count(stored.table))
    return Indexes(
        compared=primary_id | indexed | found_by_key,
        sorted=primary_id | (indexed - lookups),
        searched=frozenset(name for name, item in by_name.items() if item.searched),
        comparable=indexable,
        sortable=indexable - lookups,
        # Texts have a key, their comparison form, which is searched.
        searchable=frozenset(name for name, item in by_name.items() if item.key is not None),
        # PostgreSQL says -1 of a table that it has never counted, SQLite NULL of an empty one.
        records=max(0, records or 0),
    )
