"""Of two endpoints that differ in nothing but the cache, no caller is ever answered anything different."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmbox.demo import people
from designer.models import Binding, Column, Endpoint, ExposedEntity, Input, Module, UserProperty
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import by_roles
from tests.runtime.accounts import an_account
from tests.runtime.queries import a_query, accounts, where

FILTER = '<filter><condition attribute="{}" operator="{}" {}/></filter>'
MINE = FILTER.format("ownerid", "eq-userid", "")
ARLES = FILTER.format("address1_city", "eq", 'value="Arles"')
OF_JOB = FILTER.format("address1_city", "eq", 'value="@user.Job"')
RULES: dict[str, list[tuple[str, list[str]]]] = {
    "none": [],
    "mine": [(MINE, [])],
    "of a property": [(OF_JOB, [])],
    "by role": [("", ["sales-manager"]), (ARLES, ["sales-rep"])],
    "by role and user": [(MINE, ["sales-rep"]), (ARLES, [])],
}
COLUMNS: dict[str, list[dict[str, str]]] = {
    "plain": [{"attribute": "name"}, {"attribute": "ownerid"}],
    "of the user": [{"attribute": "name"}, {"name": "me", "expression": "string(user.id)"}],
    "of the roles": [{"attribute": "name"}, {"name": "few", "expression": "'sales-rep' in user.roles"}],
}
PARAMETERS = ["", "?city=Arles", "?city=Bern", "?CITY=Bern", "?pageSize=1", "?pageSize=2&city=Arles"]
OWNERS = {"Arles": people.RITA_REP, "Bern": people.MAX_MANAGER}

asks = st.tuples(st.just("ask"), st.sampled_from(["rita", "max", "aya"]), st.sampled_from(PARAMETERS))
writes = st.tuples(
    st.just("write"), st.sampled_from(["name", "city", "owner"]), st.sampled_from(["Arles", "Bern"])
)


@pytest.fixture
def account(portico: None) -> str:
    """The id of an account; Max may change it at `/api/sales/moved`, whatever the row rule of `accounts`."""
    for job, user in (("Arles", people.RITA_REP), ("Bern", people.MAX_MANAGER)):
        get_platform().update("systemuser", user, {"jobtitle": job})
    UserProperty.objects.create(name="Job", kind="field", attribute="jobtitle")
    module = Module.objects.get(segment="sales")
    row = Endpoint.objects.create(
        kind="update", entity=ExposedEntity.objects.create(module=module, segment="moved", entity="account")
    )
    for name, attribute, type in (
        *(("name", "name", "String"), ("city", "address1_city", "String")),
        ("owner", "ownerid", "EntityReference"),
    ):
        Input.objects.create(endpoint=row, name=name, type=type)
        Binding.objects.create(endpoint=row, attribute=attribute, source="input", value=name)
    for city in OWNERS:
        an_account(name=f"Kept {city}", address1_city=city)
    condition = where('attribute="name" operator="like" value="Kept%"')
    city = where('attribute="address1_city" operator="eq" value="@city"')
    inside = f"<filter>{condition}{city}</filter>"
    for name, cache in (("kept", {"seconds": 600}), ("asked", {})):
        a_query(
            "paginated",
            accounts(inside, columns="<all-attributes/>"),
            {"name": "city"},
            name=name,
            cache=cache,
        )
    return an_account(name="Kept", address1_city="Arles").rpartition("/")[2]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rule=st.sampled_from(sorted(RULES)),
    columns=st.sampled_from(sorted(COLUMNS)),
    steps=st.lists(st.one_of(asks, asks, asks, writes), min_size=4, max_size=14),
)
def test_no_caller_is_answered_otherwise_than_without_the_cache(
    rita: Caller,
    max: Caller,
    aya: Caller,
    account: str,
    rule: str,
    columns: str,
    steps: list[tuple[str, str, str]],
) -> None:
    by_roles(RULES[rule])
    Column.objects.filter(endpoint__name__in=["kept", "asked"]).delete()
    for row in Endpoint.objects.filter(name__in=["kept", "asked"]):
        for at, column in enumerate(COLUMNS[columns]):
            Column.objects.create(endpoint=row, position=at, **column)
    callers = {"rita": rita, "max": max, "aya": aya}
    for what, who, value in steps:
        if what == "write":
            _write(max, account, who, value)
            continue
        kept = callers[who].get(f"/api/sales/queries/kept{value}")
        asked = callers[who].get(f"/api/sales/queries/asked{value}")
        assert (kept.status_code, _told(kept)) == (asked.status_code, _told(asked))
        assert kept.status_code == 200, kept.content


def _write(max: Caller, account: str, what: str, city: str) -> None:
    values: dict[str, Any] = {
        "name": {"name": f"Kept in {city}"},
        "city": {"city": city},
        "owner": {"owner": {"type": "systemuser", "id": OWNERS[city]}},
    }
    answer = max.patch(f"/api/sales/moved/{account}", values[what])
    assert answer.status_code == 204, answer.content


def _told(answer: Any) -> Any:
    """The answer without what is made anew for each request."""
    return {
        key: value for key, value in answer.json().items() if key not in ("cursor", "instance", "requestId")
    }
