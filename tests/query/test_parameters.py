"""Values that come with a call: parameters, and properties of the caller."""

from __future__ import annotations

import datetime as dt

import pytest

from crmbox.demo.people import RITA_REP
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import InvalidQuery
from crmclient.query.fetchxml import parse
from crmclient.query.resolving import Circumstances, prepare
from crmclient.text import fold
from tests.query.conftest import NOW, Demo, Fetch

pytestmark = pytest.mark.django_db

SEARCH = """<fetch><entity name="account"><attribute name="name"/>
  <filter type="and">
    <condition attribute="statecode" operator="eq" value="0"/>
    <filter type="or">
      <condition attribute="name" operator="contains" value="@text"/>
      <condition attribute="industrycode" operator="in"><value>@industries</value></condition>
    </filter>
  </filter>
  <link-entity name="contact" from="contactid" to="primarycontactid" alias="c">
    <filter><condition attribute="gendercode" operator="eq" value="@gender"/></filter>
  </link-entity></entity></fetch>"""
BY_CITY = """<fetch><entity name="account"><attribute name="name"/><filter type="{}">
  <condition attribute="address1_city" operator="{}" value="@user.{}"/>
  <condition attribute="accountnumber" operator="eq" value="A-00001"/></filter></entity></fetch>"""


def expected(demo: Demo, text: str | None, industries: tuple[int, ...], gender: int | None) -> int:
    contacts = demo.by_id("contact")
    return sum(
        row["statecode"] == 0
        and (
            (text is None and not industries)
            or (text is not None and text in fold(row["name"]))
            or row["industrycode"] in industries
        )
        and row["primarycontactid"] is not None
        and gender in (None, contacts[row["primarycontactid"].id]["gendercode"])
        for row in demo["account"]
    )


@pytest.mark.parametrize(
    ("text", "industries", "gender"),
    [(None, (), None), ("an", (), None), (None, (1, 6, 7), None), ("an", (1,), 2), (None, (), 1)],
)
def test_conditions_of_absent_parameters_vanish_and_links_stay(
    fetch: Fetch, demo: Demo, text: str | None, industries: tuple[int, ...], gender: int | None
) -> None:
    rows = fetch(SEARCH, text=text, industries=industries or None, gender=gender)
    assert len(rows) == expected(demo, text, industries, gender)


def test_a_parameters_signs_are_letters(fetch: Fetch) -> None:
    assert fetch(SEARCH, text="%", industries=None, gender=None) == []
    assert fetch(SEARCH, text='" or ]]> <', industries=None, gender=None) == []


def test_texts_given_are_read_by_the_attributes_type(fetch: Fetch) -> None:
    assert fetch(SEARCH, text=None, industries=["1", "6"], gender="2") == fetch(
        SEARCH, text=None, industries=[1, 6], gender=2
    )


def test_a_parameter_that_does_not_fit_is_refused(fetch: Fetch) -> None:
    with pytest.raises(InvalidQuery, match="condition gendercode eq: 'x' is not a whole number"):
        fetch(SEARCH, text=None, industries=None, gender="x")


def test_a_parameter_nobody_declared_is_refused(fetch: Fetch) -> None:
    with pytest.raises(InvalidQuery, match="no parameter 'gender'"):
        fetch(SEARCH, text=None, industries=None)


def test_the_names_read_are_known(crm: EmbeddedPlatform) -> None:
    assert prepare(parse(SEARCH), crm.attributes).needs.parameters == {"text", "industries", "gender"}
    assert prepare(parse(BY_CITY.format("and", "eq", "city")), crm.attributes).needs.user_values == {"city"}


def test_properties_of_the_caller(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(BY_CITY.format("or", "eq", "city"))
    wanted = [r for r in demo["account"] if r["address1_city"] == "Kyiv" or r["accountnumber"] == "A-00001"]
    assert sorted(row["name"] for row in rows) == sorted(row["name"] for row in wanted)


@pytest.mark.parametrize("operator", ["eq", "ne", "not-like"])
def test_a_property_the_caller_lacks_matches_nothing(fetch: Fetch, operator: str) -> None:
    assert fetch(BY_CITY.format("and", operator, "shoesize")) == []
    assert len(fetch(BY_CITY.format("or", operator, "shoesize"))) == 1


@pytest.mark.parametrize("operator", ["eq-userid", "ne-userid", "eq-userteams", "ne-businessid"])
def test_without_a_platform_user_nothing_is_theirs(crm: EmbeddedPlatform, operator: str) -> None:
    query = parse(
        '<fetch><entity name="account"><attribute name="name"/><filter>'
        f'<condition attribute="ownerid" operator="{operator}"/></filter></entity></fetch>'
    )
    prepared = prepare(query, crm.attributes)
    assert crm.query(prepared.resolve(Circumstances(NOW))).rows == []


def test_a_property_the_caller_lacks_in_an_outer_link_keeps_the_parents(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="account"><attribute name="name"/>
      <link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="c">
        <attribute name="fullname"/>
        <filter><condition attribute="fullname" operator="ne" value="@user.shoesize"/></filter>
      </link-entity></entity></fetch>""")
    assert len(rows) == len(demo["account"])
    assert {row["c.fullname"] for row in rows} == {None}


def test_dates_and_numbers_of_relative_operators_can_be_given(fetch: Fetch, demo: Demo) -> None:
    text = """<fetch><entity name="contact"><attribute name="contactid"/><filter>
      <condition attribute="createdon" operator="last-x-days" value="@days"/>
      <condition attribute="createdon" operator="on-or-before" value="@until"/></filter></entity></fetch>"""
    until = NOW.date() - dt.timedelta(days=10)
    first = NOW.date() - dt.timedelta(days=60)
    wanted = {row["contactid"] for row in demo["contact"] if first <= row["createdon"].date() <= until}
    assert {row["contactid"] for row in fetch(text, days=60, until=until)} == wanted
    assert {row["contactid"] for row in fetch(text, days="60", until=until.isoformat())} == wanted
    assert wanted


def test_a_whole_day_given_for_a_time_is_refused(fetch: Fetch) -> None:
    text = """<fetch><entity name="contact"><filter>
      <condition attribute="createdon" operator="eq" value="@day"/></filter></entity></fetch>"""
    with pytest.raises(InvalidQuery, match="use on for the whole day"):
        fetch(text, day=NOW.date())


def test_a_lookup_can_be_given(fetch: Fetch, demo: Demo) -> None:
    text = """<fetch><entity name="opportunity"><attribute name="name"/><filter>
      <condition attribute="ownerid" operator="eq" value="@owner"/></filter></entity></fetch>"""
    rows = fetch(text, owner=RITA_REP)
    assert len(rows) == sum(row["ownerid"].id == RITA_REP for row in demo["opportunity"])


OF_MANAGER = """<fetch><entity name="account"><attribute name="name"/><filter type="or">
  <condition attribute="ownerid" operator="eq" value="@fetch.manager.ownerid"/>
  <condition attribute="accountid" operator="eq" value="@record.parentaccountid"/>
  <condition attribute="accountnumber" operator="eq" value="A-00001"/></filter></entity></fetch>"""


def test_values_that_were_read_before(crm: EmbeddedPlatform, demo: Demo) -> None:
    prepared = prepare(parse(OF_MANAGER), crm.attributes)
    assert prepared.needs.fetched == {("manager", "ownerid")}
    assert prepared.needs.record == {"parentaccountid"}
    owner = demo["account"][0]["ownerid"]
    circumstances = Circumstances(
        NOW,
        fetched={"manager": {"ownerid": owner}},
        record={"parentaccountid": demo["account"][1]["accountid"]},
    )
    rows = crm.query(prepared.resolve(circumstances)).rows
    wanted = [
        str(row["name"])
        for row in demo["account"]
        if row["ownerid"] == owner
        or row["accountid"] == demo["account"][1]["accountid"]
        or row["accountnumber"] == "A-00001"
    ]
    assert sorted(str(row["name"]) for row in rows) == sorted(wanted)


def test_what_was_not_read_matches_nothing(crm: EmbeddedPlatform) -> None:
    prepared = prepare(parse(OF_MANAGER), crm.attributes)
    nothing = Circumstances(NOW, fetched={"manager": {"ownerid": None}})
    assert not prepared.needs.are_met(nothing)
    assert len(crm.query(prepared.resolve(nothing)).rows) == 1
