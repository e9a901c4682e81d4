"""What an answer holds."""

from __future__ import annotations

from designer.definition import Definition


class ColumnDefinition(Definition):
    """An attribute, a column of a query by its key in the row, or an output of a process, under its output
    name (empty: its own). With a CEL `expression` it is calculated, and has a name but no attribute.
    """

    attribute: str = ""
    name: str = ""
    expression: str = ""

    @property
    def shown_as(self) -> str:
        return self.name or self.attribute
