"""Entity properties: where the value of an attribute comes from."""

from __future__ import annotations

from typing import Literal, TypeAlias

from designer.definitions.base import Definition, JsonValue

BindingSource: TypeAlias = Literal["input", "constant", "user", "expression"]


class BindingDefinition(Definition):
    """`attribute` takes a value from `source`.

    `value` is the input's name (`input`), the constant in JSON form (`constant`), the name of a user property
    (`user`, what consultants write as `@user.name`) or a CEL expression (`expression`).
    """

    attribute: str
    source: BindingSource = "input"
    value: JsonValue
