"""Readiness of inputs: their names, their defaults, and what the fixes of findings about them do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmclient.metadata import Attribute, AttributeType
from designer.definitions import BindingDefinition
from designer.readiness import Checker, Metadata, check
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
