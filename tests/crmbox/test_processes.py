"""Custom processes: typed inputs and outputs around a Python callable."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crmbox.processes import PROCESSES, Context, process
from crmclient import Platform, Reference, Values
from crmclient.errors import InvalidRecord, RecordNotFound, Refused, UnexpectedAnswer, UnknownProcess
from crmclient.metadata import AttributeType, ProcessParameter
from tests.crmbox.shop import add_product, read

NOBODY = "11111111-1111-4111-8111-111111111111"


@pytest.fixture(autouse=True)
def shop_processes() -> Iterator[None]:
    sell_process = process(
        "shop_Sell",
        entity="shop_product",
        inputs=(
            ProcessParameter("Quantity", AttributeType.INTEGER),
            ProcessParameter("Buyer", AttributeType.LOOKUP, required=False, targets=("shop_person",)),
        ),
        outputs=(ProcessParameter("Left", AttributeType.INTEGER),),
    )(sell)
    confuses = process("shop_Confuse", outputs=(ProcessParameter("Text", AttributeType.STRING),))
    haunts = process("shop_Haunt", entity="shop_ghost")
    PROCESSES.register(sell_process, confuses(confuse), haunts(confuse))
    yield
    for name in ("shop_Sell", "shop_Confuse", "shop_Haunt"):
        del PROCESSES[name]


def sell(context: Context, inputs: Values) -> Values:
    assert context.target is not None
    have = context.platform.retrieve(context.target.entity, context.target.id, ["quantity"]).values[
        "quantity"
    ]
    wanted = inputs["Quantity"]
    assert isinstance(have, int)
    assert isinstance(wanted, int)
    context.platform.update(context.target.entity, context.target.id, {"quantity": max(0, have - wanted)})
    if wanted > have:
        raise Refused(f"Only {have} are left.")
    return {"Left": have - wanted}


def confuse(context: Context, inputs: Values) -> Values:
    return {"Text": 5}


def test_a_bound_process_works_on_its_record(platform: Platform) -> None:
    id = add_product(platform, quantity=5)

    answer = platform.execute("shop_Sell", {"Quantity": 2}, target=Reference("shop_product", id))

    assert answer == {"Left": 3}
    assert read(platform, id, "quantity") == 3


def test_a_process_that_refuses_has_done_nothing(platform: Platform) -> None:
    id = add_product(platform, quantity=1)

    with pytest.raises(Refused, match=r"Only 1 are left\."):
        platform.execute("shop_Sell", {"Quantity": 2}, target=Reference("shop_product", id))

    assert read(platform, id, "quantity") == 1


def test_all_wrong_inputs_are_named(platform: Platform) -> None:
    target = Reference("shop_product", add_product(platform, quantity=1))

    with pytest.raises(InvalidRecord) as raised:
        platform.execute("shop_Sell", {"Colour": 1, "Buyer": Reference("shop_line", NOBODY)}, target=target)

    assert {(p.attribute, p.code) for p in raised.value.problems} == {
        ("Colour", "unknown_attribute"),
        ("Quantity", "required"),
        ("Buyer", "unknown_target"),
    }


@pytest.mark.parametrize("value", ["2", 2.0, True])
def test_an_input_has_its_type(platform: Platform, value: str | float | bool) -> None:
    target = Reference("shop_product", add_product(platform, quantity=1))

    with pytest.raises(InvalidRecord) as raised:
        platform.execute("shop_Sell", {"Quantity": value}, target=target)

    assert [problem.code for problem in raised.value.problems] == ["wrong_type"]


@pytest.mark.parametrize("target", [None, Reference("shop_person", NOBODY)])
def test_a_bound_process_needs_a_record_of_its_entity(platform: Platform, target: Reference | None) -> None:
    with pytest.raises(InvalidRecord):
        platform.execute("shop_Sell", {"Quantity": 1}, target=target)


def test_a_bound_process_needs_a_record_that_exists(platform: Platform) -> None:
    with pytest.raises(RecordNotFound):
        platform.execute("shop_Sell", {"Quantity": 1}, target=Reference("shop_product", NOBODY))


def test_an_unbound_process_takes_no_record(platform: Platform) -> None:
    with pytest.raises(InvalidRecord):
        platform.execute("shop_Confuse", {}, target=Reference("shop_product", NOBODY))


def test_wrong_outputs_are_the_process_own_fault(platform: Platform) -> None:
    with pytest.raises(UnexpectedAnswer):
        platform.execute("shop_Confuse", {})


@pytest.mark.parametrize("name", ["shop_Ghost", "shop_Haunt"])
def test_what_is_not_offered_is_unknown(platform: Platform, name: str) -> None:
    assert name not in platform.processes()
    with pytest.raises(UnknownProcess):
        platform.execute(name, {})


def test_a_process_describes_itself(platform: Platform) -> None:
    sell = platform.processes()["shop_Sell"]

    assert sell.entity == "shop_product"
    assert [(p.name, p.type, p.required) for p in sell.inputs] == [
        ("Quantity", AttributeType.INTEGER, True),
        ("Buyer", AttributeType.LOOKUP, False),
    ]
