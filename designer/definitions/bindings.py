"""Entity properties: where the value of an attribute comes from."""

from __future__ import annotations

from typing import Literal, Self, TypeAlias

from pydantic import model_validator

from designer.definition import Definition, JsonValue
from designer.sentences import Sentence

BindingSource: TypeAlias = Literal["input", "constant", "user", "fetch", "expression"]


class BindingDefinition(Definition):
    """`attribute` takes a value from `source`.

    `value` is the input's name (`input`), the constant in JSON form (`constant`), the name of a user property
    (`user`, what consultants write as `@user.name`), a fetcher's name and column (`fetch`, what they write as
    `@fetch.name.column`; here without `@fetch.`) or a CEL expression (`expression`).
    """

    attribute: str
    source: BindingSource = "input"
    value: JsonValue

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        """Only a constant may be anything; a draft may have no value yet."""
        if self.source != "constant" and not isinstance(self.value, str | None):
            raise ValueError(
                Sentence(
                    "%(attribute)s: from %(source)s, its value is written as text",
                    attribute=self.attribute,
                    source=self.source,
                )
            )
        return self
