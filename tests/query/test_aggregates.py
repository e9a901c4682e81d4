"""Charts: groups and aggregates as applications write them."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from crmclient.query.calendar import Calendar
from crmclient.query.problems import QueryProblems
from tests.query.conftest import Demo, Fetch

pytestmark = pytest.mark.django_db

BY_MONTH = """<fetch aggregate="true"><entity name="opportunity">
  <attribute name="createdon" groupby="true" dategrouping="month" alias="month" {}/>
  <attribute name="createdon" groupby="true" dategrouping="year" alias="year" {}/>
  <attribute name="opportunityid" aggregate="count" alias="n"/></entity></fetch>"""


def test_sums_by_owner_the_largest_first(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch distinct="false" mapping="logical" aggregate="true"><entity name="opportunity">
      <attribute name="estimatedvalue" alias="value" aggregate="sum"/>
      <attribute name="opportunityid" alias="deals" aggregate="count"/>
      <attribute name="ownerid" alias="owner" groupby="true"/>
      <order alias="value" descending="true"/>
      <filter><condition attribute="statecode" operator="eq" value="0"/></filter></entity></fetch>""")
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    counts: Counter[str] = Counter()
    for row in demo["opportunity"]:
        if row["statecode"] == 0:
            sums[row["ownerid"].id] += row["estimatedvalue"] or 0
            counts[row["ownerid"].id] += 1
    assert {row["owner"].id: (row["value"], row["deals"]) for row in rows} == {
        id: (sums[id], counts[id]) for id in counts
    }
    assert [row["value"] for row in rows] == sorted(sums.values(), reverse=True)


def test_counts_by_month_and_year(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(BY_MONTH.format("", ""))
    expected = Counter((row["createdon"].year, row["createdon"].month) for row in demo["opportunity"])
    assert {(row["year"], row["month"]): row["n"] for row in rows} == expected


def test_dates_are_not_grouped_by_the_wrong_days(fetch: Fetch) -> None:
    berlin = Calendar(ZoneInfo("Europe/Berlin"))
    with pytest.raises(QueryProblems, match="attribute createdon: dates can be grouped in UTC only"):
        fetch(BY_MONTH.format("", ""), calendar=berlin)
    in_utc = BY_MONTH.format('usertimezone="false"', 'usertimezone="false"')
    assert fetch(in_utc, calendar=berlin) == fetch(BY_MONTH.format("", ""))


def test_groups_in_a_link(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch aggregate="true" returntotalrecordcount="false"><entity name="opportunity">
      <attribute name="actualvalue" alias="won" aggregate="sum"/>
      <attribute name="actualvalue" alias="most" aggregate="max"/>
      <link-entity name="account" from="accountid" to="parentaccountid" alias="a">
        <attribute name="industrycode" alias="industry" groupby="true"/></link-entity></entity></fetch>""")
    accounts = demo.by_id("account")
    groups: defaultdict[Any, list[Decimal]] = defaultdict(list)
    for row in demo["opportunity"]:
        if row["parentaccountid"]:
            group = groups[accounts[row["parentaccountid"].id]["industrycode"]]
            group += [row["actualvalue"]] if row["actualvalue"] is not None else []
    assert {row["industry"]: (row["won"], row["most"]) for row in rows} == {
        industry: (sum(values, Decimal(0)), max(values, default=None)) for industry, values in groups.items()
    }


def test_different_values_are_counted(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch aggregate="true"><entity name="contact">
      <attribute name="gendercode" alias="filled" aggregate="countcolumn"/>
      <attribute name="gendercode" alias="different" aggregate="countcolumn" distinct="true"/>
    </entity></fetch>""")
    genders = [row["gendercode"] for row in demo["contact"] if row["gendercode"] is not None]
    assert rows == [{"filled": len(genders), "different": len(set(genders))}]
