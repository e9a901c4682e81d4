"""What an answer holds."""

from __future__ import annotations

from designer.definitions.base import Definition


class ColumnDefinition(Definition):
    """An attribute, or an output of a process, under its output name (empty: its own)."""

    attribute: str
    name: str = ""

    @property
    def shown_as(self) -> str:
        return self.name or self.attribute
