"""An input of an endpoint: what a caller may send."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Self

from pydantic import Field

from designer.definition import JsonValue
from designer.definitions.bindings import BindingDefinition
from designer.definitions.translations import LONGEST_LINE, Translated, Translations


class InputDefinition(Translated):
    """One named value. `type` is the name of an input type (`designer.types`).

    `minimum` and `maximum` are inclusive; lengths count characters, or items of a list; `allowed` holds the
    only values accepted, in JSON form; `default` is used when the input is absent (None: no default).
    `nullable` lets null clear an attribute on update. `label` is what forms call it; empty: what the platform
    calls its attribute, in each of the platform's languages.

    Of type `List`, it holds records to be created along with the endpoint's own: `relationship` is the schema
    name of the one-to-many relationship from that to them, `inputs` and `bindings` are those of each item.
    """

    longest: ClassVar[Mapping[str, int | None]] = {"label": LONGEST_LINE, "description": None}

    name: str
    type: str = "String"
    required: bool = False
    nullable: bool = True
    default: JsonValue = None
    label: str = ""
    description: str = ""
    translations: Translations = Field(default_factory=dict)
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    min_length: int | None = Field(default=None, ge=0)
    max_length: int | None = Field(default=None, ge=0)
    pattern: str = ""
    allowed: tuple[JsonValue, ...] = ()
    relationship: str = ""
    inputs: tuple[InputDefinition, ...] = ()
    bindings: tuple[BindingDefinition, ...] = ()

    def in_language(self, lcid: int) -> Self:
        found = super().in_language(lcid)
        inputs = tuple(known.in_language(lcid) for known in self.inputs)
        return found if inputs == self.inputs else found.model_copy(update={"inputs": inputs})

    def languages(self) -> frozenset[int]:
        return super().languages().union(*(known.languages() for known in self.inputs))
