"""Which type of input is proposed for the parameter of a condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from crmclient.metadata import Attribute, AttributeType
from designer.endpoint_facts.parameter_types import parameter_types
from designer.types import TYPES, InputType, Limits, Reader

ATTRIBUTES = [Attribute("value", type) for type in AttributeType]


@dataclass(frozen=True, slots=True)
class Anything(InputType):
    """Reads some of the values of every attribute, and is the own type of none."""

    name: str = "Anything"
    label: str = "Anything"
    attribute_types: frozenset[AttributeType] = frozenset(AttributeType)
    constraints: frozenset[str] = frozenset()
    sample: ClassVar[Any] = "anything"

    def is_natural_for(self, attribute: Attribute) -> bool:
        return False

    def compile(self, limits: Limits) -> Reader:
        return str

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "string"}


def proposed() -> dict[str, dict[str, str]]:
    return {attribute.type.value: dict(parameter_types(attribute)) for attribute in ATTRIBUTES}


def register_anew(monkeypatch: pytest.MonkeyPatch, *types: InputType) -> None:
    for name in list(TYPES):
        monkeypatch.delitem(TYPES, name)
    for type in types:
        monkeypatch.setitem(TYPES, type.name, type)


def test_the_order_of_the_registry_proposes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = proposed()
    register_anew(monkeypatch, *reversed(TYPES.values()))
    assert proposed() == before


def test_a_further_type_is_proposed_where_no_other_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    before = proposed()
    register_anew(monkeypatch, Anything(), *TYPES.values())
    after = proposed()
    assert {type: {**types, **before[type]} for type, types in after.items()} == after


def test_the_own_type_of_an_attribute_comes_first() -> None:
    assert proposed()["Integer"]["eq"] == "Integer"
    # A query string holds a line of text.
    assert proposed()["Memo"]["contains"] == "String"
