"""Modules, and the entities they expose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from designer.definition import Definition
from designer.definitions.row_rules import NOBODY, RowRuleValue
from designer.definitions.translations import LONGEST_LINE, Translated, Translations


class ModuleDefinition(Translated):
    """A group of endpoints. `segment` is the first path segment of each, after the API's prefix."""

    longest: ClassVar[Mapping[str, int | None]] = {"title": LONGEST_LINE, "description": None}

    segment: str
    title: str = ""
    description: str = ""
    translations: Translations = Field(default_factory=dict)


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
        """The key of the exposed entity in documents, such as `sales.accounts`."""
        return f"{self.module}.{self.segment}"


def closed_entity(row: Mapping[str, str]) -> ExposedEntityDefinition:
    """Return a definition that lets nobody reach a record, for a row that makes no valid definition.

    `row` has the columns of that row by name.
    """
    return ExposedEntityDefinition(
        module=row["module"], segment=row["segment"], entity=row["entity"], row_rule=(NOBODY,)
    )
