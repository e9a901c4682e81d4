"""What bodies may not hold, and labels may: 11, 15, 16 and 31 of what THREAT_MODEL.md lists."""

from __future__ import annotations

from typing import Any

import pytest

from designer.models import Endpoint, Module
from designer.platform import get_platform
from tests.callers import Caller

ACCOUNTS = "/api/sales/accounts"
NAME = "Made by nobody"
# An a of the Cyrillic alphabet, and a letter with a mark that joins it.
LOOK_ALIKES = ("n\u0430me", "na\u0301me", "name\u200b", "\uff4eame")
KEYS = (
    *(
        "__proto__",
        "constructor",
        "statecode",
        "statuscode",
        "ownerid",
        "owningbusinessunit",
        "accountid",
        "id",
    ),
    *("primarycontactid@odata.bind", "_primarycontactid_value", "@odata.type", "Name", "NAME", "name ", ""),
    *("$filter", "parentaccountid", "versionnumber", *LOOK_ALIKES),
)


def _made() -> list[Any]:
    from crmclient.query.ast import ALL, Column, Condition, Filter, Operator, Query

    named = Filter((Condition("name", Operator.EQ, (NAME,)),))
    return get_platform().query(Query("account", (Column("accountid"),), filter=named), ALL).rows


@pytest.mark.parametrize("value", [1, None, {}, "/contacts(1)"])
@pytest.mark.parametrize("key", KEYS)
def test_11_a_key_that_is_not_offered_is_refused_and_nothing_is_written(
    rita: Caller, key: str, value: object
) -> None:
    answer = rita.post(ACCOUNTS, {"name": NAME, key: value})

    assert answer.status_code == 400
    assert [error["code"] for error in answer.json()["errors"]] == ["unknown_key"]
    assert _made() == []


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_11_an_update_takes_no_key_that_is_not_offered(rita: Caller, method: str) -> None:
    place = f"{ACCOUNTS}/{rita.post(ACCOUNTS, {'name': 'Contoso'}).json()['id']}"

    for key in KEYS:
        answer = rita.request(method, place, {"name": NAME, key: 1})
        assert answer.status_code == 400, key
        assert "unknown_key" in [error["code"] for error in answer.json()["errors"]], key
    assert _made() == []


@pytest.mark.parametrize("option", [0, -1, 99, 2**31, 10**30, "1", [1], {"value": 1}, 1.5])
def test_15_an_option_outside_its_set_is_refused(rita: Caller, option: object) -> None:
    answer = rita.post(ACCOUNTS, {"name": NAME, "industry": option})

    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/industry"]
    assert _made() == []


def test_16_a_query_string_has_a_longest(rita: Caller) -> None:
    assert rita.get(f"/api/sales/queries/accounts?x={'y' * 100_000}").status_code == 414


def test_31_labels_are_text_on_the_page_of_the_api(anonymous: Caller) -> None:
    hostile = "</script><script>alert(1)</script>"
    Module.objects.update(title=hostile, description=hostile)
    Endpoint.objects.update(title=hostile, description=hostile)

    page = anonymous.get("/api/docs", accept="text/html")
    document = anonymous.get("/api/openapi.json")

    assert "alert(1)" not in page.content.decode()
    assert "alert(1)" in document.content.decode()
    assert (document["Content-Type"].split(";")[0], document["X-Content-Type-Options"]) == (
        "application/json",
        "nosniff",
    )
