"""Published duplicate detection rules of a platform, for tests."""

from __future__ import annotations

from collections.abc import Iterable

from crmclient import Guid, Platform, Reference, Value
from crmclient.query.ast import Column, Condition, Filter, Operator, Query

PUBLISHED = 2
WHOLE, FIRST, LAST = 0, 1, 2


def published(
    platform: Platform,
    *conditions: tuple[str, int, int | None],
    base: str = "account",
    matching: str = "",
    **values: Value,
) -> Guid:
    """A rule whose conditions are an attribute, what of it is compared, and of how many characters."""
    named = {"name": "Same", "baseentityname": base, "matchingentityname": matching or base}
    rule = platform.create("duplicaterule", {**named, **values}).id
    for attribute, sameness, count in conditions:
        condition: dict[str, Value] = {
            "baseattributename": attribute,
            "matchingattributename": attribute,
            "operatorcode": sameness,
            "operatorparam": count,
            "regardingobjectid": Reference("duplicaterule", rule),
        }
        platform.create("duplicaterulecondition", condition)
    platform.update("duplicaterule", rule, {"statuscode": PUBLISHED})
    return rule


def removed(platform: Platform, rules: Iterable[Guid]) -> None:
    for rule in rules:
        platform.delete("duplicaterule", rule)
        left = Query(
            "duplicaterulecondition",
            (Column("operatorcode"),),
            Filter((Condition("regardingobjectid", Operator.EQ, (rule,)),)),
        )
        assert not platform.query(left).rows
