"""Of the portal's two customers, neither reaches what is the other's, whichever way in is tried: those of the
demo, and those that a consultant might add to its module.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from crmbox.demo.people import CLARA_CUSTOMER, COSMO_CONTACT
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from designer.platform import get_platform
from tests.callers import Caller
from tests.runtime.accounts import NOBODY
from tests.runtime.portal import (
    CASES,
    CLARAS,
    CLARAS_FILE,
    COMPANY_CASES,
    COSMOS,
    COSMOS_FILE,
    MY_CASES,
    PORTAL,
    PROFILE,
    attach,
    files,
    report,
    titles,
)
from tests.runtime.test_row_rules import same

ACCESS = {"roles": ["customer"], "caller_types": ["contact"]}
MORE: dict[str, Any] = {
    "format": 2,
    "roles": [{"name": "customer"}],
    "endpoints": [
        {
            "kind": "update",
            "module": "portal",
            "exposure": "cases",
            "inputs": [
                {"name": "parentCaseId", "type": "EntityReference"},
                {"name": "contactId", "type": "EntityReference"},
                {"name": "customer", "type": "EntityReference"},
            ],
            "bindings": [
                {"attribute": "parentcaseid", "value": "parentCaseId"},
                {"attribute": "primarycontactid", "value": "contactId"},
                {"attribute": "customerid", "value": "customer"},
            ],
        },
        {
            "kind": "create",
            "module": "portal",
            "exposure": "cases",
            "segment": "case-trees",
            "inputs": [
                {"name": "title", "required": True},
                {
                    "name": "children",
                    "type": "List",
                    "max_length": 5,
                    "relationship": "incident_parent_incident",
                    "inputs": [
                        {"name": "title", "required": True},
                        {"name": "customer", "type": "EntityReference", "required": True},
                    ],
                    "bindings": [
                        {"attribute": "title", "value": "title"},
                        {"attribute": "customerid", "value": "customer"},
                    ],
                },
            ],
            "bindings": [
                {"attribute": "title", "value": "title"},
                {"attribute": "customerid", "source": "user", "value": "id"},
            ],
        },
        {
            "kind": "multi-query",
            "module": "portal",
            "name": "cases-of",
            "inputs": [{"name": "customer", "type": "EntityReference"}],
            "settings": {
                "query": '<fetch><entity name="incident"><attribute name="title"/><filter>'
                '<condition attribute="customerid" operator="eq" value="@customer"/>'
                "</filter></entity></fetch>"
            },
        },
        {
            "kind": "multi-query",
            "module": "portal",
            "name": "counted",
            "settings": {
                "query": '<fetch aggregate="true"><entity name="incident">'
                '<attribute name="customerid" alias="customer" groupby="true"/>'
                '<attribute name="incidentid" alias="cases" aggregate="count"/></entity></fetch>'
            },
        },
        {
            "kind": "multi-query",
            "module": "portal",
            "name": "colleagues",
            "settings": {
                "query": '<fetch><entity name="contact"><attribute name="fullname"/>'
                '<link-entity name="incident" from="customerid" to="contactid" alias="case">'
                '<attribute name="title"/></link-entity></entity></fetch>',
                "linked_row_rules": True,
            },
        },
        {
            "kind": "multi-query",
            "module": "portal",
            "name": "customers",
            "settings": {
                "query": '<fetch><entity name="incident"><attribute name="title"/>'
                '<link-entity name="contact" from="contactid" to="customerid" alias="by">'
                '<attribute name="fullname"/></link-entity></entity></fetch>',
                "linked_row_rules": True,
            },
        },
    ],
}


@pytest.fixture
def more(portico: None, tmp_path: Path) -> None:
    """Ways in that the demo does not have."""
    document = json.loads(json.dumps(MORE))
    for endpoint in document["endpoints"]:
        endpoint["access"] = ACCESS
    path = tmp_path / "more.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    call_command("importconfig", str(path), stdout=io.StringIO())


def errors(answer: Any) -> dict[str, str]:
    assert answer.status_code == 400, answer.content
    return {error["pointer"]: error["code"] for error in answer.json()["errors"]}


@pytest.mark.parametrize("method", ["GET", "PATCH", "PUT", "DELETE"])
def test_another_customers_case_is_not_there(clara: Caller, method: str) -> None:
    other = clara.request(method, f"{CASES}/{COSMOS}", {} if method != "GET" else None)
    unknown = clara.request(method, f"{CASES}/{NOBODY}", {} if method != "GET" else None)
    assert other.status_code == unknown.status_code == (404 if method == "GET" else 405)
    assert method != "GET" or same(other, unknown)


def test_another_customers_case_is_neither_closed_nor_given_files_nor_read_for_them(clara: Caller) -> None:
    assert same(clara.post(f"{CASES}/{COSMOS}/actions/close"), clara.post(f"{CASES}/{NOBODY}/actions/close"))
    assert same(attach(clara, COSMOS), attach(clara, NOBODY))
    assert same(clara.get(files(COSMOS)), clara.get(files(NOBODY)))
    assert same(clara.get(f"{files(COSMOS)}/{COSMOS_FILE}"), clara.get(f"{files(NOBODY)}/{COSMOS_FILE}"))


def test_a_file_is_had_by_its_own_case_alone(clara: Caller, cosmo: Caller) -> None:
    assert same(clara.get(f"{files(CLARAS)}/{COSMOS_FILE}"), clara.get(f"{files(CLARAS)}/{NOBODY}"))
    assert cosmo.get(f"{files(COSMOS)}/{CLARAS_FILE}").status_code == 404
    assert cosmo.get(f"{files(COSMOS)}/{COSMOS_FILE}").status_code == 200


def test_another_customers_profile_is_not_there(clara: Caller, cosmo: Caller) -> None:
    body = {"firstName": "Mine"}
    assert same(clara.patch(f"{PROFILE}/{COSMO_CONTACT}", body), clara.patch(f"{PROFILE}/{NOBODY}", body))
    assert cosmo.get(f"{PORTAL}/queries/my-profile").json()["firstName"] == "Cosmo"


@pytest.mark.parametrize("query", ["my-cases", "company-cases", "my-profile"])
@pytest.mark.parametrize("name", ["id", "customer", "customerId", "contactId", "managedCompanyId"])
def test_no_parameter_names_somebody_else(clara: Caller, query: str, name: str) -> None:
    answer = clara.get(f"{PORTAL}/queries/{query}?{name}={COSMO_CONTACT}")
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (400, name)


@pytest.mark.parametrize("name", ["customer", "customerId", "customerid", "ownerId", "primaryContactId"])
def test_no_input_names_somebody_else(clara: Caller, name: str) -> None:
    sent = {"title": "For somebody else", name: {"type": "contact", "id": COSMO_CONTACT}}
    assert errors(clara.post(CASES, sent)) == {f"/{name}": "unknown_key"}


def test_a_cursor_is_of_use_to_its_caller_alone(clara: Caller, cosmo: Caller, anonymous: Caller) -> None:
    cursor = clara.get(MY_CASES).json()["cursor"]
    refused = cosmo.get(f"{MY_CASES}?cursor={cursor}")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad_cursor")
    assert anonymous.get(f"{MY_CASES}?cursor={cursor}").status_code == 401


def test_lists_hold_nothing_of_anybody_else(clara: Caller, cosmo: Caller) -> None:
    mine = titles(clara.get(f"{MY_CASES}?pageSize=10")) + titles(clara.get(COMPANY_CASES))
    assert "Pump P-220 leaks" not in mine
    assert titles(cosmo.get(MY_CASES)) == [
        "Pump P-220 leaks",
        "Price list for spare parts",
        "Change of the delivery address",
    ]


def test_a_lookup_in_a_body_points_at_nothing_of_anybody_else(more: None, clara: Caller) -> None:
    path = f"{CASES}/{report(clara)}"
    assert clara.patch(path, {"parentCaseId": CLARAS, "contactId": CLARA_CUSTOMER}).status_code == 204
    for other in (COSMOS, NOBODY):
        assert errors(clara.patch(path, {"parentCaseId": other})) == {"/parentCaseId": "unknown_target"}
    for other in (COSMO_CONTACT, NOBODY):
        customer = {"type": "contact", "id": other}
        assert errors(clara.patch(path, {"contactId": other})) == {"/contactId": "unknown_target"}
        assert errors(clara.patch(path, {"customer": customer})) == {"/customer": "unknown_target"}
    assert same(clara.patch(f"{CASES}/{COSMOS}", {}), clara.patch(f"{CASES}/{NOBODY}", {}))


def test_a_case_is_not_given_away(more: None, clara: Caller, cosmo: Caller) -> None:
    given = cosmo.patch(f"{CASES}/{COSMOS}", {"customer": {"type": "contact", "id": CLARA_CUSTOMER}})
    assert given.status_code in {400, 403}
    assert clara.get(f"{CASES}/{COSMOS}").status_code == 404


def test_a_batch_makes_nothing_for_anybody_else(more: None, clara: Caller) -> None:
    def tree(customer: str) -> Any:
        child = {"title": "Part", "customer": {"type": "contact", "id": customer}}
        return clara.post(f"{PORTAL}/case-trees", {"title": "Whole tree", "children": [child]})

    assert errors(tree(COSMO_CONTACT)) == {"/children/0/customer": "unknown_target"}
    made = Filter((Condition("title", Operator.EQ, ("Whole tree",)),))
    assert get_platform().query(Query("incident", (Column("title"),), made)).rows == []
    assert tree(CLARA_CUSTOMER).status_code == 200


def test_a_parameter_finds_nothing_of_anybody_else(more: None, clara: Caller, cosmo: Caller) -> None:
    assert titles(clara.get(f"{PORTAL}/queries/cases-of?customer={COSMO_CONTACT}")) == []
    assert len(titles(cosmo.get(f"{PORTAL}/queries/cases-of"))) == 3


def test_an_aggregate_counts_nothing_of_anybody_else(more: None, clara: Caller, cosmo: Caller) -> None:
    rows = cosmo.get(f"{PORTAL}/queries/counted").json()
    assert [(row["customer"]["id"], row["cases"]) for row in rows] == [(COSMO_CONTACT, 3)]
    counted = {row["customer"]["id"] for row in clara.get(f"{PORTAL}/queries/counted").json()}
    assert COSMO_CONTACT not in counted


def test_a_link_leads_to_nothing_of_anybody_else(more: None, cosmo: Caller) -> None:
    for name in ("colleagues", "customers"):
        rows = cosmo.get(f"{PORTAL}/queries/{name}").json()
        assert len(rows) == 3, rows
        assert "Cosmo Contact" in json.dumps(rows[0])
        assert "Machine MX-4471" not in json.dumps(rows)
