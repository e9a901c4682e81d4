"""Tying and untying records of a many-to-many relationship, by one rule on every platform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crmclient import Call, Guid, Platform, Reference
from crmclient.errors import AccessDenied, RecordNotFound, UnknownEntity, UnknownRelationship
from crmclient.query.ast import Column, Condition, Filter, Link, Operator, Query
from tests.contract.making import NOBODY, account, contact, unique

MEMBERS = "teammembership_association"


@pytest.fixture
def team(platform: Platform) -> Iterator[Guid]:
    """A team for one test: members that it leaves behind would be in it for all that come after."""
    unit = platform.user(platform.who()).business_unit_id
    values: dict[str, Any] = {"name": unique("Team"), "businessunitid": Reference("businessunit", unit)}
    id = platform.create("team", values).id
    yield id
    platform.delete("team", id)


def members(platform: Platform, team: Guid) -> list[Guid]:
    """The system users of a team, found as an endpoint's query finds them: over both links."""
    pairs = Link(
        "teammembership",
        "systemuserid",
        "systemuserid",
        "pair",
        links=(Link("team", "teamid", "teamid", "team", filter=_is("teamid", team)),),
    )
    page = platform.query(Query("systemuser", (Column("systemuserid"),), links=(pairs,)))
    return [str(row["systemuserid"]) for row in page.rows]


def _is(attribute: str, value: str) -> Filter:
    return Filter((Condition(attribute, Operator.EQ, (value,)),))


@pytest.mark.needs("many-to-many relationships")
def test_records_are_tied_from_either_end(platform: Platform, team: Guid) -> None:
    me = platform.who()
    platform.associate("team", team, MEMBERS, me)
    assert members(platform, team) == [me]
    platform.disassociate("systemuser", me, MEMBERS, team)
    assert members(platform, team) == []
    platform.associate("systemuser", me, MEMBERS, team)
    assert members(platform, team) == [me]


@pytest.mark.needs("many-to-many relationships")
def test_tying_and_untying_twice_is_doing_it_once(platform: Platform, team: Guid) -> None:
    me = platform.who()
    for _ in range(2):
        platform.associate("team", team, MEMBERS, me)
        assert members(platform, team) == [me]
    for _ in range(2):
        platform.disassociate("team", team, MEMBERS, me)
        assert members(platform, team) == []


@pytest.mark.needs("many-to-many relationships")
def test_neither_record_changes(platform: Platform, team: Guid) -> None:
    before = platform.retrieve("team", team, ["name", "modifiedon"])
    platform.associate("team", team, MEMBERS, platform.who())
    platform.disassociate("team", team, MEMBERS, platform.who())
    assert platform.retrieve("team", team, ["name", "modifiedon"]) == before


@pytest.mark.needs("many-to-many relationships")
@pytest.mark.parametrize("id", [NOBODY, "not-a-guid"])
def test_a_record_that_is_not_there_is_named(platform: Platform, team: Guid, id: str) -> None:
    for act in (platform.associate, platform.disassociate):
        with pytest.raises(RecordNotFound) as raised:
            act("team", id, MEMBERS, platform.who())
        assert (raised.value.entity, raised.value.id) == ("team", id)
        with pytest.raises(RecordNotFound) as raised:
            act("team", team, MEMBERS, id)
        assert (raised.value.entity, raised.value.id) == ("systemuser", id)


def test_a_relationship_that_is_not_many_to_many(platform: Platform) -> None:
    company, person = account(platform), contact(platform).id
    names = [
        relationship.name
        for relationship in platform.relationships("account")
        if relationship.referencing_attribute is not None
    ]
    for name in (*names, "nothing", MEMBERS, ""):
        for act in (platform.associate, platform.disassociate):
            with pytest.raises(UnknownRelationship) as raised:
                act("account", company, name, person)
            assert (raised.value.entity, raised.value.name) == ("account", name)
    with pytest.raises(UnknownEntity):
        platform.associate("nothing", company, MEMBERS, person)


@pytest.mark.needs("many-to-many relationships")
def test_who_is_no_user_may_not_tie(platform: Platform, team: Guid) -> None:
    for act in (platform.associate, platform.disassociate):
        with pytest.raises(AccessDenied):
            act("team", team, MEMBERS, platform.who(), call=Call(caller=NOBODY))
