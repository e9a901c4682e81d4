"""Paging by `odata.maxpagesize` and `@odata.nextLink`."""

from __future__ import annotations

from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from tests.webapi.batches import answers, request, send
from tests.webapi.crm import Crm


def walk(crm: Crm, path: str, size: int) -> tuple[list[dict[str, Any]], int]:
    """Every row, page by page, and how many pages there were."""
    rows: list[dict[str, Any]] = []
    pages = 0
    following: str | None = path
    while following:
        answer = crm.send("GET", following, headers={"Prefer": f"odata.maxpagesize={size}"})
        assert answer.headers["Preference-Applied"] == f"odata.maxpagesize={size}"
        content = answer.json()
        following = content.get("@odata.nextLink")
        assert len(content["value"]) == size or following is None
        assert following is None or following.startswith(crm.base)
        rows += content["value"]
        pages += 1
    return rows, pages


@pytest.mark.parametrize(
    "path",
    [
        "accounts?$select=name",
        "accounts?$select=name&$orderby=industrycode desc,name&$count=true",
        "accounts?$select=name&$filter=contains(name,'e')&$orderby=primarycontactid/fullname",
        "contacts?%24select=fullname&%24filter=contains(fullname,'a')+and+statecode+eq+0",
    ],
)
def test_pages_together_are_the_whole(crm: Crm, path: str) -> None:
    whole = crm.get(path)["value"]
    rows, pages = walk(crm, path, 37)
    assert rows == whole
    assert pages == -(-len(whole) // 37) > 1


def test_a_page_size_makes_the_platform_forget_top(crm: Crm) -> None:
    rows, _ = walk(crm, "accounts?$select=name&$top=3", 50)
    assert len(rows) == int(crm.send("GET", "accounts/$count").text)


def test_top_has_no_next_page(crm: Crm) -> None:
    answer = crm.get("accounts?$select=name&$top=3")
    assert len(answer["value"]) == 3
    assert "@odata.nextLink" not in answer
    assert crm.get("accounts?$top=0")["value"] == []


def test_the_next_page_of_another_query_is_refused(crm: Crm) -> None:
    first = crm.get("accounts?$select=name", headers={"Prefer": "odata.maxpagesize=10"})
    other = first["@odata.nextLink"].replace("$select=name", "$select=name&$filter=statecode eq 0")
    status, _, message = crm.error("GET", other, headers={"Prefer": "odata.maxpagesize=10"})
    assert status == 400
    assert "another query" in message


def test_the_next_page_of_a_query_in_a_batch_can_be_asked_for_alone(crm: Crm) -> None:
    url = "accounts?$select=name&$filter=contains(name,'e') and statecode eq 0&$orderby=name desc"
    [first] = answers(send(crm, request("GET", url, Prefer="odata.maxpagesize=20")))
    link = first.body["@odata.nextLink"]
    assert link.startswith(crm.base)
    assert " " not in link
    whole = crm.get(url)["value"]
    second = crm.get(link, headers={"Prefer": "odata.maxpagesize=20"})
    assert [*first.body["value"], *second["value"]] == whole[:40]


def test_related_records_have_pages_too(crm: Crm) -> None:
    path = f"accounts({FIRST_ACCOUNT})/contact_customer_accounts?$select=fullname&$orderby=fullname"
    rows, pages = walk(crm, path, 2)
    assert rows == crm.get(path)["value"]
    assert pages > 1
    by_key = path.replace(FIRST_ACCOUNT, "accountnumber='A-00001'")
    assert walk(crm, by_key, 2) == (rows, pages)


def test_a_link_with_a_slash_at_its_end_leads_on_too(crm: Crm) -> None:
    prefer = {"Prefer": "odata.maxpagesize=3"}
    link = crm.get("accounts?$select=name", headers=prefer)["@odata.nextLink"]

    assert crm.get(f"{link}/", headers=prefer)["value"] == crm.get(link, headers=prefer)["value"]


def test_a_page_size_of_thousands_of_digits_is_as_large_as_a_page_can_be(crm: Crm) -> None:
    answer = crm.get("accounts?$select=name&$top=3", headers={"Prefer": f"odata.maxpagesize={'9' * 5000}"})
    assert len(answer["value"]) == int(crm.send("GET", "accounts/$count").text)
