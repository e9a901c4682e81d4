"""Process actions that are no custom APIs: only `$metadata` knows them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.errors import InvalidRecord, UnexpectedAnswer
from crmclient.values import Reference
from tests.dataverse.conftest import Failing

pytestmark = pytest.mark.processes

DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="Microsoft.Dynamics.CRM" Alias="mscrm" xmlns="http://docs.oasis-open.org/odata/ns/edm">
<ComplexType Name="new_RateResponse"><Property Name="Rate" Type="Edm.Decimal"/>
 <Property Name="By" Type="mscrm.systemuser"/>
 <Property Name="Lines" Type="Collection(Edm.String)"/></ComplexType>
<Action Name="new_Rate" IsBound="true"><Parameter Name="entity" Type="mscrm.account" Nullable="false"/>
 <Parameter Name="Score" Type="Edm.Int32" Nullable="false"/><Parameter Name="Why" Type="Edm.String"/>
 <Parameter Name="Rows" Type="Collection(mscrm.crmbaseentity)"/>
 <ReturnType Type="mscrm.new_RateResponse" Nullable="false"/></Action>
<Action Name="new_Import">
 <Parameter Name="Rows" Type="Collection(mscrm.crmbaseentity)" Nullable="false"/></Action>
<Action Name="new_OnAll" IsBound="true">
 <Parameter Name="entityset" Type="Collection(mscrm.account)"/></Action>
<Action Name="WinOpportunity"><Parameter Name="Status" Type="Edm.Int32" Nullable="false"/></Action>
<Action Name="new_Ping"><Parameter Name="Other" Type="Edm.String"/></Action>
</Schema></edmx:DataServices></edmx:Edmx>"""
METADATA = {"path": r"/\$metadata", "status": 200, "headers": {"Content-Type": "application/xml"}}


def test_what_an_organisation_has_made_is_listed(failing: Failing) -> None:
    failing.arm({**METADATA, "body": DOCUMENT})

    found = failing.platform().processes()

    assert set(found) >= {"new_Rate", "new_Ping", "new_Approve"}
    assert not {"WinOpportunity", "new_Import", "new_OnAll"} & set(found)
    rate = found["new_Rate"]
    assert rate.entity == "account"
    assert [(each.name, each.type.value, each.required) for each in rate.inputs] == [
        ("Score", "Integer", True),
        ("Why", "String", False),
    ]
    assert [(each.name, each.targets) for each in rate.outputs] == [("Rate", ()), ("By", ("systemuser",))]
    assert [each.name for each in found["new_Ping"].inputs] == ["Message"]


def test_it_runs_as_any_other(failing: Failing) -> None:
    answer = {"Rate": Decimal("1.5"), "By": None}
    body = json.dumps({"@odata.context": "x", "Rate": 1.5, "Lines": ["a"]})
    failing.arm(
        {**METADATA, "body": DOCUMENT},
        {"method": "POST", "path": r"/accounts\(.*\.new_Rate$", "status": 200, "body": body},
    )
    platform = failing.platform()
    account = Reference("account", FIRST_ACCOUNT)

    assert platform.execute("new_Rate", {"Score": 5}, target=account) == answer
    with pytest.raises(InvalidRecord):
        platform.execute("new_Rate", {"Why": "no score"}, target=account)


def test_a_document_that_is_none_is_an_error_of_the_platform(failing: Failing) -> None:
    failing.arm({**METADATA, "body": "<html>Sign in<br></html>"})

    with pytest.raises(UnexpectedAnswer):
        failing.platform().processes()
