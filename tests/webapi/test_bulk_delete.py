from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.webapi.crm import Crm


def job(crm: Crm, *conditions: dict[str, Any], operator: str = "And", entity: str = "account") -> Any:
    criteria = {"FilterOperator": operator, "Conditions": list(conditions)}
    body = {"JobName": "Tidy up", "QuerySet": [{"EntityName": entity, "Criteria": criteria}]}
    return crm.send("POST", "BulkDelete", json=body)


def test_a_job_deletes_what_its_query_finds(crm: Crm) -> None:
    ids = [crm.create("accounts", {"name": f"Bulk {n}"}) for n in range(3)]
    values = [{"Value": id, "Type": "System.Guid"} for id in ids[:2]]
    answer = job(crm, {"AttributeName": "accountid", "Operator": "In", "Values": values})
    assert uuid.UUID(answer.json()["JobId"])
    assert [crm.send("GET", f"accounts({id})").status_code for id in ids] == [404, 404, 200]


def test_conditions_are_alternatives_when_the_filter_says_so(crm: Crm) -> None:
    ids = [crm.create("accounts", {"name": name}) for name in ("Either", "Or else", "Neither")]
    names = [
        {"AttributeName": "name", "Operator": "Equal", "Values": [name]} for name in ("Either", "Or else")
    ]
    assert job(crm, *names, operator="Or").status_code == 200
    assert [crm.send("GET", f"accounts({id})").status_code for id in ids] == [404, 404, 200]


def test_what_may_not_be_deleted_stays(crm: Crm) -> None:
    unit = crm.get("WhoAmI")["BusinessUnitId"]
    condition = {"AttributeName": "businessunitid", "Operator": "Equal", "Values": [unit]}
    assert job(crm, condition, entity="businessunit").status_code == 200
    assert crm.get(f"businessunits({unit})")["businessunitid"] == unit


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ({"AttributeName": "nme", "Operator": "Equal", "Values": ["x"]}, 400),
        ({"AttributeName": "name", "Operator": "SoundsLike", "Values": ["x"]}, 501),
        ({"AttributeName": "numberofemployees", "Operator": "Equal", "Values": ["x"]}, 400),
        ({"AttributeName": "name", "Operator": "Between", "Values": ["x"]}, 400),
        ({"AttributeName": "name", "Operator": "Equal", "Values": 5}, 400),
    ],
)
def test_a_wrong_query_deletes_nothing(crm: Crm, condition: dict[str, Any], status: int) -> None:
    assert job(crm, condition).status_code == status


@pytest.mark.parametrize("body", [{}, {"QuerySet": {}}, {"QuerySet": [{"EntityName": "nothing"}]}])
def test_a_job_needs_queries(crm: Crm, body: dict[str, Any]) -> None:
    assert crm.error("POST", "BulkDelete", json=body)[0] in (400, 404)
