"""Activities of all entities, read as records of one."""

from __future__ import annotations

import datetime as dt

import pytest

from crmclient import Guid, Platform, Reference
from crmclient.errors import RecordNotFound, Refused
from crmclient.query.ast import Aggregate, Column, Condition, Filter, Link, Operator, Order, Query
from tests.contract.making import NOBODY, account, read, unique

pytestmark = pytest.mark.needs("activities")

POINTER = "activitypointer"
SOON = dt.datetime(2026, 11, 27, 9, tzinfo=dt.UTC)


@pytest.fixture
def company(platform: Platform) -> Guid:
    return account(platform, name=unique("Busy"))


@pytest.fixture
def activities(platform: Platform, company: Guid) -> dict[str, Guid]:
    """An activity of each entity about the company, by the entity."""
    about = Reference("account", company)
    return {
        entity: platform.create(
            entity, {"subject": f"A {entity}", "regardingobjectid": about, "scheduledend": SOON}
        ).id
        for entity in ("phonecall", "email", "appointment")
    }


def about(company: Guid) -> Filter:
    return Filter((Condition("regardingobjectid", Operator.EQ, (company,)),))


def test_all_are_found_with_what_they_have_in_common(
    platform: Platform, company: Guid, activities: dict[str, Guid]
) -> None:
    platform.update("email", activities["email"], {"statecode": 1})
    names = ("activityid", "activitytypecode", "subject", "statecode", "scheduledend")
    query = Query(POINTER, tuple(map(Column, names)), about(company), orders=(Order("subject"),))

    rows = [tuple(row[name] for name in names) for row in platform.query(query).rows]

    assert rows == [
        (activities[entity], entity, f"A {entity}", int(entity == "email"), SOON)
        for entity in ("appointment", "email", "phonecall")
    ]


def test_one_is_read_by_its_id(platform: Platform, company: Guid, activities: dict[str, Guid]) -> None:
    activity = platform.retrieve(POINTER, activities["email"], ["subject", "regardingobjectid"])

    regarding = activity.values["regardingobjectid"]
    assert isinstance(regarding, Reference)
    assert (regarding.entity, regarding.id) == ("account", company)
    assert activity.values["subject"] == "A email"
    platform.delete("email", activities["email"])
    with pytest.raises(RecordNotFound):
        platform.retrieve(POINTER, activities["email"], ["subject"])


def test_they_are_linked_and_counted(platform: Platform, company: Guid, activities: dict[str, Guid]) -> None:
    link = Link(POINTER, "regardingobjectid", "accountid", "a")
    own = Filter((Condition("accountid", Operator.EQ, (company,)),))
    counted = Column("activityid", "n", Aggregate.COUNT)

    rows = platform.query(Query("account", (Column("name"),), own, links=(link,))).rows

    assert len(rows) == len(activities)
    assert platform.query(Query(POINTER, (counted,), about(company))).rows == [{"n": len(activities)}]


def test_they_are_written_as_what_they_are(platform: Platform, activities: dict[str, Guid]) -> None:
    for write in (
        lambda: platform.create(POINTER, {}),
        lambda: platform.update(POINTER, activities["email"], {}),
        lambda: platform.delete(POINTER, activities["email"]),
    ):
        with pytest.raises(Refused, match="Write those instead"):
            write()
    assert read(platform, "email", activities["email"], "subject") == "A email"


def test_a_record_that_they_are_about_goes_without_them(
    platform: Platform, company: Guid, activities: dict[str, Guid]
) -> None:
    platform.delete("account", company)
    assert platform.query(Query(POINTER, (Column("subject"),), about(company))).rows == []
    assert platform.retrieve(POINTER, activities["phonecall"], ["regardingobjectid"]).values == {
        "regardingobjectid": None
    }
    with pytest.raises(RecordNotFound):
        platform.retrieve(POINTER, NOBODY, ["subject"])
