"""Actions that are no custom APIs, an organisation's and Dataverse's own: only `$metadata` knows them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.errors import InvalidRecord, UnexpectedAnswer
from crmclient.metadata import Holds
from crmclient.values import NewRecord, Reference
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
<Action Name="CloseQuote" IsBound="true"><Parameter Name="entity" Type="mscrm.quote" Nullable="false"/>
 <Parameter Name="Status" Type="Edm.Int32" Nullable="false"/></Action>
<Action Name="FulfillSalesOrder"><Parameter Name="OrderClose" Type="mscrm.contact" Nullable="false"/>
 <Parameter Name="Status" Type="Edm.Int32" Nullable="false"/>
 <ReturnType Type="mscrm.account" Nullable="false"/></Action>
<Action Name="AddToQueue" IsBound="true"><Parameter Name="entity" Type="mscrm.contact" Nullable="false"/>
 <Parameter Name="Target" Type="mscrm.crmbaseentity" Nullable="false"/>
 <Parameter Name="SourceQueue" Type="mscrm.queue"/>
 <ReturnType Type="mscrm.AddToQueueResponse" Nullable="false"/></Action>
<ComplexType Name="AddToQueueResponse"><Property Name="QueueItemId" Type="Edm.Guid"/></ComplexType>
<Action Name="new_Order"><Parameter Name="Lines" Type="Collection(mscrm.contact)" Nullable="false"/>
 <ReturnType Type="Collection(mscrm.crmbaseentity)" Nullable="false"/></Action>
<Action Name="GrantAccess"><Parameter Name="Target" Type="mscrm.crmbaseentity" Nullable="false"/></Action>
<Action Name="BulkDelete"><Parameter Name="JobName" Type="Edm.String" Nullable="false"/></Action>
<Action Name="PublishAllXml"/><Action Name="SomethingElse"/>
<Action Name="new_Ping"><Parameter Name="Other" Type="Edm.String"/></Action>
</Schema></edmx:DataServices></edmx:Edmx>"""
METADATA = {"path": r"/\$metadata", "status": 200, "headers": {"Content-Type": "application/xml"}}


def test_what_an_organisation_has_made_is_listed(failing: Failing) -> None:
    failing.arm({**METADATA, "body": DOCUMENT})

    processes = failing.platform().processes()

    assert set(processes) >= {"new_Rate", "new_Ping", "new_Approve"}
    assert not {"new_Import", "new_OnAll"} & set(processes)
    rate = processes["new_Rate"]
    assert rate.entity == "account"
    assert [(each.name, each.type.value, each.required) for each in rate.inputs] == [
        ("Score", "Integer", True),
        ("Why", "String", False),
    ]
    assert [(each.name, each.targets) for each in rate.outputs] == [("Rate", ()), ("By", ("systemuser",))]
    assert [each.name for each in processes["new_Ping"].inputs] == ["Message"]


def test_of_the_platforms_own_those_are_listed_that_endpoints_may_run(failing: Failing) -> None:
    failing.arm({**METADATA, "body": DOCUMENT})

    processes = failing.platform().processes()

    assert {"FulfillSalesOrder", "AddToQueue"} <= set(processes)
    # Nobody may run these; that of an entity that is not there cannot run.
    assert not {"GrantAccess", "BulkDelete", "PublishAllXml", "CloseQuote", "SomethingElse"} & set(processes)
    queue = processes["AddToQueue"]
    assert (queue.label, queue.entity) == ("Add to queue", "contact")
    assert [(each.name, each.targets) for each in queue.inputs] == [
        ("Target", ("incident", "appointment", "email", "phonecall"))
    ]
    assert [each.name for each in queue.outputs] == ["QueueItemId"]


def test_a_record_that_is_made_is_told_from_one_that_is_there(failing: Failing) -> None:
    failing.arm({**METADATA, "body": DOCUMENT})

    processes = failing.platform().processes()

    inputs = {
        each.name: each for name in ("FulfillSalesOrder", "new_Order") for each in processes[name].inputs
    }
    assert (inputs["OrderClose"].holds, inputs["OrderClose"].targets) == (Holds.RECORD, ("contact",))
    assert (inputs["Lines"].holds, inputs["Lines"].targets) == (Holds.RECORDS, ("contact",))
    assert [(each.name, each.holds) for each in processes["FulfillSalesOrder"].outputs] == [
        ("value", Holds.VALUE)
    ]
    assert [(each.name, each.holds) for each in processes["new_Order"].outputs] == [("value", Holds.RECORDS)]


def test_a_record_that_is_the_answer_is_the_output(failing: Failing) -> None:
    body = json.dumps({"@odata.context": "x", "accountid": FIRST_ACCOUNT, "name": "Made"})
    failing.arm(
        {**METADATA, "body": DOCUMENT},
        {"method": "POST", "path": r"/FulfillSalesOrder$", "status": 200, "body": body},
    )

    close = NewRecord("contact", {"lastname": "Close"})
    outputs = failing.platform().execute("FulfillSalesOrder", {"OrderClose": close, "Status": 1})

    assert outputs == {"value": Reference("account", FIRST_ACCOUNT, "Made")}


def test_records_among_the_outputs_are_references(failing: Failing) -> None:
    made = {"@odata.type": "#Microsoft.Dynamics.CRM.contact", "contactid": FIRST_ACCOUNT}
    failing.arm(
        {**METADATA, "body": DOCUMENT},
        {"method": "POST", "path": r"/new_Order$", "status": 200, "body": json.dumps({"value": [made]})},
    )

    lines = (NewRecord("contact", {"lastname": "One"}), NewRecord("contact", {"lastname": "Two"}))
    outputs = failing.platform().execute("new_Order", {"Lines": lines})

    assert outputs == {"value": (Reference("contact", FIRST_ACCOUNT),)}


def test_what_is_wrong_with_a_line_is_said_of_its_place(failing: Failing) -> None:
    failing.arm({**METADATA, "body": DOCUMENT})
    lines = (NewRecord("contact", {"lastname": "One"}), NewRecord("contact", {"lastname": 2, "no": 1}))

    with pytest.raises(InvalidRecord) as raised:
        failing.platform().execute("new_Order", {"Lines": lines})

    assert [(each.attribute, each.code) for each in raised.value.problems] == [
        ("Lines/1/lastname", "wrong_type"),
        ("Lines/1/no", "unknown_attribute"),
    ]


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
