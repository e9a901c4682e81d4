"""Modules, and the entities they expose."""

from __future__ import annotations

from collections.abc import Mapping

from designer.definition import Definition
from designer.definitions.row_rules import NOBODY, RowRuleValue


class ModuleDefinition(Definition):
    """A group of endpoints; `segment` stands in every path of it."""

    segment: str
    title: str = ""
    description: str = ""


class ExposedEntityDefinition(Definition):
    """A platform entity (`entity`, its logical name) exposed in a module under `segment`.

    `row_rule`: which records callers of its endpoints reach, by their roles.
    """

    module: str
    segment: str
    entity: str
    title: str = ""
    description: str = ""
    row_rule: RowRuleValue = ()

    @property
    def key(self) -> str:
        return f"{self.module}.{self.segment}"


def closed_entity(row: Mapping[str, str]) -> ExposedEntityDefinition:
    """What stands for an exposed entity whose `row` makes no definition: nobody reaches a record of it."""
    return ExposedEntityDefinition(
        module=row["module"], segment=row["segment"], entity=row["entity"], row_rule=(NOBODY,)
    )
