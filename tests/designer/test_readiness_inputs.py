"""Readiness of inputs: their names, their defaults, and what the fixes of findings about them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from crmclient.metadata import Attribute, AttributeType, Label, Option, OptionSet
from designer.configuration import Endpoint
from designer.definitions import BindingDefinition, UserPropertyDefinition
from designer.readiness import Checker, Finding, Metadata, check
from designer.types import TYPES, InputType, Limits, Reader
from tests.designer.judged import (
    BOUND,
    NAME,
    Catalogue,
    an_input,
    configured,
    create,
    found,
    metadata,
    with_input,
)


def test_a_required_input_with_a_default_may_be_left_out_and_keeps_its_default() -> None:
    endpoint = with_input(default="x")
    checker = Checker(configured(endpoint), metadata())
    (finding,) = (each for each in checker.endpoint(1) if each.rule == "input-required-default")
    assert "callers may leave it out" in finding.message
    assert checker.fix(1, finding) is None
    # An update never uses the default, and another rule says so.
    assert "input-required-default" not in found(create(kind="update", inputs=(an_input(default="x"),)))


def test_names_that_differ_in_case_are_both_named() -> None:
    endpoint = create(inputs=(NAME, an_input(name="NAME")))
    messages = [
        finding.message
        for finding in check(endpoint, configured(endpoint), metadata())
        if finding.rule == "input-repeated"
    ]
    ending = "differ only in upper and lower case. Rename one of them."
    assert messages == [f"The inputs “name” and “NAME” {ending}", f"The inputs “NAME” and “name” {ending}"]


def _checked(endpoint: Endpoint) -> list[Finding]:
    return check(endpoint, configured(endpoint), metadata())


@dataclass(frozen=True, slots=True)
class LongType(InputType):
    """A package's type, of texts that have 60 characters."""

    name: str = "Long"
    label: str = "Long text"
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.STRING})
    constraints: frozenset[str] = frozenset()

    def compile(self, limits: Limits) -> Reader:
        if limits.max_length is not None and limits.max_length < 60:
            raise ValueError("its texts have 60 characters")
        return str

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "string"}


@pytest.mark.parametrize("name", [name for name, one in TYPES.items() if one.most_items is not None])
def test_a_list_that_needs_more_items_than_any_list_holds_is_found(name: str) -> None:
    """Every call would be refused."""
    most = TYPES[name].most_items
    assert most is not None
    for fewest, fields in ((most, []), (most + 1, ["inputs.name.min_length"])):
        found = _checked(create(inputs=(an_input(type=name, min_length=fewest),), bindings=()))
        assert [finding.field for finding in found if finding.rule == "input-limits"] == fields
        # The reader has the same bounds.
        schema = TYPES[name].schema(Limits(min_length=fewest))
        assert (schema["minItems"] > schema["maxItems"]) is bool(fields)


def test_an_attribute_whose_limits_a_type_refuses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TYPES, "Long", LongType())
    found_of = {
        attribute: [
            (finding.field, finding.message)
            for finding in _checked(create(inputs=(an_input(type="Long"),), bindings=(bound,)))
            if finding.rule == "input-limits"
        ]
        for attribute in ("name", "secret")
        for bound in [BindingDefinition(attribute=attribute, value="name")]
    }
    assert found_of == {
        "name": [("inputs.name.type", "Input “name”: its texts have 60 characters.")],
        "secret": [],
    }


def test_a_fix_makes_no_input_whose_name_differs_in_case_alone() -> None:
    """It binds the attribute to the one that is there, or leaves it to a person."""
    called = an_input(name="NAME", max_length=50)
    unbound = create(inputs=(called,), bindings=())
    checker = Checker(configured(unbound), metadata())
    (finding,) = (each for each in checker.endpoint(1) if each.rule == "required-attribute-unbound")
    fix = checker.fix(1, finding)
    assert fix is not None
    assert (fix.inputs, [binding.value for binding in fix.bindings]) == ((), ["NAME"])

    checker = Checker(configured(create(inputs=(called,), bindings=(BOUND,))), metadata())
    (finding,) = (each for each in checker.endpoint(1) if each.rule == "binding-input")
    assert "Did you mean “NAME”?" in finding.message
    assert checker.fix(1, finding) is None


class Lengths(Catalogue):
    """Things with several texts, each of another length."""

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        lengths = {"name": 50, "title": 20, "subject": 80}
        return {
            name: Attribute(name, AttributeType.STRING, max_length=length) for name, length in lengths.items()
        }


def test_the_shortest_attribute_of_an_input_sets_its_limit() -> None:
    platform: Any = Lengths()
    bindings = tuple(BindingDefinition(attribute=name, value="name") for name in platform.attributes("thing"))
    endpoint = create(inputs=(an_input(max_length=200),), bindings=bindings)
    checker = Checker(configured(endpoint), Metadata(platform))
    findings = [each for each in checker.endpoint(1) if each.rule == "binding-length"]
    changes = [fix.changes for finding in findings if (fix := checker.fix(1, finding)) is not None]
    assert changes == [{"inputs.name.max_length": 20}] * 3


def choice(name: str, *values: int) -> Attribute:
    options = OptionSet(name, Label(), tuple(Option(value, Label()) for value in values), entity="thing")
    return Attribute(name, AttributeType.PICKLIST, option_set=name, options=options)


_ATTRIBUTES = (
    Attribute("name", AttributeType.STRING, max_length=50),
    Attribute("title", AttributeType.STRING, max_length=20),
    choice("small", 1, 2),
    choice("large", 2, 3),
    choice("other", 4),
    Attribute("few", AttributeType.INTEGER, minimum=Decimal(0), maximum=Decimal(10)),
    Attribute("many", AttributeType.INTEGER, minimum=Decimal(20), maximum=Decimal(90)),
    Attribute("price", AttributeType.MONEY),
    Attribute("due", AttributeType.DATETIME),
    Attribute("total", AttributeType.BIGINT),
    Attribute("unitid", AttributeType.LOOKUP, targets=("unit",)),
    Attribute("userid", AttributeType.LOOKUP, targets=("systemuser",)),
    Attribute("ownerid", AttributeType.OWNER, targets=("systemuser", "team")),
)


class Several(Catalogue):
    """Things with attributes that have no, some or all values in common."""

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        if entity == "systemuser":
            return {**super().attributes(entity), "phone": Attribute("phone", AttributeType.STRING)}
        if entity != "thing":
            return super().attributes(entity)
        return {attribute.logical_name: attribute for attribute in _ATTRIBUTES}

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        options = self.attributes("thing")[name].options
        assert options is not None
        return options


def judged_by_several(endpoint: Endpoint, *properties: UserPropertyDefinition) -> list[Finding]:
    platform: Any = Several()
    return check(endpoint, configured(endpoint, properties=properties), Metadata(platform))


@pytest.mark.parametrize(
    ("input", "attributes", "rule"),
    [
        ({"type": "OptionSet"}, ("small", "large"), ""),
        ({"type": "OptionSet", "allowed": [2]}, ("small", "large"), ""),
        ({"type": "OptionSet", "allowed": [3]}, ("small", "large"), "input-allowed"),
        ({"type": "OptionSet", "allowed": [1]}, ("small", "large"), "input-allowed"),
        ({"type": "OptionSet"}, ("small", "other"), "input-attributes"),
        ({"type": "OptionSet"}, ("other", "small", "large"), "input-attributes"),
        ({"type": "Integer"}, ("few",), ""),
        ({"type": "Integer"}, ("few", "many"), "input-attributes"),
        ({"type": "Integer", "minimum": 11}, ("few",), "input-attributes"),
        ({"type": "Integer", "minimum": 11, "maximum": 10}, ("few",), "input-limits"),
        ({"type": "String", "min_length": 20}, ("name", "title"), ""),
        ({"type": "String", "min_length": 21}, ("name", "title"), "input-attributes"),
        ({"type": "EntityReference"}, ("userid", "ownerid"), ""),
        ({"type": "EntityReference"}, ("unitid", "ownerid"), "input-attributes"),
    ],
)
def test_an_input_whose_attributes_hold_no_value_together_is_found(
    input: dict[str, Any], attributes: tuple[str, ...], rule: str
) -> None:
    """Every call that sends it would be refused."""
    bindings = [BindingDefinition(attribute=name, value="name") for name in attributes]
    endpoint = create(inputs=(an_input(**input),), bindings=bindings)
    blocking = {finding.rule for finding in judged_by_several(endpoint) if finding.is_blocking}
    assert blocking == ({rule} if rule else set())


@pytest.mark.parametrize("attribute", ["price", "due", "total", "unitid"])
@pytest.mark.parametrize("source", ["user", "expression", "fetch"])
def test_a_text_for_an_attribute_that_takes_only_some_texts_is_found(attribute: str, source: str) -> None:
    """Whether a call is answered depends on what people have written."""
    phone = UserPropertyDefinition(name="phone", attribute="phone")
    fetched = '<fetch><entity name="unit"><attribute name="name"/></entity></fetch>'
    value = {"user": "phone", "expression": "user.phone", "fetch": "first.name"}[source]

    def found_with(*bound: str) -> list[tuple[str, str]]:
        bindings = [BindingDefinition(attribute=name, source=source, value=value) for name in bound]
        endpoint = create(
            inputs=(an_input(),),
            bindings=(BOUND, *bindings),
            fetchers=[{"name": "first", "query": fetched}],
        )
        findings = judged_by_several(endpoint, phone)
        assert not [finding for finding in findings if finding.is_blocking]
        return [(each.rule, each.field) for each in findings if each.rule == "binding-value-text"]

    assert found_with(attribute, "title") == [("binding-value-text", f"bindings.{attribute}.value")]
