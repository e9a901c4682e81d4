"""Queries: the same rows, in the same order, whatever platform runs them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest

from crmclient import Platform, Reference
from crmclient.conventions import Ability
from crmclient.errors import InvalidQuery
from crmclient.query.ast import (
    Aggregate,
    Column,
    Condition,
    Filter,
    Link,
    LinkType,
    Operator,
    Order,
    Query,
)
from tests.contract.making import WOOL, account, accounts, contact, family, unique


def found(platform: Platform, wool: str, *conditions: Any, any: bool = False, **parts: Any) -> list[Any]:
    """The names of the wool traders that a filter leaves."""
    inside = Filter(conditions, any)
    query = accounts(Condition("sic", Operator.EQ, (wool,)), inside, **parts)
    return [row["name"] for row in platform.query(query).rows]


@pytest.mark.parametrize(
    ("operator", "value", "names"),
    [
        (Operator.EQ, "WOOL", {"Wool", "wööl"}),
        (Operator.NE, "wool", set(WOOL) - {"Wool", "wööl"}),
        (Operator.CONTAINS, "0% w", {"100% Wool"}),
        (Operator.CONTAINS, "_", {"100_Wool"}),
        (Operator.CONTAINS, "[draft]", {"[Draft] Wool"}),
        (Operator.CONTAINS, "'", {"O'Wool"}),
        (Operator.BEGINS_WITH, "100%", {"100% Wool"}),
        (Operator.BEGINS_WITH, "[", {"[Draft] Wool"}),
        (Operator.NOT_BEGINS_WITH, "100", set(WOOL) - {"100% Wool", "100_Wool"}),
        (Operator.ENDS_WITH, "_wool", {"100_Wool"}),
        (Operator.NOT_ENDS_WITH, "wool", set()),
        (Operator.LIKE, "100_wool", {"100_Wool"}),
        (Operator.LIKE, "100%wool", {"100% Wool", "100_Wool"}),
        (Operator.LIKE, "[0-9]%", {"100% Wool", "100_Wool"}),
        (Operator.NOT_LIKE, "%[%]%", set(WOOL) - {"100% Wool"}),
        (Operator.GT, "o", {"O'Wool", "Wool", "wööl"}),
    ],
)
def test_texts(platform: Platform, wool: str, operator: Operator, value: str, names: set[str]) -> None:
    assert set(found(platform, wool, Condition("name", operator, (value,)))) == names


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        (Condition("revenue", Operator.EQ, (Decimal("3.0"),)), {3}),
        (Condition("revenue", Operator.BETWEEN, (Decimal(1), Decimal("3.5"))), {1, 2, 3}),
        (Condition("revenue", Operator.NOT_BETWEEN, (Decimal(1), Decimal(4))), {0, 5}),
        (Condition("numberofemployees", Operator.NULL), {0}),
        (Condition("numberofemployees", Operator.NE, (2,)), {0, 1, 3, 4, 5}),
        (Condition("numberofemployees", Operator.NOT_IN, (1, 2, 3)), {0, 4, 5}),
        (Condition("numberofemployees", Operator.IN, (1, 4711)), {1}),
        (Condition("new_customersince", Operator.EQ, (dt.date(2021, 1, 2),)), {1}),
        (Condition("new_customersince", Operator.GE, (dt.date(2021, 1, 1),)), {1, 3, 5}),
        (Condition("new_interests", Operator.CONTAIN_VALUES, (100000001, 100000002)), {1, 2, 4}),
        (Condition("new_interests", Operator.NOT_CONTAIN_VALUES, (100000000,)), {2, 3, 4, 5}),
        (Condition("new_interests", Operator.EQ, ((100000001,),)), {4}),
        (Condition("new_interests", Operator.EQ, ((100000001, 100000000),)), {1}),
        (Condition("new_interests", Operator.NE, ((100000000,),)), {1, 2, 3, 4, 5}),
        (Condition("new_interests", Operator.NULL), {3, 5}),
        (Condition("donotemail", Operator.EQ, (True,)), set()),
        (Condition("createdon", Operator.GT, (dt.datetime(2026, 1, 1, tzinfo=dt.UTC),)), set(range(6))),
        (Condition("fax", Operator.EQ, (), None, (None, "telephone1")), set()),
        (Condition("name", Operator.NE, (), None, (None, "sic")), set(range(6))),
    ],
)
def test_numbers_dates_and_choices(
    platform: Platform, wool: str, condition: Condition, numbers: set[int]
) -> None:
    assert set(found(platform, wool, condition)) == {WOOL[number] for number in numbers}


def test_groups_within_groups(platform: Platform, wool: str) -> None:
    inner = Filter(
        (Condition("revenue", Operator.EQ, (Decimal(5),)), Condition("name", Operator.EQ, ("o'wool",)))
    )
    assert found(platform, wool, inner, Condition("revenue", Operator.EQ, (Decimal(0),)), any=True) in (
        [WOOL[0], WOOL[5]],
        [WOOL[5], WOOL[0]],
    )


def test_orders_and_top(platform: Platform, wool: str) -> None:
    orders = (Order("new_customersince", descending=True), Order("name"))
    expected = [WOOL[number] for number in (5, 3, 1, 4, 2, 0)]
    assert found(platform, wool, orders=orders) == expected
    assert found(platform, wool, orders=orders, top=2) == expected[:2]


def test_empty_values_come_first_and_text_sorts_without_accents(platform: Platform, wool: str) -> None:
    assert found(platform, wool, orders=(Order("numberofemployees"),))[0] == WOOL[0]
    by_name = found(platform, wool, orders=(Order("name"), Order("revenue")))
    assert by_name == sorted(by_name, key=lambda name: (name.lower().replace("ö", "o"), WOOL.index(name)))


@pytest.mark.needs("multi-select choices")
def test_every_type_of_column_has_its_value(platform: Platform) -> None:
    ada = contact(platform)
    name = unique("All types")
    id = account(
        platform,
        name=name,
        primarycontactid=ada,
        revenue=Decimal("0.1001"),
        new_discount=Decimal("1.5"),
        address1_latitude=1.25,
        new_legacynumber=2**60,
        new_interests=(100000001, 100000000),
        new_customersince=dt.date(2026, 1, 31),
        donotemail=True,
        industrycode=1,
    )
    columns = (
        *("accountid", "name", "primarycontactid", "primarycontactidname", "revenue", "new_discount"),
        *("address1_latitude", "new_legacynumber", "new_interests", "new_customersince", "donotemail"),
        *("industrycode", "fax", "versionnumber", "new_contract"),
    )

    [row] = platform.query(accounts(Condition("name", Operator.EQ, (name,)), columns=columns)).rows

    version = row.pop("versionnumber")
    assert str(version) == platform.retrieve("account", id, []).version
    assert row == {
        "accountid": id,
        "name": name,
        "primarycontactid": Reference("contact", ada.id, "Ada Lovelace"),
        "primarycontactidname": "Ada Lovelace",
        "revenue": Decimal("0.1001"),
        "new_discount": Decimal("1.5"),
        "address1_latitude": 1.25,
        "new_legacynumber": 2**60,
        "new_interests": (100000000, 100000001),
        "new_customersince": dt.date(2026, 1, 31),
        "donotemail": True,
        "industrycode": 1,
        "fax": None,
        "new_contract": None,
    }


@pytest.mark.needs(Ability.LINKS)
@pytest.mark.parametrize("outer", [False, True])
def test_links_bring_columns_and_filters(platform: Platform, outer: bool) -> None:
    name, id, children = family(platform)
    link = Link(
        "contact",
        "parentcustomerid",
        "accountid",
        "c",
        type=LinkType.OUTER if outer else LinkType.INNER,
        columns=(Column("firstname"), Column("parentcustomerid"), Column("contactid", "who")),
        filter=Filter((Condition("firstname", Operator.BEGINS_WITH, ("b",)),)),
    )

    rows = platform.query(accounts(Condition("name", Operator.EQ, (name,)), links=(link,))).rows

    assert rows == [
        {
            "name": name,
            "c.firstname": "Bea",
            "c.parentcustomerid": Reference("account", id, name),
            "who": children[1],
        }
    ]


@pytest.mark.needs(Ability.LINKS)
def test_a_link_without_partner_is_empty_or_no_row(platform: Platform) -> None:
    name = unique("Alone")
    account(platform, name=name)
    for type, expected in ((LinkType.OUTER, [{"name": name, "c.firstname": None}]), (LinkType.INNER, [])):
        link = Link("contact", "parentcustomerid", "accountid", "c", type, (Column("firstname"),))
        rows = platform.query(accounts(Condition("name", Operator.EQ, (name,)), links=(link,))).rows
        assert rows == expected


@pytest.mark.needs(Ability.LINKS)
@pytest.mark.parametrize("type", [kind for kind in LinkType if not kind.joins])
def test_links_that_join_nothing_keep_what_they_say(platform: Platform, type: LinkType) -> None:
    fax = unique("Fax")[:50]
    ids = {name: account(platform, name=name, fax=fax) for name in ("Both", "Other", "Bare")}
    for name, first in (("Both", "Ada"), ("Both", "Ada"), ("Both", "Bea"), ("Other", "Bea")):
        contact(platform, firstname=first, parentcustomerid=Reference("account", ids[name]))
    ada = Filter((Condition("firstname", Operator.EQ, ("Ada",)),))
    link = Link("contact", "parentcustomerid", "accountid", "c", type, filter=ada)
    of_us = Condition("fax", Operator.EQ, (fax,))
    query = accounts(of_us, link) if type.stands_in_filter else accounts(of_us, links=(link,))

    names = [row["name"] for row in platform.query(query).rows]

    expected = {LinkType.NOT_ANY: ["Bare", "Other"], LinkType.ALL: ["Other"]}.get(type, ["Both"])
    assert sorted(map(str, names)) == expected


@pytest.mark.needs(Ability.LINKS)
def test_one_record_of_several_is_joined(platform: Platform) -> None:
    name, _, children = family(platform)
    columns = (Column("contactid", "who"),)
    link = Link("contact", "parentcustomerid", "accountid", "c", LinkType.FIRST, columns)
    [row] = platform.query(accounts(Condition("name", Operator.EQ, (name,)), links=(link,))).rows
    assert row["name"] == name
    assert row["who"] in children


@pytest.mark.needs("hierarchies")
@pytest.mark.parametrize(
    ("operator", "names"),
    [
        (Operator.UNDER, {"c", "d"}),
        (Operator.EQ_OR_UNDER, {"b", "c", "d"}),
        (Operator.NOT_UNDER, {"a", "b", "e"}),
        (Operator.ABOVE, {"a"}),
        (Operator.EQ_OR_ABOVE, {"a", "b"}),
    ],
)
def test_hierarchies(platform: Platform, operator: Operator, names: set[str]) -> None:
    fax = unique("Fax")[:50]
    ids: dict[str, str] = {}
    for name, parent in (("a", ""), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "a")):
        above = {"parentaccountid": Reference("account", ids[parent])} if parent else {}
        ids[name] = account(platform, name=name, fax=fax, **above)
    query = accounts(Condition("fax", Operator.EQ, (fax,)), Condition("accountid", operator, (ids["b"],)))
    assert {row["name"] for row in platform.query(query).rows} == names


@pytest.mark.needs(Ability.FISCAL_PERIODS)
def test_the_records_of_a_fiscal_period_of_any_year(platform: Platform) -> None:
    fax = unique("Fax")[:50]
    for name, day in (
        ("2025", dt.date(2025, 6, 30)),
        ("2024", dt.date(2024, 4, 1)),
        ("no", dt.date(2025, 7, 1)),
        ("none", None),
    ):
        account(platform, name=name, fax=fax, new_customersince=day)
    for number, names in ((2, {"2024", "2025"}), (5, set())):
        second = Condition("new_customersince", Operator.IN_FISCAL_PERIOD, (number,))
        query = accounts(Condition("fax", Operator.EQ, (fax,)), second)
        assert {row["name"] for row in platform.query(query).rows} == names


@pytest.mark.needs(Ability.LINKS)
def test_conditions_and_orders_may_name_a_link(platform: Platform) -> None:
    name, _, _ = family(platform)
    link = Link("contact", "parentcustomerid", "accountid", "c", columns=(Column("firstname"),))
    conditions = (
        Condition("name", Operator.EQ, (name,)),
        Condition("firstname", Operator.IN, ("Ada", "Bea"), "c"),
    )
    query = accounts(*conditions, links=(link,), orders=(Order("firstname", link="c", descending=True),))

    assert [row["c.firstname"] for row in platform.query(query).rows] == ["Bea", "Ada"]


@pytest.mark.needs("many-to-many relationships")
def test_many_to_many_through_the_intersect(platform: Platform) -> None:
    user = platform.user(platform.who())
    team = platform.create(
        "team", {"name": unique("Team"), "businessunitid": Reference("businessunit", user.business_unit_id)}
    ).id
    link = Link(
        "teammembership", "teamid", "teamid", "m", type=LinkType.OUTER, columns=(Column("systemuserid"),)
    )
    query = Query("team", (Column("teamid"),), Filter((Condition("teamid", Operator.EQ, (team,)),)), (link,))

    assert platform.query(query).rows == [{"teamid": team, "m.systemuserid": None}]


@pytest.mark.needs(Ability.DISTINCT)
def test_distinct_rows(platform: Platform, wool: str) -> None:
    query = accounts(
        Condition("sic", Operator.EQ, (wool,)),
        columns=("sic", "donotphone"),
        distinct=True,
        orders=(Order("sic"),),
    )
    assert platform.query(query).rows == [{"sic": wool, "donotphone": False}]


def namesakes(platform: Platform) -> tuple[str, Reference, Reference]:
    """The `fax` of three accounts, two of which have one contact, and the third another of the same name."""
    fax = unique("Fax")[:50]
    first, second = contact(platform), contact(platform)
    for person in (first, first, second):
        account(platform, fax=fax, primarycontactid=person)
    return fax, first, second


@pytest.mark.needs(Ability.DISTINCT)
def test_distinct_rows_have_the_name_of_a_record_beside_the_lookup(platform: Platform) -> None:
    fax, first, second = namesakes(platform)
    query = accounts(
        Condition("fax", Operator.EQ, (fax,)),
        columns=("primarycontactidname", "primarycontactid"),
        distinct=True,
        orders=(Order("primarycontactidname"),),
    )
    rows: list[dict[str, Any]] = platform.query(query).rows
    assert [row["primarycontactidname"] for row in rows] == ["Ada Lovelace"] * 2
    assert {row["primarycontactid"].id for row in rows} == {first.id, second.id}


@pytest.mark.needs(Ability.DISTINCT, Ability.AGGREGATES)
@pytest.mark.parametrize(
    "parts",
    [
        {"columns": (Column("primarycontactidname"),), "distinct": True},
        {"columns": (Column("primarycontactidname", "who", group_by=True),)},
        {
            "columns": (
                Column("primarycontactid", "id", group_by=True),
                Column("primarycontactidname", "who", group_by=True),
            )
        },
        {"columns": (Column("primarycontactidname", "who", Aggregate.COUNT_COLUMN),)},
        {"columns": (Column("new_contract"),), "distinct": True},
        {"columns": (Column("new_contract", "file", group_by=True),)},
        {"columns": (Column("fax"),), "distinct": True, "orders": (Order("primarycontactidname"),)},
        {"columns": (Column("fax"),), "distinct": True, "orders": (Order("name"),)},
        {"columns": (Column("fax"),), "orders": (Order("statuscodename"),)},
        {"columns": (Column("fax"),), "orders": (Order("fax", link="x"),)},
        {"columns": (Column("fax"),), "filter": Filter((Condition("fax", Operator.NULL, link="x"),))},
    ],
    ids=lambda parts: str(parts)[:60],
)
def test_rows_that_no_platform_tells_apart_are_refused(platform: Platform, parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidQuery):
        platform.query(Query("account", **parts))


@pytest.mark.needs(Ability.DISTINCT, "files")
def test_distinct_rows_have_files_beside_the_id(platform: Platform) -> None:
    name, id, _ = family(platform)
    platform.upload(
        "account", id, "new_contract", BytesIO(b"%PDF-1.4"), file_name="a.pdf", content_type="application/pdf"
    )
    query = accounts(
        Condition("name", Operator.EQ, (name,)),
        columns=("accountid", "new_contract"),
        links=(Link("contact", "parentcustomerid", "accountid", "c"),),
        distinct=True,
    )
    rows: list[dict[str, Any]] = platform.query(query).rows
    assert [(row["accountid"], row["new_contract"].file_name) for row in rows] == [(id, "a.pdf")]


@pytest.mark.needs(Ability.LINKS, "multi-select choices")
def test_a_link_compares_choices_of_its_parent(platform: Platform) -> None:
    name, id, _ = family(platform)
    platform.update("account", id, {"new_interests": (100000000, 100000001)})
    for options, count in (((100000000, 100000001), 2), ((100000000,), 0)):
        both = Filter((Condition("new_interests", Operator.EQ, (options,), "account"),))
        link = Link("contact", "parentcustomerid", "accountid", "c", filter=both)
        query = accounts(Condition("name", Operator.EQ, (name,)), links=(link,))
        assert len(platform.query(query).rows) == count


def test_very_small_and_very_large_numbers_are_compared(platform: Platform) -> None:
    fax = unique("Fax")[:50]
    for latitude in (0.00001, 2.5):
        account(platform, name=str(latitude), fax=fax, address1_latitude=latitude)
    of_us = Condition("fax", Operator.EQ, (fax,))
    for operator, value, names in (
        (Operator.EQ, 0.00001, ["1e-05"]),
        (Operator.GT, 0.000011, ["2.5"]),
        (Operator.GT, 1e80, []),
    ):
        query = accounts(of_us, Condition("address1_latitude", operator, (value,)))
        assert [row["name"] for row in platform.query(query).rows] == names


def test_a_very_long_query_is_run_all_the_same(platform: Platform, wool: str) -> None:
    several = tuple(unique("nobody") for _ in range(900))
    assert found(platform, wool, Condition("name", Operator.IN, (*several, "Wool")))[0] in ("Wool", "wööl")
