"""Modules, and the entities they expose."""

from __future__ import annotations

from designer.definitions.base import Definition


class ModuleDefinition(Definition):
    """A group of endpoints; `segment` stands in every path of it."""

    segment: str
    title: str = ""
    description: str = ""


class ExposedEntityDefinition(Definition):
    """A platform entity (`entity`, its logical name) exposed in a module under `segment`."""

    module: str
    segment: str
    entity: str
    title: str = ""
    description: str = ""

    @property
    def key(self) -> str:
        return f"{self.module}.{self.segment}"
