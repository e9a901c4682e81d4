"""An input of an endpoint: what a caller may send."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from designer.definition import Definition, JsonValue
from designer.definitions.bindings import BindingDefinition


class InputDefinition(Definition):
    """One named value. `type` is the name of an input type (`designer.types`).

    `minimum` and `maximum` are inclusive; lengths count characters, or items of a list; `allowed` holds the
    only values accepted, in JSON form; `default` is used when the input is absent (None: no default).
    `nullable` lets null clear an attribute on update.

    Of type `List`, it holds records to be created along with the endpoint's own: `relationship` is the schema
    name of the one-to-many relationship from that to them, `inputs` and `bindings` are those of each item.
    """

    name: str
    type: str = "String"
    required: bool = False
    nullable: bool = True
    default: JsonValue = None
    description: str = ""
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    min_length: int | None = Field(default=None, ge=0)
    max_length: int | None = Field(default=None, ge=0)
    pattern: str = ""
    allowed: tuple[JsonValue, ...] = ()
    relationship: str = ""
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()
