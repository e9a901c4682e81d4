"""Readiness of lists, against the demo's metadata: where they lead, and what their items need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from crmclient.metadata import Attribute, Entity
from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import EndpointDefinition, ExposedEntityDefinition, ModuleDefinition
from designer.platform import get_platform
from designer.readiness import Finding, Metadata, check

pytestmark = pytest.mark.usefixtures("portico")

LAST = {"name": "last", "required": True, "max_length": 50}
LASTNAME = {"attribute": "lastname", "value": "last"}


def a_list(**values: Any) -> dict[str, Any]:
    return {
        "name": "contacts",
        "type": "List",
        "relationship": "contact_customer_accounts",
        "inputs": [LAST],
        "bindings": [LASTNAME],
        **values,
    }


def expressed(text: str) -> dict[str, Any]:
    return a_list(bindings=[LASTNAME, {"attribute": "jobtitle", "source": "expression", "value": text}])


def findings(
    *lists: dict[str, Any], kind: str = "create", metadata: Metadata | None = None, **definition: Any
) -> list[Finding]:
    exposed = ExposedEntityDefinition(module="shop", segment="accounts", entity="account")
    given = {
        "kind": kind,
        "module": "shop",
        "exposure": "accounts",
        "access": {"roles": ["buyer"]},
        "inputs": [{"name": "name", "required": True, "max_length": 160}, *lists],
        "bindings": [{"attribute": "name", "value": "name"}],
        **definition,
    }
    endpoint = Endpoint(EndpointDefinition.model_validate(given), exposed, exposures=(exposed,))
    configuration = Configuration(
        Revision(1, ""),
        {1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=(exposed,),
    )
    return [
        finding
        for finding in check(endpoint, configuration, metadata or Metadata(get_platform()))
        if finding.rule not in {"role-unknown"}
    ]


@pytest.mark.parametrize(
    "good",
    [
        a_list(),
        a_list(max_length=100, min_length=1, required=True),
        a_list(
            inputs=[LAST, {"name": "born", "type": "Date"}, {"name": "note"}],
            bindings=[
                LASTNAME,
                {"attribute": "birthdate", "value": "born"},
                {"attribute": "description", "source": "expression", "value": "input.note + input.last"},
                {"attribute": "jobtitle", "source": "constant", "value": "Contact"},
            ],
        ),
    ],
)
def test_nothing_is_found_of_a_good_list(good: dict[str, Any]) -> None:
    assert findings(good) == []


class Restricted(Metadata):
    """The demo's metadata, but for what a test says of contacts and of their lookup to accounts."""

    def __init__(self, *, is_read_only: bool = False, **lookup: Any) -> None:
        super().__init__(get_platform())
        self._is_read_only, self._lookup = is_read_only, lookup

    def entities(self) -> Mapping[str, Entity]:
        entities = super().entities()
        contact = replace(entities["contact"], is_read_only=self._is_read_only)
        return {**entities, "contact": contact}

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        attributes = super().attributes(entity)
        if entity != "contact":
            return attributes
        lookup = replace(attributes["parentcustomerid"], **self._lookup)
        return {**attributes, "parentcustomerid": lookup}


@pytest.mark.parametrize(
    ("kind", "restricted", "message"),
    [
        ("create", {"is_read_only": True}, "which can only be read"),
        ("update", {"is_read_only": True}, "which can only be read"),
        ("create", {"creatable": False}, "“parentcustomerid” is set by the platform alone"),
        ("update", {"creatable": False}, "“parentcustomerid” is set by the platform alone"),
        ("update", {"readable": False}, "does not let “parentcustomerid” be read"),
        ("create", {"readable": False}, ""),
        ("update", {}, ""),
    ],
)
def test_records_that_cannot_be_written_or_tied_to_their_record_are_found(
    kind: str, restricted: dict[str, bool], message: str
) -> None:
    found = [
        finding
        for finding in findings(a_list(), kind=kind, metadata=Restricted(**restricted))
        if finding.rule == "list-records"
    ]
    assert [message in finding.message for finding in found] == ([True] if message else [])
    assert all(finding.field == "inputs.contacts.relationship" for finding in found)


def test_items_whose_parent_is_required_can_be_created() -> None:
    """The relationship gives a case its customer: neither a missing nor an empty one is found."""
    assert get_platform().attributes("incident")["customerid"].is_required
    cases = a_list(
        name="cases",
        relationship="incident_customer_accounts",
        inputs=[{"name": "title", "required": True, "max_length": 200}],
        bindings=[{"attribute": "title", "value": "title"}],
    )
    assert findings(cases) == findings(cases, kind="update") == []


def test_a_list_can_be_read_in_expressions() -> None:
    binding = {
        "attribute": "description",
        "source": "expression",
        "value": "join(input.contacts.map(c, c.last))",
    }
    assert findings(a_list(), bindings=[{"attribute": "name", "value": "name"}, binding]) == []


@pytest.mark.parametrize(
    ("wrong", "rule", "field", "words"),
    [
        (a_list(relationship=""), "list-relationship", "relationship", "Choose the relationship"),
        (a_list(relationship="contact_customer_account"), "list-relationship", "relationship",
         "Did you mean “contact_customer_accounts”?"),
        (a_list(relationship="account_primary_contact"), "list-relationship", "relationship",
         "to many records"),
        (a_list(default=[{"last": "Lovelace"}]), "input-default", "default", "have no default"),
        (a_list(max_length=101), "list-length", "max_length", "100 items at most"),
        (a_list(inputs=[], bindings=[]), "list-bindings", "name", "Nothing of “contacts” is written"),
        (a_list(bindings=[LASTNAME, {"attribute": "parentcustomerid", "source": "constant", "value": None}]),
         "list-bindings", "bindings.parentcustomerid", "do not bind it"),
        (a_list(inputs=[LAST, {"name": "more", "type": "List"}]), "list-place", "type",
         "inside of “contacts”"),
        (a_list(bindings=[{"attribute": "lastnam", "value": "last"}]), "list-item",
         "bindings.lastnam.attribute", "In “contacts”: contact has no “lastnam” to set."),
        (a_list(bindings=[LASTNAME, {"attribute": "birthdate", "value": "last"}]), "list-item",
         "inputs.last.type", "make it Date"),
        (a_list(bindings=[LASTNAME, {"attribute": "jobtitle", "value": "title"}]), "list-item",
         "bindings.jobtitle.value", "takes @title, which is not defined"),
        (a_list(inputs=[LAST, {"name": "unused"}]), "list-item-doubtful", "inputs.unused.name",
         "is not used"),
        (a_list(inputs=[{**LAST, "pattern": "("}]), "list-item", "inputs.last.pattern", "pattern"),
        (expressed("input.name"),
         "binding-expression", "bindings.jobtitle.value", "There is no input.name; there are: last."),
        (expressed("record.name"),
         "binding-expression", "bindings.jobtitle.value", "There is no “record” here"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_at_its_place(
    wrong: dict[str, Any], rule: str, field: str, words: str
) -> None:
    matches = [finding for finding in findings(wrong) if finding.rule == rule]
    assert [finding.field for finding in matches if words in finding.message] == [f"inputs.contacts.{field}"]


def test_what_the_platform_requires_of_items_must_be_set() -> None:
    opportunities = {
        "name": "deals",
        "type": "List",
        "relationship": "opportunity_customer_accounts",
        "inputs": [{"name": "worth", "type": "Money"}],
        "bindings": [{"attribute": "estimatedvalue", "value": "worth"}],
    }
    (finding,) = findings(opportunities)
    assert (finding.rule, finding.field) == ("list-item", "inputs.deals.bindings.name")
    assert "In “deals”: The platform requires" in finding.message


CLOSE = {
    "name": "close",
    "type": "Record",
    "required": True,
    "relationship": "OpportunityClose",
    "inputs": [{"name": "opportunity", "type": "EntityReference", "required": True}],
    "bindings": [{"attribute": "opportunityid", "value": "opportunity"}],
}


def found_of_win(*records: dict[str, Any], process: str = "WinOpportunity") -> list[Finding]:
    given = {
        "kind": "global-action",
        "module": "shop",
        "name": "win",
        "access": {"roles": ["buyer"]},
        "settings": {"process": process},
        "inputs": records,
        "bindings": [{"attribute": "Status", "source": "constant", "value": 3}],
    }
    endpoint = Endpoint(EndpointDefinition.model_validate(given))
    configuration = Configuration(Revision(1, ""), {1: endpoint}, modules=(ModuleDefinition(segment="shop"),))
    all_findings = check(endpoint, configuration, Metadata(get_platform()))
    return [finding for finding in all_findings if finding.rule != "role-unknown"]


def test_a_record_of_a_process_has_nothing_against_it() -> None:
    assert found_of_win(CLOSE) == []


def with_id(record: dict[str, Any]) -> dict[str, Any]:
    id = {"attribute": "activityid", "source": "expression", "value": "input.opportunity"}
    return {**record, "bindings": [*record["bindings"], id]}


@pytest.mark.parametrize(
    ("records", "rule", "field", "words"),
    [
        ([], "record-missing", "inputs", "requires the record OpportunityClose (opportunityclose)"),
        ([{**CLOSE, "type": "List"}], "record-type", "inputs.close.type", "Make it Record."),
        ([{**CLOSE, "required": False}], "record-optional", "inputs.close.required", "make the input"),
        ([CLOSE, {**CLOSE, "name": "twice"}], "record-repeated", "inputs.twice.relationship", "Remove one"),
        ([{**CLOSE, "relationship": "Close"}], "list-relationship", "inputs.close.relationship",
         "WinOpportunity makes no records of a parameter “Close”."),
        ([{**CLOSE, "inputs": [], "bindings": []}], "list-item", "inputs.close.bindings.opportunityid",
         "The platform requires Opportunity"),
        ([with_id(CLOSE)], "list-bindings", "inputs.close.bindings.activityid", "do not bind it"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_process_is_found_at_its_place(
    records: list[dict[str, Any]], rule: str, field: str, words: str
) -> None:
    matches = [finding for finding in found_of_win(*records) if finding.rule == rule]
    assert [finding.field for finding in matches if words in finding.message] == [field]


@pytest.mark.parametrize("process", ["GrantAccess", "CreateEntity", "BulkDelete"])
def test_what_no_endpoint_may_run_is_found(process: str) -> None:
    [match] = [finding for finding in found_of_win(process=process) if finding.rule == "process-forbidden"]
    assert (match.field, match.is_unacceptable) == ("settings.process", True)


def test_an_upsert_takes_no_list() -> None:
    assert "list-place" in {finding.rule for finding in findings(a_list(), kind="upsert", name="number")}


def test_an_update_takes_a_good_list() -> None:
    assert findings(a_list(), kind="update") == []


def test_expressions_of_an_update_see_the_parts_of_a_list() -> None:
    def found(text: str) -> set[str]:
        binding = {"attribute": "description", "source": "expression", "value": text}
        bindings = [{"attribute": "name", "value": "name"}, binding]
        return {one.rule for one in findings(a_list(), kind="update", bindings=bindings) if one.is_blocking}

    assert (
        found("join(input.contacts.add.map(c, c.last)) + join(input.contacts.change.map(c, c.id))") == set()
    )


def test_what_an_item_of_an_update_needs_is_what_one_of_a_create_needs() -> None:
    (finding,) = findings(
        a_list(inputs=[{"name": "first"}], bindings=[{"attribute": "firstname", "value": "first"}]),
        kind="update",
    )
    assert (finding.rule, finding.field) == ("list-item", "inputs.contacts.bindings.lastname")


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        (
            a_list(
                inputs=[LAST, {"name": "id"}], bindings=[LASTNAME, {"attribute": "firstname", "value": "id"}]
            ),
            "inputs.contacts.inputs.id.name",
            "names the record. Rename it.",
        ),
        (
            a_list(
                bindings=[
                    LASTNAME,
                    {
                        "attribute": "overriddencreatedon",
                        "source": "constant",
                        "value": "2026-01-31T00:00:00Z",
                    },
                ]
            ),
            "inputs.contacts.bindings.overriddencreatedon",
            "never changed. Remove the binding.",
        ),
    ],
)
def test_what_an_update_cannot_change_of_an_item(wrong: dict[str, Any], field: str, words: str) -> None:
    (finding,) = [one for one in findings(wrong, kind="update") if one.is_blocking]
    assert (finding.rule, finding.field) == ("list-changes", field)
    assert words in finding.message
    assert [one for one in findings(wrong) if one.is_blocking] == []
