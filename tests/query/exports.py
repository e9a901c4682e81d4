"""Documents as they are exported and pasted, each with plain SQL that gives its rows.

In the SQL, `:name:` is a bound that the test knows; of a lookup, rows hold the id.
"""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

from crmbox.demo.people import RITA_REP

# The demo's records reach two years back from the day it is loaded.
LAST_YEAR = dt.datetime.now(dt.UTC).year - 1
HEAD = '<fetch version="1.0" output-format="xml-platform" mapping="logical" distinct="false">'
DISTINCT = HEAD.replace('"false"', '"true"')
CHART = (
    '<fetch version="1.0" output-format="xml-platform" mapping="logical" distinct="false" aggregate="true">'
)


class Export(NamedTuple):
    name: str
    fetchxml: str
    sql: str
    ordered: bool = False


EXPORTS = [
    Export(
        "active accounts",
        f"""{HEAD}
  <entity name="account">
    <attribute name="name" />
    <attribute name="primarycontactid" />
    <attribute name="telephone1" />
    <attribute name="accountid" />
    <order attribute="name" descending="false" />
    <filter type="and">
      <condition attribute="statecode" operator="eq" value="0" />
    </filter>
  </entity>
</fetch>""",
        "SELECT name, primarycontactid, telephone1, accountid FROM e_account WHERE statecode = 0 "
        "ORDER BY name__k, accountid",
        ordered=True,
    ),
    Export(
        "an owner chosen in a lookup",
        f"""{HEAD}
  <entity name="opportunity">
    <attribute name="name" /><attribute name="opportunityid" />
    <order attribute="name" descending="false" />
    <filter type="and">
      <condition attribute="ownerid" operator="eq" uiname="Rita Rep" uitype="systemuser"
                 value="{{{RITA_REP.upper()}}}" />
    </filter>
  </entity>
</fetch>""",
        "SELECT name, opportunityid FROM e_opportunity WHERE ownerid = :rita:",
    ),
    Export(
        "my open opportunities, above a value or probable",
        f"""{HEAD}
  <entity name="opportunity">
    <attribute name="opportunityid" />
    <filter type="and">
      <condition attribute="ownerid" operator="eq-userid" />
      <condition attribute="statecode" operator="eq" value="0" />
      <filter type="or">
        <condition attribute="closeprobability" operator="ge" value="60" />
        <filter type="and">
          <condition attribute="closeprobability" operator="lt" value="60" />
          <condition attribute="salesstage" operator="in"><value>1</value><value>2</value></condition>
        </filter>
      </filter>
    </filter>
  </entity>
</fetch>""",
        "SELECT opportunityid FROM e_opportunity WHERE ownerid = :rita: AND statecode = 0 AND "
        "(closeprobability >= 60 OR (closeprobability < 60 AND salesstage IN (1, 2)))",
    ),
    Export(
        "accounts without cases",
        f"""{HEAD}
  <entity name="account">
    <attribute name="accountid" />
    <filter type="and">
      <condition entityname="c" attribute="incidentid" operator="null" />
    </filter>
    <link-entity name="incident" from="customerid" to="accountid" link-type="outer" alias="c" />
  </entity>
</fetch>""",
        "SELECT accountid FROM e_account WHERE accountid NOT IN "
        "(SELECT customerid FROM e_incident WHERE customerid IS NOT NULL)",
    ),
    Export(
        "a column of a hidden link under a hashed alias",
        f"""{HEAD}
  <entity name="account">
    <attribute name="accountid" />
    <filter type="and"><condition attribute="statecode" operator="eq" value="0" /></filter>
    <link-entity alias="a_670a3c3a3ee447899311d32db1e300c8" name="contact" to="primarycontactid"
                 from="contactid" link-type="outer" visible="false">
      <attribute name="emailaddress1" />
    </link-entity>
    <attribute name="address1_city" />
  </entity>
</fetch>""",
        "SELECT a.accountid, a.address1_city, c.emailaddress1 FROM e_account a "
        "LEFT JOIN e_contact c ON c.contactid = a.primarycontactid WHERE a.statecode = 0",
    ),
    Export(
        "members of teams, over the intersect entity",
        f"""{DISTINCT}
  <entity name="systemuser">
    <attribute name="systemuserid" />
    <link-entity name="teammembership" from="systemuserid" to="systemuserid" visible="false" intersect="true">
      <link-entity name="team" from="teamid" to="teamid" alias="aa">
        <filter type="and"><condition attribute="name" operator="eq" value="key accounts" /></filter>
      </link-entity>
    </link-entity>
  </entity>
</fetch>""",
        "SELECT DISTINCT u.systemuserid FROM e_systemuser u JOIN e_teammembership m ON "
        "m.systemuserid = u.systemuserid JOIN e_team t ON t.teamid = m.teamid WHERE t.name = 'Key Accounts'",
    ),
    Export(
        "a list with a designer's empty value beside it",
        f"""{HEAD}
  <entity name="incident">
    <attribute name="incidentid" />
    <filter type="and">
      <condition attribute="ownerid" operator="in" value="">
        <value uiname="Rita Rep" uitype="systemuser">{{{RITA_REP.upper()}}}</value>
      </condition>
    </filter>
    <filter type="or" isquickfindfields="1">
      <condition attribute="prioritycode" operator="eq" value="1" />
      <condition attribute="prioritycode" operator="eq" value="2" />
    </filter>
  </entity>
</fetch>""",
        "SELECT incidentid FROM e_incident WHERE ownerid = :rita: AND prioritycode IN (1, 2)",
    ),
    Export(
        "ne, which empty values match",
        "<fetch><entity name='account'><attribute name='accountid'/><filter>"
        "<condition attribute='industrycode' operator='ne' value='6'/></filter></entity></fetch>",
        "SELECT accountid FROM e_account WHERE industrycode <> 6 OR industrycode IS NULL",
    ),
    Export(
        "created in the last days",
        f"""{HEAD}<entity name="contact"><attribute name="contactid" />
        <filter type="and"><condition attribute="createdon" operator="last-x-days" value="400" /></filter>
        </entity></fetch>""",
        "SELECT contactid FROM e_contact WHERE createdon >= :days400: AND createdon < :tomorrow:",
    ),
    Export(
        "last year",
        f"""{HEAD}<entity name="incident"><attribute name="incidentid" />
        <filter type="and"><condition attribute="createdon" operator="last-year" /></filter>
        </entity></fetch>""",
        "SELECT incidentid FROM e_incident WHERE createdon >= :last_year: AND createdon < :year:",
    ),
    Export(
        "closing within a period of days",
        f"""{HEAD}<entity name="opportunity"><attribute name="opportunityid" /><filter type="and">
        <condition attribute="estimatedclosedate" operator="next-x-days" value="90" />
        <condition attribute="estimatedclosedate" operator="not-null" /></filter></entity></fetch>""",
        "SELECT opportunityid FROM e_opportunity WHERE estimatedclosedate >= :today: "
        "AND estimatedclosedate <= :in_90_days:",
    ),
    Export(
        "between two days, both whole",
        f"""{HEAD}<entity name="account"><attribute name="accountid" /><filter type="and">
        <condition attribute="createdon" operator="on-or-after" value="{LAST_YEAR}-01-01" />
        <condition attribute="createdon" operator="on-or-before" value="{LAST_YEAR}-06-30" /></filter>
        </entity></fetch>""",
        f"SELECT accountid FROM e_account WHERE createdon >= '{LAST_YEAR}-01-01 00:00:00.000000+00:00' "
        f"AND createdon < '{LAST_YEAR}-07-01 00:00:00.000000+00:00'",
    ),
    Export(
        "patterns without regard to case",
        "<fetch no-lock='true'><entity name='account'><!-- exported --><attribute name='accountid' />"
        "<filter type='or'><condition attribute='name' operator='like' value='CON%' />"
        "<condition attribute='address1_country' operator='not-like' value='%e%' /></filter>"
        "</entity></fetch>",
        "SELECT accountid FROM e_account WHERE name__k LIKE 'con%%' OR address1_country IS NULL "
        "OR address1_country__k NOT LIKE '%%e%%'",
    ),
    Export(
        "any of several interests",
        "<fetch><entity name='account'><attribute name='accountid'/><filter>"
        "<condition attribute='new_interests' operator='contain-values'><value>100000001</value>"
        "<value>100000004</value></condition></filter></entity></fetch>",
        "SELECT accountid FROM e_account WHERE new_interests LIKE '%%|100000001|%%' "
        "OR new_interests LIKE '%%|100000004|%%'",
    ),
    Export(
        "a chart: how many cases of each priority",
        f"""{CHART}<entity name="incident">
        <attribute name="incidentid" aggregate="count" alias="aggregate_column" />
        <attribute name="prioritycode" groupby="true" alias="groupby_column" />
        <order alias="aggregate_column" descending="true" />
        </entity></fetch>""",
        "SELECT COUNT(*) AS n, prioritycode FROM e_incident GROUP BY prioritycode",
    ),
    Export(
        "a chart: by the owner's business unit, over links",
        f"""{CHART}<entity name="opportunity">
        <attribute name="opportunityid" aggregate="countcolumn" alias="many" />
        <attribute name="closeprobability" aggregate="max" alias="best" />
        <filter type="and"><condition attribute="statecode" operator="eq" value="0" /></filter>
        <link-entity name="systemuser" from="systemuserid" to="ownerid" alias="owner">
          <attribute name="businessunitid" groupby="true" alias="unit" />
        </link-entity></entity></fetch>""",
        "SELECT COUNT(o.opportunityid), MAX(o.closeprobability), u.businessunitid FROM e_opportunity o "
        "JOIN e_systemuser u ON u.systemuserid = o.ownerid WHERE o.statecode = 0 GROUP BY u.businessunitid",
    ),
    Export(
        "a chart: contacts with an account in each country, counted once",
        f"""{CHART}<entity name="contact">
        <attribute name="parentcustomerid" aggregate="countcolumn" distinct="true" alias="companies" />
        <attribute name="address1_country" groupby="true" alias="country" />
        </entity></fetch>""",
        "SELECT COUNT(DISTINCT parentcustomerid), address1_country FROM e_contact GROUP BY address1_country",
    ),
    Export(
        "accounts that have cases, each once",
        f"""{DISTINCT}<entity name="account"><attribute name="accountid" />
        <link-entity name="incident" from="customerid" to="accountid" alias="ab">
        <filter type="and"><condition attribute="statecode" operator="eq" value="0" /></filter></link-entity>
        </entity></fetch>""",
        "SELECT DISTINCT a.accountid FROM e_account a JOIN e_incident i ON i.customerid = a.accountid "
        "WHERE i.statecode = 0",
    ),
    Export(
        "links in links, with a condition on the farthest",
        f"""{HEAD}<entity name="incident"><attribute name="incidentid" />
        <filter type="and">
          <condition entityname="owner" attribute="isdisabled" operator="eq" value="0" />
        </filter>
        <link-entity name="account" from="accountid" to="customerid" alias="customer">
          <link-entity name="systemuser" from="systemuserid" to="ownerid" link-type="outer" alias="owner">
            <attribute name="fullname" alias="salesman" />
          </link-entity>
        </link-entity></entity></fetch>""",
        "SELECT i.incidentid, u.fullname FROM e_incident i JOIN e_account a ON a.accountid = i.customerid "
        "LEFT JOIN e_systemuser u ON u.systemuserid = a.ownerid WHERE NOT (u.isdisabled <> FALSE)",
    ),
    Export(
        "the name of a lookup's record",
        f"""{HEAD}<entity name="account"><attribute name="accountid" /><filter type="and">
        <condition attribute="primarycontactidname" operator="begins-with" value="a" /></filter>
        </entity></fetch>""",
        "SELECT a.accountid FROM e_account a JOIN e_contact c ON c.contactid = a.primarycontactid "
        "WHERE c.fullname__k LIKE 'a%%'",
    ),
    Export(
        "the five with the most employees",
        f"""{HEAD.replace("<fetch", "<fetch top='5'")}<entity name="account"><attribute name="accountid" />
        <attribute name="numberofemployees" /><order attribute="numberofemployees" descending="true" />
        </entity></fetch>""",
        "SELECT accountid, numberofemployees FROM e_account WHERE numberofemployees IS NOT NULL "
        "ORDER BY numberofemployees DESC, accountid DESC LIMIT 5",
        ordered=True,
    ),
    Export(
        "two attributes compared",
        "<fetch><entity name='contact'><attribute name='contactid'/><filter>"
        "<condition attribute='createdby' operator='eq' valueof='modifiedby'/>"
        "<condition attribute='modifiedon' operator='ge' valueof='createdon'/></filter></entity></fetch>",
        "SELECT contactid FROM e_contact WHERE createdby = modifiedby AND modifiedon >= createdon",
    ),
]
