"""Tying records over the wire: which of Dataverse's answers mean that nothing was left to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crmclient import Guid, Platform, Reference
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import RecordNotFound, Refused, UnexpectedAnswer
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.contract.making import unique
from tests.dataverse.conftest import Failing

MEMBERS = "teammembership_association"
REF = r"/teams\(.*/\$ref$"


def team(platform: Platform) -> Guid:
    unit = Reference("businessunit", platform.user(platform.who()).business_unit_id)
    return platform.create("team", {"name": unique("Team"), "businessunitid": unit}).id


def tied(platform: Platform, id: Guid) -> bool:
    condition = Condition("teamid", Operator.EQ, (id,))
    return bool(platform.query(Query("teammembership", (Column("systemuserid"),), Filter((condition,)))).rows)


def refusal(status: int, code: str, message: str, method: str, **fault: Any) -> dict[str, Any]:
    body = json.dumps({"error": {"code": code, "message": message}})
    headers = {"Content-Type": "application/json"}
    return {"method": method, "path": REF, "status": status, "headers": headers, "body": body, **fault}


@pytest.mark.parametrize(
    ("status", "code"), [(412, "0x80040237"), (400, "0x80040237"), (500, "0x80040237"), (412, "0x80060892")]
)
def test_a_duplicate_is_a_success_whatever_its_status(failing: Failing, status: int, code: str) -> None:
    platform = failing.platform()
    id = team(platform)
    failing.arm(refusal(status, code, "Cannot insert duplicate key.", "POST"))
    platform.associate("team", id, MEMBERS, platform.who())
    assert failing.struck() == [1]


def test_any_other_refusal_is_an_error(failing: Failing) -> None:
    platform = failing.platform()
    id = team(platform)
    failing.arm(refusal(400, "0x80040265", "No more than ten members.", "POST"))
    with pytest.raises(Refused, match="ten members"):
        platform.associate("team", id, MEMBERS, platform.who())


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_lost_answer_is_asked_for_again(failing: Failing, method: str) -> None:
    platform = failing.platform()
    id, me = team(platform), platform.who()
    act = platform.associate
    if method == "DELETE":
        platform.associate("team", id, MEMBERS, me)
        act = platform.disassociate
    failing.arm({"method": method, "path": REF, "executed": True, "cut": "answer"})
    act("team", id, MEMBERS, me)
    assert failing.struck() == [1]
    assert tied(platform, id) == (method == "POST")


def test_untying_what_the_platform_does_not_find_tied(failing: Failing) -> None:
    """An answer that names the related record may mean either that it is gone or that it is not tied."""
    platform = failing.platform()
    id, me = team(platform), platform.who()
    failing.arm(refusal(404, "0x80040217", f"systemuser With Id = {me} Does Not Exist", "DELETE"))
    platform.disassociate("team", id, MEMBERS, me)
    assert failing.struck() == [1]

    failing.arm(refusal(404, "0x80040217", f"team With Id = {id} Does Not Exist", "DELETE"))
    with pytest.raises(RecordNotFound) as raised:
        platform.disassociate("team", id, MEMBERS, me)
    assert (raised.value.entity, raised.value.id) == ("team", id)


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_success_that_says_anything_is_from_something_on_the_way(failing: Failing, method: str) -> None:
    platform = failing.platform()
    id = team(platform)
    failing.arm({"method": method, "path": REF, "status": 200, "body": "<p>Welcome</p>"})
    act = platform.associate if method == "POST" else platform.disassociate
    with pytest.raises(UnexpectedAnswer):
        act("team", id, MEMBERS, platform.who())


def test_the_collection_is_the_one_that_the_metadata_names(failing: Failing) -> None:
    """The navigation property of a relationship is mostly called as the relationship, but need not be."""
    platform: DataversePlatform = failing.platform()
    relationship = {
        "SchemaName": MEMBERS,
        "Entity1LogicalName": "team",
        "Entity1NavigationPropertyName": "team_Members",
        "Entity2LogicalName": "systemuser",
        "Entity2NavigationPropertyName": "systemuser_Teams",
        "IntersectEntityName": "teammembership",
    }
    failing.arm(
        *(
            {
                "path": rf"EntityDefinitions\(LogicalName='{entity}'\)$",
                "status": 200,
                "headers": {"Content-Type": "application/json"},
                "body": json.dumps({"ManyToManyRelationships": [relationship]}),
            }
            for entity in ("team", "systemuser")
        ),
        *({"method": "POST", "path": rf"/{name}/\$ref$", "status": 204} for name in _COLLECTIONS),
    )
    me, id = platform.who(), "11111111-1111-4111-8111-111111111111"
    platform.associate("team", id, MEMBERS, me)
    platform.associate("systemuser", me, MEMBERS, id)
    assert failing.struck() == [1, 1, 1, 1]


_COLLECTIONS = (r"teams\(.*\)/team_Members", r"systemusers\(.*\)/systemuser_Teams")
