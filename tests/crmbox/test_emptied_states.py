"""Records whose state was emptied: releases up to 0.2 allowed that for imported entities."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from crmbox.models import Definition
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import InvalidRecord
from crmclient.metadata import RequiredLevel
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.crmbox.definition_files import attribute, entity, imported, option, options

pytestmark = pytest.mark.django_db

STATES = options("wool_ewe_statecode", option(0, "Grazing"), option(1, "Gone"))
STATUSES = options(
    "wool_ewe_statuscode", option(1, "Out", State=0), option(2, "In", State=0), option(3, "Sold", State=1)
)
EWE = entity(
    "wool_Ewe",
    attribute("statecode", "State", OptionSet=STATES, RequiredLevel={"Value": "SystemRequired"}),
    attribute("statuscode", "Status", OptionSet=STATUSES),
)


@pytest.fixture
def ewes(tmp_path: Path) -> dict[str, str]:
    """The ids of an entity's records by their status, as an earlier release left them: without a state."""
    imported(tmp_path, {"value": [EWE]}, "--all")
    platform = EmbeddedPlatform()
    ids = {
        name: platform.create("wool_ewe", {"wool_name": name, "statuscode": status}).id
        for name, status in (("In", 2), ("Sold", 3))
    }
    definition = Definition.objects.get(kind="entity", name="wool_ewe")
    assert '"required":"SystemRequired"' in definition.document
    with connection.cursor() as cursor:
        cursor.execute("UPDATE e_wool_ewe SET statecode = NULL")
        # The owner and the id are required by the system, too; whether they are is not what this is about.
        cursor.execute(
            "UPDATE crm_definition SET document = %s, token = 'older' WHERE kind = 'entity' AND name = %s",
            [definition.document.replace(',"required":"SystemRequired"', ""), "wool_ewe"],
        )
        cursor.execute("UPDATE crm_revision SET metadata_token = 'older'")
    assert platform.attributes("wool_ewe")["statecode"].required is RequiredLevel.NONE
    return ids


def test_an_upgrade_gives_records_the_state_of_their_status(ewes: dict[str, str]) -> None:
    platform = EmbeddedPlatform()
    version = platform.retrieve("wool_ewe", ewes["Sold"], ["statecode"]).version

    migration = importlib.import_module("crmbox.migrations.0003_states_are_filled")
    migration.fill_states(apps, connection.schema_editor())

    states = {
        name: platform.retrieve("wool_ewe", id, ["statecode", "statuscode"]).values
        for name, id in ewes.items()
    }
    assert states == {"In": {"statecode": 0, "statuscode": 2}, "Sold": {"statecode": 1, "statuscode": 3}}
    assert platform.retrieve("wool_ewe", ewes["Sold"], ["statecode"]).version != version
    gone = Filter((Condition("statecode", Operator.EQ, (1,)),))
    assert len(platform.query(Query("wool_ewe", (Column("wool_name"),), gone)).rows) == 1
    assert platform.attributes("wool_ewe")["statecode"].required is RequiredLevel.SYSTEM


def test_no_definition_lets_a_state_be_emptied(ewes: dict[str, str]) -> None:
    platform = EmbeddedPlatform()

    with pytest.raises(InvalidRecord, match="statecode: It cannot be empty"):
        platform.update("wool_ewe", ewes["In"], {"statecode": None})
