"""Queries: what a consultant has designed, as callers see it. The demo's, and some made for the test."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crmbox.demo import people
from crmclient import Reference
from crmclient.query.ast import Column, Query
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.accounts import NOBODY, an_account
from tests.runtime.queries import QUERIES, a_query, accounts, body, errors, pages, where

KINDS = ["single", "multi", "paginated"]


def id_of(path: str) -> str:
    return path.rpartition("/")[2]


def every(entity: str, *columns: str) -> list[dict[str, Any]]:
    return get_platform().query(Query(entity, tuple(Column(name) for name in columns))).rows


def test_a_single_query_answers_its_row(rita: Caller) -> None:
    contact = Reference("contact", people.FIRST_CONTACT)
    account = id_of(an_account(name="Müller ✈", telephone1="1", primarycontactid=contact))
    row = body(rita, f"{QUERIES}/account?accountId={account}")
    assert list(row) == ["id", "name", "phone", "owner", "contactName", "contactEmail"]
    assert (row["id"], row["name"], row["phone"]) == (account, "Müller ✈", "1")
    assert row["owner"].keys() == {"type", "id", "name"}
    name = get_platform().retrieve("contact", people.FIRST_CONTACT, ["fullname"]).values["fullname"]
    assert row["contactName"] == name


def test_what_a_single_query_does_not_find_is_204(rita: Caller) -> None:
    answer = rita.get(f"{QUERIES}/account?accountId={NOBODY}")
    assert (answer.status_code, answer.content) == (204, b"")


def test_of_several_rows_a_single_query_answers_the_first_in_its_order(rita: Caller) -> None:
    for name in ("Zzz 1", "Zzz 3", "Zzz 2"):
        an_account(name=name)
    order = '<order attribute="name" descending="true"/>'
    path = a_query("single", accounts(order + where('attribute="name" operator="like" value="Zzz %"')))
    assert body(rita, path) == {"name": "Zzz 3"}


def test_a_multi_query_answers_every_row_in_order(rita: Caller) -> None:
    account = get_platform().create("account", {"name": "Contoso"})
    for name in ("Zoe", "Ada", "Émile"):
        get_platform().create(
            "contact",
            {"firstname": name, "lastname": "X", "parentcustomerid": Reference("account", account.id)},
        )
    contacts = body(rita, f"{QUERIES}/account-contacts?accountId={account.id}")
    assert [contact["fullName"] for contact in contacts] == ["Ada X", "Émile X", "Zoe X"]
    assert body(rita, f"{QUERIES}/account-contacts?accountId={NOBODY}") == []


def test_more_rows_than_the_cap_are_refused_and_never_cut(rita: Caller) -> None:
    for number in range(4):
        an_account(name=f"Capped {number}")
    query = accounts(where('attribute="name" operator="begins-with" value="Capped"'))
    assert len(body(rita, a_query("multi", query, cap=4))) == 4
    answer = rita.get(a_query("multi", query, name="less", cap=3))
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_rows")


@pytest.mark.parametrize(("top", "status"), [(3, 200), (4, 422)])
def test_top_cuts_where_it_is_asked_for_and_lifts_no_cap(rita: Caller, top: int, status: int) -> None:
    path = a_query("multi", accounts(attributes=f'top="{top}"'), cap=3)
    answer = rita.get(path)
    assert answer.status_code == status
    if status == 200:
        assert len(answer.json()) == top


def test_the_pipeline_is_summed_by_owner(rita: Caller) -> None:
    sums: dict[str, list[Decimal]] = {}
    for row in every("opportunity", "ownerid", "estimatedvalue", "statecode"):
        if row["statecode"] == 0:
            sums.setdefault(row["ownerid"].id, []).append(row["estimatedvalue"] or Decimal(0))
    pipeline = body(rita, f"{QUERIES}/pipeline")
    assert {row["owner"]["id"]: row["opportunities"] for row in pipeline} == {
        owner: len(values) for owner, values in sums.items()
    }
    assert {row["owner"]["id"]: Decimal(str(row["value"])) for row in pipeline} == {
        owner: sum(values) for owner, values in sums.items()
    }
    assert [row["value"] for row in pipeline] == sorted((row["value"] for row in pipeline), reverse=True)


def test_a_page_says_how_many_there_are_and_where_the_next_one_is(rita: Caller) -> None:
    first = rita.get(f"{QUERIES}/accounts?pageSize=7")
    page = first.json()
    assert list(page) == ["data", "count", "totalRecordCount", "hasMoreRecords", "cursor"]
    active = sum(row["statecode"] == 0 for row in every("account", "statecode"))
    assert (page["count"], page["totalRecordCount"], page["hasMoreRecords"]) == (7, active, True)
    assert first["Link"] == f'<{QUERIES}/accounts?pageSize=7&cursor={page["cursor"]}>; rel="next"'


def test_pages_join_to_the_whole_and_the_last_one_ends_it(rita: Caller) -> None:
    walked = list(pages(rita, f"{QUERIES}/accounts?pageSize=30"))
    assert (walked[-1]["hasMoreRecords"], walked[-1]["cursor"]) == (False, None)
    assert {page["count"] for page in walked[:-1]} == {30}
    ids = [row["id"] for page in walked for row in page["data"]]
    assert len(ids) == len(set(ids)) == walked[0]["totalRecordCount"]


def test_a_walk_counts_its_rows_once(rita: Caller) -> None:
    path = a_query("paginated", accounts(), total=True)
    totals: list[int] = []
    with CaptureQueriesContext(connection) as captured:
        for page in pages(rita, f"{path}?pageSize=60"):
            totals.append(page["totalRecordCount"])
            an_account(name=f"Zzz {len(totals)}")
    statements = [query["sql"] for query in captured if "COUNT(*)" in query["sql"]]
    assert (len(totals), len(set(totals)), len(statements)) == (4, 1, 1)


@pytest.mark.parametrize(
    ("settings", "attributes", "size", "total"),
    [
        ({}, "", 50, None),
        ({"page_size": 7}, "", 7, None),
        ({"page_size": 7}, 'count="5"', 5, None),
        ({"page_size": 7, "max_page_size": 3}, "", 3, None),
        ({"total": True}, "", 50, 200),
        ({}, 'returntotalrecordcount="true"', 50, 200),
    ],
)
def test_the_page_size_and_the_total_are_the_endpoints_or_the_querys(
    rita: Caller, settings: dict[str, Any], attributes: str, size: int, total: int | None
) -> None:
    page = body(rita, a_query("paginated", accounts(attributes=attributes), **settings))
    assert (page["count"], page["totalRecordCount"]) == (size, total)


@pytest.mark.parametrize("size", ["0", "-1", "1e9", "501", "1000000000", "ten", "1.0", "٣"])
def test_a_page_has_from_one_row_to_the_most_allowed(rita: Caller, size: str) -> None:
    assert errors(rita, f"{QUERIES}/accounts?pageSize={size}") == [("pageSize", "out_of_range")]


def test_orders_are_chosen_by_name_and_turned_by_a_minus(rita: Caller) -> None:
    def first(order: str) -> Any:
        return body(rita, f"{QUERIES}/accounts?pageSize=500{order}")["data"]

    by_revenue = [row["revenue"] for row in first("&order=revenue")]
    numbers = [revenue for revenue in by_revenue if revenue is not None]
    assert by_revenue == [None] * by_revenue.count(None) + sorted(numbers)
    assert [row["revenue"] for row in first("&order=-revenue")] == by_revenue[::-1]
    assert [row["id"] for row in first("&order=name")] == [row["id"] for row in first("")]


@pytest.mark.parametrize("order", ["phone", "--name", "name,revenue", "createdon", "telephone1", "Name"])
def test_no_order_is_taken_that_is_not_offered(rita: Caller, order: str) -> None:
    assert errors(rita, f"{QUERIES}/accounts?order={order}") == [("order", "not_allowed")]
    assert errors(rita, a_query("multi", accounts()) + "?order=name") == [("order", "unknown_parameter")]


@pytest.mark.parametrize("kind", KINDS)
def test_distinct_and_aggregate_queries_work_in_every_kind(rita: Caller, kind: str) -> None:
    distinct = accounts('<order attribute="address1_country"/>', 'distinct="true"').replace(
        '"name"/>', '"address1_country"/>', 1
    )
    counted = accounts(
        '<order alias="many" descending="true"/>',
        'aggregate="true"',
        '<attribute name="address1_country" alias="country" groupby="true"/>'
        '<attribute name="accountid" alias="many" aggregate="count"/>',
    )
    countries = [row["address1_country"] for row in every("account", "address1_country")]
    one = body(rita, a_query(kind, distinct, name="distinct"))
    other = body(rita, a_query(kind, counted, name="counted"))
    expected = 1 if kind == "single" else len(set(countries))
    assert len(rows(one)) == len(rows(other)) == expected
    assert rows(other)[0]["many"] == max_count(countries)


def rows(answer: Any) -> list[Any]:
    """The rows of an answer of any kind."""
    if isinstance(answer, list):
        return answer
    return list(answer.get("data", [answer]))


def max_count(values: list[Any]) -> int:
    return max(values.count(value) for value in values)


def test_without_columns_every_key_of_the_query_is_answered_in_its_order(rita: Caller) -> None:
    query = accounts(
        '<link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="main">'
        '<attribute name="fullname"/><attribute name="jobtitle" alias="role"/></link-entity>',
        columns='<attribute name="revenue"/><attribute name="name" alias="Company_name"/>',
    )
    assert list(body(rita, a_query("single", query))) == ["revenue", "companyName", "mainFullname", "role"]


def test_columns_choose_order_name_and_calculate(rita: Caller) -> None:
    an_account(name="Widgets", telephone1="7")
    query = accounts(
        where('attribute="name" operator="eq" value="Widgets"'),
        columns='<attribute name="name"/><attribute name="telephone1"/><attribute name="fax"/>',
    )
    columns = (
        {"attribute": "telephone1", "name": "phone"},
        {"attribute": "", "name": "both", "expression": "record.name + ' ' + record.telephone1"},
    )
    assert body(rita, a_query("single", query, columns=columns)) == {"phone": "7", "both": "Widgets 7"}


def test_labels_are_in_the_callers_language(rita: Caller) -> None:
    an_account(name="Labelled", industrycode=6)
    row = body(rita, f"{QUERIES}/accounts?name=labelled&lcid=1031")["data"][0]
    german = {
        option["value"]: option["name"]
        for option in body(rita, "/sales/accounts/optionsets/industries?lcid=1031")
    }
    assert (row["industry"], row["industryLabel"]) == (6, german[6])
    assert errors(rita, f"{QUERIES}/accounts?lcid=de") == [("lcid", "wrong_type")]
    assert errors(rita, f"{QUERIES}/pipeline?lcid=1031") == [("lcid", "unknown_parameter")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "query",
    [
        "",
        "<fetch><entity",
        accounts(columns='<attribute name="gone"/>'),
        accounts(columns=""),
        accounts(where('attribute="name" operator="eq" value="@nobody"')),
    ],
)
def test_a_query_that_cannot_be_served_is_503_after_the_token(
    rita: Caller, anonymous: Caller, kind: str, query: str
) -> None:
    path = a_query(kind, query)
    answer = rita.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "endpoint_misconfigured")
    assert anonymous.get(path).status_code == 401


@pytest.mark.parametrize("path", ["account?accountId={id}", "accounts", "accounts?name=a&order=-revenue"])
def test_a_steady_query_takes_one_query_for_the_configuration_and_the_platforms_own(
    rita: Caller, path: str
) -> None:
    path = f"{QUERIES}/{path.format(id=id_of(an_account()))}"
    body(rita, path)
    with CaptureQueriesContext(connection) as queries:
        body(rita, path)
    texts = [query["sql"] for query in queries.captured_queries]
    assert sum("designer_" in text for text in texts) == 1, texts
    counted = path.startswith(f"{QUERIES}/accounts")
    assert sum("account" in text and "designer_" not in text for text in texts) == 1 + counted, texts
    # The embedded platform looks at its own revision in the same transaction.
    assert len(texts) <= 3 + counted, texts


def test_other_methods_are_not_allowed(rita: Caller) -> None:
    for method in ("POST", "PUT", "DELETE"):
        answer = rita.request(method, f"{QUERIES}/accounts", {} if method != "DELETE" else None)
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert rita.request("HEAD", f"{QUERIES}/accounts").content == b""
