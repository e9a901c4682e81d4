"""Joins as people write them: by omission, outer and null, many-to-many, hashed aliases."""

from __future__ import annotations

import pytest

from crmbox.demo.people import KEY_ACCOUNTS, RITA_REP
from tests.query.conftest import Demo, Fetch

pytestmark = pytest.mark.django_db


def pairs(rows: list[dict[str, object]], *keys: str) -> list[tuple[str, ...]]:
    return sorted(tuple(str(row[key]) for key in keys) for row in rows)


def test_an_inner_link_by_omission_with_a_hashed_alias(fetch: Fetch, demo: Demo) -> None:
    alias = "a_670a3c3a3ee447899311d32db1e300c8"
    rows = fetch(f"""<fetch version="1.0" mapping="logical"><entity name="account">
      <link-entity alias="{alias}" name="contact" to="primarycontactid" from="contactid" visible="false">
        <attribute name="emailaddress1"/>
      </link-entity>
      <attribute name="name"/></entity></fetch>""")
    contacts = demo.by_id("contact")
    expected = [
        {"name": row["name"], "mail": contacts[row["primarycontactid"].id]["emailaddress1"]}
        for row in demo["account"]
        if row["primarycontactid"] is not None
    ]
    assert pairs(rows, "name", f"{alias}.emailaddress1") == pairs(expected, "name", "mail")


def test_accounts_without_opportunities(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch distinct="true"><entity name="account"><attribute name="accountid"/>
      <filter><condition entityname="opp" attribute="opportunityid" operator="null"/></filter>
      <link-entity name="opportunity" from="parentaccountid" to="accountid" link-type="outer" alias="opp"/>
    </entity></fetch>""")
    busy = {row["parentaccountid"].id for row in demo["opportunity"] if row["parentaccountid"]}
    assert {row["accountid"] for row in rows} == {row["accountid"] for row in demo["account"]} - busy
    assert rows


def test_a_filter_in_an_outer_link_keeps_the_parents(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="account"><attribute name="accountid"/>
      <link-entity name="contact" from="contactid" to="primarycontactid" link-type="outer" alias="c">
        <attribute name="fullname" alias="who"/>
        <filter><condition attribute="gendercode" operator="eq" value="2"/></filter>
      </link-entity></entity></fetch>""")
    contacts = demo.by_id("contact")
    expected = []
    for row in demo["account"]:
        contact = contacts.get(row["primarycontactid"].id) if row["primarycontactid"] else None
        shown = contact["fullname"] if contact is not None and contact["gendercode"] == 2 else None
        expected.append({"accountid": row["accountid"], "who": shown})
    assert pairs(rows, "accountid", "who") == pairs(expected, "accountid", "who")


def test_many_to_many_through_an_intersect_entity(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch version="1.0" output-format="xml-platform" mapping="logical" distinct="true">
      <entity name="systemuser"><attribute name="fullname"/>
        <link-entity name="teammembership" from="systemuserid" to="systemuserid" visible="false"
                     intersect="true">
          <link-entity name="team" from="teamid" to="teamid" alias="ab">
            <filter type="and"><condition attribute="name" operator="eq" value="key accounts"/></filter>
          </link-entity></link-entity></entity></fetch>""")
    members = {row["systemuserid"] for row in demo["teammembership"] if row["teamid"] == KEY_ACCOUNTS}
    users = demo.by_id("systemuser")
    assert {row["fullname"] for row in rows} == {users[id]["fullname"] for id in members}
    assert RITA_REP in members


def test_the_intersect_entity_filtered_by_its_own_id(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(f"""<fetch><entity name="systemuser"><attribute name="systemuserid"/>
      <link-entity name="teammembership" from="systemuserid" to="systemuserid" intersect="true"><filter>
        <condition attribute="teamid" operator="eq" value="{{{KEY_ACCOUNTS.upper()}}}"/>
      </filter></link-entity></entity></fetch>""")
    members = [row for row in demo["teammembership"] if row["teamid"] == KEY_ACCOUNTS]
    assert pairs(rows, "systemuserid") == pairs(members, "systemuserid")


def test_links_in_links_and_conditions_on_them(fetch: Fetch, demo: Demo) -> None:
    rows = fetch(
        """<fetch><entity name="opportunity"><attribute name="opportunityid"/>
      <filter type="and">
        <condition attribute="statecode" operator="eq" value="0"/>
        <condition entityname="customer" attribute="statecode" operator="eq" value="0"/>
        <condition entityname="seller" attribute="isdisabled" operator="eq" value="false"/>
        <condition entityname="opportunity" attribute="estimatedvalue" operator="not-null"/>
      </filter>
      <link-entity name="account" from="accountid" to="parentaccountid" link-type="inner" alias="customer">
        <attribute name="name"/>
        <link-entity name="systemuser" from="systemuserid" to="owninguser" link-type="inner" alias="seller">
          <attribute name="fullname"/></link-entity>
      </link-entity></entity></fetch>""".replace('to="owninguser"', 'to="ownerid"')
    )
    accounts, users = demo.by_id("account"), demo.by_id("systemuser")
    expected = []
    for row in demo["opportunity"]:
        account = accounts.get(row["parentaccountid"].id) if row["parentaccountid"] else None
        if row["statecode"] != 0 or account is None or account["statecode"] != 0:
            continue
        seller = users.get(account["ownerid"].id)
        if seller is None or seller["isdisabled"] or row["estimatedvalue"] is None:
            continue
        expected.append(
            {"opportunityid": row["opportunityid"], "name": account["name"], "who": seller["fullname"]}
        )
    assert pairs(rows, "opportunityid", "customer.name", "seller.fullname") == pairs(
        expected, "opportunityid", "name", "who"
    )
    assert expected


def test_a_self_join(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="systemuser"><attribute name="fullname"/>
      <link-entity name="systemuser" from="systemuserid" to="parentsystemuserid" alias="boss">
        <attribute name="fullname"/></link-entity></entity></fetch>""")
    users = demo.by_id("systemuser")
    expected = [
        {"who": row["fullname"], "boss": users[row["parentsystemuserid"].id]["fullname"]}
        for row in demo["systemuser"]
        if row["parentsystemuserid"] is not None
    ]
    assert pairs(rows, "fullname", "boss.fullname") == pairs(expected, "who", "boss")
    assert expected


def test_a_link_without_alias_is_named_by_its_entity(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="incident"><attribute name="ticketnumber"/>
      <filter><condition entityname="account" attribute="industrycode" operator="not-null"/></filter>
      <link-entity name="account" from="accountid" to="customerid"><attribute name="name"/></link-entity>
      <order attribute="name" entityname="account"/></entity></fetch>""")
    accounts = demo.by_id("account")
    expected = [
        {"ticketnumber": row["ticketnumber"], "name": accounts[row["customerid"].id]["name"]}
        for row in demo["incident"]
        if row["customerid"].entity == "account"
        and accounts[row["customerid"].id]["industrycode"] is not None
    ]
    assert pairs(rows, "ticketnumber", "account1.name") == pairs(expected, "ticketnumber", "name")
    assert len({row["account1.name"] for row in rows}) > 1
    seen = [row["account1.name"] for row in rows]
    assert all(seen[at] == seen[at - 1] or seen[at] not in seen[:at] for at in range(1, len(seen)))


def test_an_attribute_compared_with_one_of_a_link(fetch: Fetch, demo: Demo) -> None:
    rows = fetch("""<fetch><entity name="opportunity"><attribute name="opportunityid"/>
      <filter><condition attribute="ownerid" operator="eq" valueof="a.ownerid"/></filter>
      <link-entity name="account" from="accountid" to="parentaccountid" alias="a"/></entity></fetch>""")
    accounts = demo.by_id("account")
    expected = [
        row
        for row in demo["opportunity"]
        if row["parentaccountid"] and accounts[row["parentaccountid"].id]["ownerid"].id == row["ownerid"].id
    ]
    assert pairs(rows, "opportunityid") == pairs(expected, "opportunityid")
