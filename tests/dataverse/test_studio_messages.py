"""Dataverse's own messages, exposed in the studio by choosing and called, on both platforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from crmclient import Reference, Value
from designer.models import Endpoint, ExposedEntity, Module
from designer.platform import get_platform
from project.metadata_store import DatabaseStore
from tests.callers import Caller
from tests.chosen_platform import forget_platform, serving_with
from tests.dataverse.conftest import Failing
from tests.designer.studio import add_row, add_url, change_url, errors, filled, page, send, send_and_let_in

pytestmark = pytest.mark.processes


@pytest.fixture(params=["embedded", "dataverse"])
def either(portico: None, request: pytest.FixtureRequest, settings: Any) -> Iterator[None]:
    """The service's platform is the one or the other."""
    if request.param == "dataverse":
        failing: Failing = request.getfixturevalue("failing")
        store = DatabaseStore("https://contoso.example/")
        platform = failing.platform(store=store)
        platform.local_revision_sql = store.revision_sql
        with serving_with(platform, settings):
            yield
    else:
        forget_platform()
        yield


def added(dora: Client, process: str, title: str, **values: Any) -> Endpoint:
    """An endpoint with its process chosen, and nothing else yet."""
    data = filled(page(dora, add_url("endpoint"))) | {"title": title, **values}
    answer = send(dora, add_url("endpoint"), data)
    assert answer.status_code == 302, errors(answer)
    row = Endpoint.objects.get(title=title)
    saved = send(dora, change_url(row), filled(page(dora, change_url(row))) | {"settings__process": process})
    assert saved.status_code == 302, errors(saved)
    return row


def save(dora: Client, row: Endpoint, data: dict[str, Any]) -> None:
    saved = send_and_let_in(dora, change_url(row), data | {"enabled": "on", "authentication_required": ""})
    assert saved.status_code == 302, errors(saved)


def made(entity: str, **values: Value) -> str:
    return get_platform().create(entity, values).id


@pytest.mark.parametrize(
    ("process", "parameter", "entity", "lookup", "status", "state"),
    [
        ("WinOpportunity", "OpportunityClose", "opportunity", "opportunityid", 3, 1),
        ("CloseIncident", "IncidentResolution", "incident", "incidentid", 5, 1),
    ],
)
def test_a_message_that_makes_a_record_is_made_by_choosing(
    either: None,
    dora: Client,
    anonymous: Caller,
    process: str,
    parameter: str,
    entity: str,
    lookup: str,
    status: int,
    state: int,
) -> None:
    sales = Module.objects.get(segment="sales")
    row = added(dora, process, "End it", kind="global-action", module=sales.pk, name="end-it")
    data = filled(page(dora, change_url(row)))
    add_row(data, "inputs", name="status", type="Integer", required="on")
    add_row(data, "bindings", attribute="Status", source="input", value_text="@status")
    at = f"inputs-{data['inputs-TOTAL_FORMS']}"
    add_row(data, "inputs", name="record", type="Record", relationship=parameter, required="on")
    for rows in ("items", "properties"):
        data |= {f"{at}-{rows}-TOTAL_FORMS": 0, f"{at}-{rows}-INITIAL_FORMS": 0}
    add_row(data, f"{at}-items", name="about", type="EntityReference", required="on")
    add_row(data, f"{at}-items", name="subject", type="String", max_length="200")
    add_row(data, f"{at}-properties", attribute=lookup, source="input", value_text="about")
    add_row(data, f"{at}-properties", attribute="subject", source="input", value_text="subject")
    save(dora, row, data)
    customer = Reference("account", made("account", name="Wool"))
    title = {"opportunity": "name", "incident": "title"}[entity]
    values: dict[str, Value] = {title: "Wool", "customerid": customer}
    id = made(entity, **values)

    answer = anonymous.post(
        "/api/sales/actions/end-it", {"status": status, "record": {"about": id, "subject": "Done"}}
    )

    assert (answer.status_code, answer.json()) == (200, {})
    assert get_platform().retrieve(entity, id, ("statecode",)).values["statecode"] == state


def test_a_message_about_a_record_is_made_by_choosing(either: None, dora: Client, anonymous: Caller) -> None:
    leads = ExposedEntity.objects.create(
        module=Module.objects.get(segment="sales"), entity="lead", segment="open-leads"
    )
    row = added(dora, "QualifyLead", "Qualify", kind="action", entity=leads.pk, name="qualify")
    data = filled(page(dora, change_url(row)))
    for name, type_ in (("Status", "Integer"), ("CreateAccount", "Boolean"), ("CreateContact", "Boolean")):
        add_row(data, "inputs", name=name.lower(), type=type_, required="on")
        add_row(data, "bindings", attribute=name, source="input", value_text=f"@{name.lower()}")
    add_row(data, "bindings", attribute="CreateOpportunity", source="constant", value_text="false")
    add_row(data, "columns", attribute="value", name="made")
    save(dora, row, data)
    lead = made("lead", subject="Wool", lastname="Lead", companyname="Lead and Sons")

    answer = anonymous.post(
        f"/api/sales/open-leads/{lead}/actions/qualify",
        {"status": 3, "createaccount": True, "createcontact": False},
    )

    assert answer.status_code == 200, answer.json()
    assert [each["type"] for each in answer.json()["made"]] == ["account"]
