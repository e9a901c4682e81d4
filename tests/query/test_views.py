"""Views as Advanced Find and designers' tools write them, against the demo's records in plain Python."""

from __future__ import annotations

import pytest

from crmbox.demo.people import CONTOSO, MAX_MANAGER, RITA_REP, stable_id
from crmclient.text import fold
from tests.query.conftest import Demo, Fetch

pytestmark = pytest.mark.django_db

HEAD = '<fetch version="1.0" output-format="xml-platform" mapping="logical" distinct="false">'


def names(rows: list[dict[str, object]], key: str = "name") -> list[str]:
    return sorted(str(row[key]) for row in rows)


def test_active_accounts_in_order(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(f"""{HEAD}
      <entity name="account">
        <attribute name="name" /><attribute name="primarycontactid" /><attribute name="telephone1" />
        <attribute name="accountid" />
        <order attribute="name" descending="false" />
        <filter type="and"><condition attribute="statecode" operator="eq" value="0" /></filter>
      </entity>
    </fetch>""")
    active = [row for row in demo["account"] if row["statecode"] == 0]
    assert [row["name"] for row in rows] == sorted((row["name"] for row in active), key=fold)
    by_id = demo.by_id("account")
    assert all(row["primarycontactid"] == by_id[row["accountid"]]["primarycontactid"] for row in rows)


def test_an_owner_by_id_in_braces(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(f"""{HEAD}<entity name="opportunity"><attribute name="name"/><filter type="and">
        <condition attribute="ownerid" operator="eq" uiname="Rita Rep" uitype="systemuser"
                   value="{{{RITA_REP.upper()}}}" />
      </filter></entity></fetch>""")
    assert names(rows) == names([row for row in demo["opportunity"] if row["ownerid"].id == RITA_REP])
    assert rows


def test_a_list_of_owners_beside_an_empty_value(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(f"""<fetch mapping='logical'><entity name='opportunity'><attribute name='name'/><filter>
        <condition attribute='ownerid' operator='in' value=''>
          <value uiname='Rita Rep' uitype='systemuser'>{{{RITA_REP.upper()}}}</value>
          <value uiname='Max Manager' uitype='systemuser'>
            {{{MAX_MANAGER}}}
          </value>
        </condition></filter></entity></fetch>""")
    wanted = {RITA_REP, MAX_MANAGER}
    assert names(rows) == names([row for row in demo["opportunity"] if row["ownerid"].id in wanted])


def test_not_in_matches_empty_choices(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="account"><attribute name="name"/><filter>
      <condition attribute="industrycode" operator="not-in"><value>1</value><value>6</value></condition>
    </filter></entity></fetch>""")
    assert names(rows) == names([row for row in demo["account"] if row["industrycode"] not in (1, 6)])
    assert any(row["industrycode"] is None for row in demo["account"])


def test_ne_matches_empty_values(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="account"><attribute name="name"/><filter>
      <condition attribute="industrycode" operator="ne" value="6"/></filter></entity></fetch>""")
    assert names(rows) == names([row for row in demo["account"] if row["industrycode"] != 6])


def test_neq_is_an_old_name_of_ne(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="account"><attribute name="name"/><filter>
      <condition attribute="statecode" operator="neq" value="0"/></filter></entity></fetch>""")
    assert names(rows) == names([row for row in demo["account"] if row["statecode"] != 0])


def test_groups_three_levels_deep(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="account"><attribute name="name"/>
      <filter type="and">
        <condition attribute="statecode" operator="eq" value="0"/>
        <filter type="or">
          <condition attribute="revenue" operator="ge" value="1000000"/>
          <filter type="and">
            <condition attribute="creditonhold" operator="eq" value="1"/>
            <condition attribute="industrycode" operator="not-null"/>
          </filter>
        </filter>
      </filter></entity></fetch>""")
    expected = [
        row
        for row in demo["account"]
        if row["statecode"] == 0
        and (
            (row["revenue"] is not None and row["revenue"] >= 1_000_000)
            or (row["creditonhold"] is True and row["industrycode"] is not None)
        )
    ]
    assert names(rows) == names(expected)
    assert 0 < len(expected) < 200


def test_filters_side_by_side_must_all_hold(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="contact"><attribute name="fullname"/>
      <filter type="or"><condition attribute="gendercode" operator="eq" value="1"/>
        <condition attribute="gendercode" operator="eq" value="2"/></filter>
      <filter><condition attribute="emailaddress1" operator="not-null"/></filter>
    </entity></fetch>""")
    expected = [
        row for row in demo["contact"] if row["gendercode"] in (1, 2) and row["emailaddress1"] is not None
    ]
    assert names(rows, "fullname") == names(expected, "fullname")


@pytest.mark.parametrize(
    ("operator", "value", "holds"),
    [
        ("like", "%contract%", lambda text: "contract" in text),
        ("not-like", "%contract%", lambda text: "contract" not in text),
        ("begins-with", "SERVICE", lambda text: text.startswith("service")),
        ("not-begin-with", "service", lambda text: not text.startswith("service")),
        ("ends-with", "Units", lambda text: text.endswith("units")),
        ("not-end-with", "units", lambda text: not text.endswith("units")),
        ("contains", "4", lambda text: "4" in text),
        ("like", "[ls]%", lambda text: text[0] in "ls"),
    ],
)
def test_texts(fetch: Fetch, demo: Demo, operator: str, value: str, holds: object) -> None:
    rows = fetch(f"""<fetch><entity name="opportunity"><attribute name="name"/><filter>
      <condition attribute="name" operator="{operator}" value="{value}"/></filter></entity></fetch>""")
    expected = [row for row in demo["opportunity"] if holds(row["name"].lower())]  # type: ignore[operator]
    assert names(rows) == names(expected)
    assert 0 < len(expected) < 250


def test_a_quick_find_view_with_its_value(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(f"""{HEAD}<entity name="account"><attribute name="name"/>
      <filter type="or" isquickfindfields="1">
        <condition attribute="accountnumber" operator="like" value="a-0001%"/>
        <condition attribute="name" operator="like" value="a-0001%"/>
      </filter></entity></fetch>""")
    expected = [row for row in demo["account"] if row["accountnumber"].startswith("A-0001")]
    assert names(rows) == names(expected)
    assert expected


def test_the_name_of_a_lookup_is_a_column(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="opportunity"><attribute name="name"/><filter type="and">
      <condition attribute="owneridname" operator="like" value="Rita%"/></filter></entity></fetch>""")
    assert names(rows) == names([row for row in demo["opportunity"] if row["ownerid"].id == RITA_REP])


def test_multi_select_choices(fetch: Fetch, demo: Demo) -> None:
    used = sorted({option for row in demo["account"] for option in row["new_interests"] or ()})[:2]
    values = "".join(f"<value>{option}</value>" for option in used)
    text = """<fetch><entity name="account"><attribute name="name"/><filter>
      <condition attribute="new_interests" operator="{}">{}</condition></filter></entity></fetch>"""
    some = [row for row in demo["account"] if set(used) & set(row["new_interests"] or ())]
    others = [row for row in demo["account"] if row not in some]
    assert names(fetch(text.format("contain-values", values))) == names(some)
    assert names(fetch(text.format("not-contain-values", values))) == names(others)
    assert some
    assert others


def test_money_between_two_values(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch no-lock="true"><entity name="opportunity"><attribute name="name"/><filter>
      <condition attribute="estimatedvalue" operator="between">
        <value>100000.00</value><value>500000</value></condition></filter></entity></fetch>""")
    expected = [
        row
        for row in demo["opportunity"]
        if row["estimatedvalue"] is not None and 100_000 <= row["estimatedvalue"] <= 500_000
    ]
    assert names(rows) == names(expected)
    assert expected


def test_the_first_rows_in_descending_order(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch top="7"><entity name="opportunity"><attribute name="estimatedvalue"/>
      <order attribute="estimatedvalue" descending="true"/></entity></fetch>""")
    values = sorted(
        (row["estimatedvalue"] for row in demo["opportunity"] if row["estimatedvalue"]), reverse=True
    )
    assert [row["estimatedvalue"] for row in rows] == values[:7]


def test_children_in_any_order_with_comments(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<?xml version="1.0" encoding="utf-16"?>
    <!-- exported -->
    <fetch>
      <entity name='account' >
        <filter>
          <!-- only ours -->
          <condition value='0' operator='eq' attribute='statecode' />
        </filter>
        <order attribute='accountnumber' />
        <attribute name='accountnumber' />
        <attribute
            name='accountnumber' />
      </entity>
    </fetch>""")
    active = [row["accountnumber"] for row in demo["account"] if row["statecode"] == 0]
    assert [row["accountnumber"] for row in rows] == sorted(active)


def test_an_entity_alone(fetch: Fetch, demo: Demo) -> None:
    rows = fetch('<entity name="team"><attribute name="name"/></entity>')
    assert names(rows) == names(demo["team"])


def test_all_attributes(fetch: Fetch, demo: Demo) -> None:
    assert fetch(
        '<fetch><entity name="team"><all-attributes/><order attribute="teamid"/></entity></fetch>'
    ) == (sorted(demo["team"], key=lambda row: row["teamid"]))


def test_an_attribute_compared_with_another(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="opportunity"><attribute name="name"/><filter>
      <condition attribute="actualvalue" operator="lt" valueof="estimatedvalue"/>
    </filter></entity></fetch>""")
    expected = [
        row
        for row in demo["opportunity"]
        if row["actualvalue"] is not None
        and row["estimatedvalue"] is not None
        and row["actualvalue"] < row["estimatedvalue"]
    ]
    assert names(rows) == names(expected)
    assert expected


def test_the_caller_and_what_is_theirs(fetch: Fetch, demo: Demo) -> None:
    text = """<fetch><entity name="{}"><attribute name="{}"/><filter>
      <condition attribute="{}" operator="{}"/></filter></entity></fetch>"""
    mine = [row for row in demo["opportunity"] if row["ownerid"].id == RITA_REP]
    others = [row for row in demo["opportunity"] if row["ownerid"].id != RITA_REP]
    teams = {row["teamid"] for row in demo["teammembership"] if row["systemuserid"] == RITA_REP}
    unit = demo.by_id("systemuser")[RITA_REP]["businessunitid"].id
    near = [row for row in demo["systemuser"] if row["businessunitid"].id == unit]
    assert unit != CONTOSO
    assert names(fetch(text.format("opportunity", "name", "ownerid", "eq-userid"))) == names(mine)
    assert names(fetch(text.format("opportunity", "name", "ownerid", "ne-userid"))) == names(others)
    assert names(fetch(text.format("opportunity", "name", "ownerid", "eq-useroruserteams"))) == names(mine)
    assert names(fetch(text.format("team", "teamid", "teamid", "eq-userteams")), "teamid") == sorted(teams)
    near_ids = names(near, "systemuserid")
    assert (
        names(
            fetch(text.format("systemuser", "systemuserid", "businessunitid", "eq-businessid")),
            "systemuserid",
        )
        == near_ids
    )
    assert len(fetch(text.format("systemuser", "systemuserid", "businessunitid", "ne-businessid"))) == len(
        demo["systemuser"]
    ) - len(near)


def test_a_record_by_its_own_id(fetch: Fetch) -> None:
    id = stable_id("account", "A-00001")
    rows = fetch(f"""<fetch><entity name="account"><attribute name="accountnumber"/><filter>
      <condition attribute="accountid" operator="eq" value="{id}"/></filter></entity></fetch>""")
    assert rows == [{"accountnumber": "A-00001"}]
