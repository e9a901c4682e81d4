"""Custom processes, bound and unbound."""

from __future__ import annotations

import pytest

from crmclient import Platform, Reference, Value, Values
from crmclient.errors import InvalidRecord, RecordNotFound, Refused
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.contract.making import NOBODY, account


@pytest.mark.parametrize("message", ["Hello", "ünïcode 🚀 'quoted' \"too\"", "a\nb"])
def test_an_unbound_process_answers(platform: Platform, message: str) -> None:
    assert platform.execute("new_Ping", {"Message": message}) == {"Echo": message}


def test_a_bound_process_works_on_its_record(platform: Platform) -> None:
    id = account(platform)

    outputs = platform.execute("new_Approve", {"Comment": "Fine"}, target=Reference("account", id))

    assert outputs == {"Approved": True}
    about = Filter((Condition("objectid", Operator.EQ, (id,)),))
    assert platform.query(Query("annotation", (Column("notetext"),), about)).rows == [{"notetext": "Fine"}]


def test_a_process_may_refuse_in_its_own_words(platform: Platform) -> None:
    id = account(platform, name="Closed", statecode=1)

    with pytest.raises(Refused) as raised:
        platform.execute("new_Approve", {"Comment": "x"}, target=Reference("account", id))

    assert str(raised.value) == "Closed is inactive and cannot be approved."


@pytest.mark.parametrize(
    ("process", "inputs", "target", "problem"),
    [
        ("new_Ping", {}, None, ("Message", "required")),
        ("new_Ping", {"Message": None}, None, ("Message", "required")),
        ("new_Ping", {"Message": 1}, None, ("Message", "wrong_type")),
        ("new_Ping", {"Message": "x", "Other": 1}, None, ("Other", "unknown_attribute")),
        ("new_Ping", {"Message": "x"}, Reference("account", NOBODY), ("target", "unknown_target")),
        ("new_Approve", {"Comment": "x"}, None, ("target", "required")),
        ("new_Approve", {"Comment": "x"}, Reference("contact", NOBODY), ("target", "unknown_target")),
    ],
)
def test_wrong_inputs_are_named(
    platform: Platform,
    process: str,
    inputs: dict[str, Value],
    target: Reference | None,
    problem: tuple[str, str],
) -> None:
    given: Values = inputs
    with pytest.raises(InvalidRecord) as raised:
        platform.execute(process, given, target=target)
    assert [(p.attribute, p.code) for p in raised.value.problems] == [problem]


def test_a_record_that_is_not_there(platform: Platform) -> None:
    with pytest.raises(RecordNotFound):
        platform.execute("new_Approve", {"Comment": "x"}, target=Reference("account", NOBODY))
