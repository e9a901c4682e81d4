"""Inputs that readiness lets pass are served, and inputs that it blocks are not: over every type of input,
with values of every type as its default and as its allowed values.

Each case is an endpoint of its own, judged and then called for real without the input.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pytest

from crmbox.demo.people import FIRST_CONTACT, RITA_REP
from crmclient.query.ast import Operator
from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import EndpointDefinition, ExposedEntityDefinition, ModuleDefinition
from designer.platform import get_platform
from designer.ports import Attempt
from designer.readiness import Checker, Metadata
from designer.types import TYPES, InputType, holds_records, natural_type
from runtime.studio import StudioRuntime

pytestmark = pytest.mark.usefixtures("portico")

EXPOSED = ExposedEntityDefinition(module="shop", segment="things", entity="account")
ITEMS: tuple[Any, ...] = (
    "some text",
    "",
    "7",
    6,
    4711,
    100000001,
    1.5,
    True,
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    FIRST_CONTACT,
    {"type": "systemuser", "id": RITA_REP},
)
VALUES: tuple[Any, ...] = (*ITEMS, *([item] for item in ITEMS), [], ["some text", 6], [6, 7])


def blocked_and_status(definition: Mapping[str, Any]) -> tuple[dict[str, str], int]:
    """What blocks an endpoint, by rule, and the status of a call without any input."""
    exposed = EXPOSED if definition.get("exposure") else None
    endpoint = Endpoint(EndpointDefinition.model_validate({"module": "shop", **definition}), exposed)
    configuration = Configuration(
        Revision(1, "x"),
        {1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=(EXPOSED,),
    )
    findings = Checker(configuration, Metadata(get_platform())).endpoint(1)
    body = json.dumps({}).encode() if endpoint.kind.writes else b""
    attempt = Attempt(caller_record=RITA_REP, content=body, dry=False)
    outcome = StudioRuntime().attempt(endpoint, configuration, attempt)
    return {finding.rule: finding.message for finding in findings if finding.is_blocking}, outcome.status


# Inputs whose default is of the right type, and a value that their condition never takes.
UNFIT = (
    ("createdon", "last-x-days", "Integer", 99999999),
    ("createdon", "last-x-days", "Integer", 0),
    ("createdon", "on", "Date", "9999-12-31"),
    ("name", "eq", "String", ""),
    ("numberofemployees", "eq", "BigInt", 99999999999),
    ("numberofemployees", "between", "BigInt", 99999999999),
)


def asking(attribute: str, operator: str, *inputs: Mapping[str, Any]) -> dict[str, Any]:
    value = "<value>@it</value>" * (2 if operator == "between" else 1)
    condition = f'<condition attribute="{attribute}" operator="{operator}">{value}</condition>'
    inside = f'<attribute name="name"/><filter>{condition}</filter>'
    query = f'<fetch top="1"><entity name="account">{inside}</entity></fetch>'
    return {"kind": "multi-query", "name": "asked", "inputs": inputs, "settings": {"query": query}}


def creating(attribute: str, *inputs: Mapping[str, Any], kind: str = "create") -> dict[str, Any]:
    bindings = [{"attribute": "name", "source": "constant", "value": "Contoso"}]
    bindings = [*bindings[attribute == "name" :], {"attribute": attribute, "value": "it"}]
    return {"kind": kind, "exposure": "things", "inputs": inputs, "bindings": bindings}


def variants() -> Iterator[dict[str, Any]]:
    for value, required in itertools.product(VALUES, (False, True)):
        yield {"default": value, "required": required}
    for value in VALUES:
        yield {"allowed": [value]}
        yield {"allowed": [value], "default": value}


def mismatches(made: Mapping[str, dict[str, Any]], answers: Collection[int]) -> list[str]:
    """Which endpoints are blocked and served, or neither, or give another status than one of `answers`."""
    wrong: list[str] = []
    for name, definition in made.items():
        blocking, status = blocked_and_status(definition)
        if bool(blocking) is not (status == 503) or status not in answers:
            wrong.append(f"{name}: {status} {blocking}")
    return wrong


def attributes_of(kind: InputType, *, written: bool) -> list[str]:
    """The name of an attribute of accounts whose values are of the type: one that is compared, or written.

    None for a type of which accounts have no attribute.
    """
    platform = get_platform()
    keys = {name for key in platform.entities()["account"].keys for name in key.attributes}
    found = [
        name
        for name, attribute in platform.attributes("account").items()
        if natural_type(attribute) is kind
        and name not in keys
        and (
            attribute.creatable and not attribute.is_required and not attribute.is_primary_id
            if written
            else kind.rank(Operator.EQ, attribute) == 0
        )
    ]
    return found[:1]


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("is_list", [False, True], ids=["one", "list"])
def test_parameters_of_queries_are_judged_as_they_are_read(type: str, is_list: bool) -> None:
    one, many = ("eq", "in") if not TYPES[type].is_several else ("eq", "contain-values")
    made = {
        f"{attribute} {given}": asking(
            attribute, many if is_list else one, {"name": "it", "type": type, **given}
        )
        for attribute in attributes_of(TYPES[type], written=False)
        for given in variants()
    }
    assert not (wrong := mismatches(made, {200, 503})), "\n".join(wrong)


@pytest.mark.parametrize(("attribute", "operator", "type", "default"), UNFIT)
def test_a_default_that_its_condition_never_takes_is_refused(
    attribute: str, operator: str, type: str, default: Any
) -> None:
    """Callers who leave the parameter out have made no mistake."""
    blocking, status = blocked_and_status(
        asking(attribute, operator, {"name": "it", "type": type, "default": default})
    )
    assert "cannot compare with this value" in blocking["input-default"]
    assert status == 503


@pytest.mark.parametrize("type", [name for name in TYPES if not holds_records(name)])
def test_inputs_of_a_create_are_judged_as_they_are_read(type: str) -> None:
    made = {
        f"{attribute} {given}": creating(attribute, {"name": "it", "type": type, **given})
        for attribute in attributes_of(TYPES[type], written=True)
        for given in variants()
    }
    # Whether there is a record with an id, readiness does not know.
    served = {200, 400, 503} if TYPES[type].needs_targets else {200, 503}
    assert not (wrong := mismatches(made, served)), "\n".join(wrong)


def test_a_default_that_an_update_never_reads_blocks_nothing() -> None:
    """It is cleared by a fix. Until then, calls keep what they leave out."""
    definition = creating(
        "numberofemployees", {"name": "it", "type": "Integer", "default": "x"}, kind="update"
    )
    blocking, status = blocked_and_status(definition)
    assert blocking == {}
    assert status != 503


@pytest.mark.parametrize("names", [("it", "It"), ("IT", "it")])
def test_names_that_differ_only_in_case_are_refused_and_not_served(names: tuple[str, str]) -> None:
    inputs = tuple({"name": name} for name in names)
    for definition in (asking("name", "eq", *inputs), creating("name", *inputs)):
        blocking, status = blocked_and_status(definition)
        assert "differ only in upper and lower case" in blocking["input-repeated"]
        assert status == 503


def test_an_input_of_two_attributes_is_judged_by_the_one_that_limits_it() -> None:
    """Of the two, the choice has no option 4711; whichever is bound last."""
    both = [{"attribute": name, "value": "it"} for name in ("industrycode", "new_priority")]
    inputs: tuple[Any, ...] = ({"name": "it", "type": "OptionSet", "default": 6},)
    for bindings in (both, both[::-1]):
        definition = {**creating("name", *inputs), "bindings": bindings}
        definition["bindings"] = [{"attribute": "name", "source": "constant", "value": "x"}, *bindings]
        blocking, status = blocked_and_status(definition)
        assert ("input-default" in blocking) is (status == 503)
