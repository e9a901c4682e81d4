"""Option sets by name, global ones and those of an entity's attributes."""

from __future__ import annotations

from crmbox.engine.snapshot import Snapshot
from crmclient.errors import UnknownOptionSet
from crmclient.metadata import OptionSet


def option_set(snapshot: Snapshot, name: str, entity: str | None) -> OptionSet:
    """Return a global option set, or the one of an attribute. Raises UnknownEntity, UnknownOptionSet."""
    if entity is None:
        return snapshot.global_option_set(name)
    column = snapshot.entity(entity).columns.get(name)
    if column is None or not column.attribute.type.has_options:
        raise UnknownOptionSet(f"{entity}.{name}")
    return snapshot.options_of(column.attribute)
