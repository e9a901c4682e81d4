"""Modules, and the entities they expose."""

from __future__ import annotations

from designer.definition import Definition
from designer.stored_queries import FilterValue


class ModuleDefinition(Definition):
    """A group of endpoints; `segment` stands in every path of it."""

    segment: str
    title: str = ""
    description: str = ""


class ExposedEntityDefinition(Definition):
    """A platform entity (`entity`, its logical name) exposed in a module under `segment`.

    `row_rule`: the only records that callers of its endpoints reach.
    """

    module: str
    segment: str
    entity: str
    title: str = ""
    description: str = ""
    row_rule: FilterValue = None

    @property
    def key(self) -> str:
        return f"{self.module}.{self.segment}"
