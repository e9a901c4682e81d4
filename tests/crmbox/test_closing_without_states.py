"""Dataverse's messages on imported entities that have no state: they cannot close a record of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient.errors import Refused
from crmclient.values import NewRecord, Reference, Value
from tests.crmbox import csdl
from tests.crmbox.csdl import lookup, prop, table
from tests.crmbox.definition_files import imported

pytestmark = pytest.mark.django_db


@pytest.fixture
def platform(tmp_path: Path) -> EmbeddedPlatform:
    entities = {
        "incident": prop("title"),
        "incidentresolution": prop("subject") + lookup("incidentid", "incident"),
        "opportunity": prop("name"),
        "opportunityclose": prop("subject") + lookup("opportunityid", "opportunity"),
        "lead": prop("subject"),
        "account": prop("name"),
    }
    tables = [table(name, parts) for name, parts in entities.items()]
    text = csdl.document(tables, {f"{name}s": name for name in entities})
    imported(tmp_path, text, "--all", suffix="xml")
    return EmbeddedPlatform()


@pytest.mark.parametrize(
    ("message", "closing", "entity"),
    [
        ("CloseIncident", ("IncidentResolution", "incidentresolution", "incidentid"), "incident"),
        ("WinOpportunity", ("OpportunityClose", "opportunityclose", "opportunityid"), "opportunity"),
        ("LoseOpportunity", ("OpportunityClose", "opportunityclose", "opportunityid"), "opportunity"),
    ],
)
def test_a_record_without_a_state_is_not_closed(
    platform: EmbeddedPlatform, message: str, closing: tuple[str, str, str], entity: str
) -> None:
    parameter, activity, attribute = closing
    record = NewRecord(activity, {attribute: Reference(entity, platform.create(entity, {}).id)})

    with pytest.raises(Refused, match=f"The {entity} cannot be closed: its entity has no states"):
        platform.execute(message, {parameter: record, "Status": 1})


def test_a_lead_without_a_state_is_not_qualified(platform: EmbeddedPlatform) -> None:
    lead = Reference("lead", platform.create("lead", {}).id)
    inputs = {"CreateAccount": False, "CreateContact": False, "CreateOpportunity": False, "Status": 3}

    with pytest.raises(Refused, match="The lead cannot be closed: its entity has no states"):
        platform.execute("QualifyLead", inputs, target=lead)


@pytest.mark.parametrize(
    ("name", "inputs", "entity"),
    [
        ("new_CloseCase", {"Resolution": None}, "incident"),
        ("new_CancelCase", {}, "incident"),
        ("new_Approve", {"Comment": "Checked."}, "account"),
    ],
)
def test_the_demos_processes_refuse_a_record_without_a_state(
    platform: EmbeddedPlatform, name: str, inputs: dict[str, Value], entity: str
) -> None:
    target = Reference(entity, platform.create(entity, {}).id)

    with pytest.raises(Refused, match=f"needs records with a state, and {entity} has none"):
        platform.execute(name, inputs, target=target)
