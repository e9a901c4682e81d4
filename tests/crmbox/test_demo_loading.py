"""Loading the demo: told as it goes, all of it or nothing, and beside an organisation's own metadata."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from crmbox.demo.load import is_wanted, load
from crmbox.platform import EmbeddedPlatform
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.crmbox import csdl
from tests.crmbox.definition_files import attribute, entity, imported, label, option, options

pytestmark = pytest.mark.django_db


class _SwitchedOff(Exception):
    pass


def test_the_progress_goes_up_to_everything() -> None:
    told: list[tuple[str, int, int]] = []
    assert load(lambda *progress: told.append(progress)) == []
    assert told[0] == ("Entities", 0, 11)
    records = [done for what, done, _ in told if what == "Records"]
    assert records == sorted(records)
    assert told[-1][1] == told[-1][2] > 2_000


def test_a_load_that_is_broken_off_leaves_an_empty_store() -> None:
    def switch_off(what: str, done: int, total: int) -> None:
        if what == "Records" and done > total / 2:
            raise _SwitchedOff

    with pytest.raises(_SwitchedOff):
        load(switch_off)
    assert is_wanted()
    load(lambda *_: None)
    assert not is_wanted()


REQUIRED = {"Value": "ApplicationRequired"}
PRIORITY = options("new_priority", option(100000001, "Usual"), option(9, "Royal"), IsGlobal=True)
LEAD = entity(
    "Lead",
    attribute("subject", "String", MaxLength=200),
    attribute("industrycode", "Picklist", OptionSet=options("lead_industrycode", option(1, "Bookkeeping"))),
    attribute("estimatedamount", "Money", Precision=2, MinValue=0, MaxValue=200_000),
    attribute("companyname", "String", MaxLength=12, RequiredLevel={"Value": "Recommended"}),
    attribute("new_priority", "Picklist", OptionSet=PRIORITY),
    attribute("statecode", "State", OptionSet=options("lead_statecode", option(0, "Fresh"))),
    attribute("statuscode", "Status", OptionSet=options("lead_statuscode", option(1, "New", State=0))),
    PrimaryNameAttribute="subject",
    DisplayName=label("Prospect"),
    DisplayCollectionName=label("Prospects"),
)

for described in LEAD["Attributes"]:
    described["DisplayName"] = label(f"Our {described['LogicalName']}")


def loaded() -> list[str]:
    """Load the demo by its command. Return the lines that say what it cannot serve."""
    out = io.StringIO()
    call_command("crmdemo", stdout=out)
    return [line for line in out.getvalue().splitlines() if line.startswith("The demo cannot serve ")]


def count(entity: str, *conditions: Condition) -> int:
    return len(EmbeddedPlatform().query(Query(entity, (Column("createdon"),), Filter(conditions))).rows)


def test_an_organisation_keeps_its_metadata_when_the_demo_comes(tmp_path: Path) -> None:
    imported(tmp_path, {"value": [LEAD]}, "--all")
    platform = EmbeddedPlatform()
    before = platform.attributes("lead")

    told = loaded()

    after = platform.attributes("lead")
    assert {name: after[name] for name in before} == before
    assert platform.entities()["lead"].label.texts == {1033: "Prospect"}
    assert [each.value for each in platform.option_set("new_priority").options] == [100000001, 9]
    for name in ("industrycode", "estimatedamount", "companyname", "new_priority", "statuscode"):
        [line] = [line for line in told if f"serve lead.{name}: " in line]
        assert "records do without it" in line
    # Its other values are there, and so are the records of the demo's own entities.
    assert count("lead") > 100
    assert count("lead", Condition("industrycode", Operator.EQ, (1,))) > 0
    assert count("lead", Condition("statecode", Operator.NE, (0,))) == 0
    assert count("account") > 100


def test_records_that_an_organisation_does_not_allow_are_left_out(tmp_path: Path) -> None:
    # Nobody gives it, and the names of some of the demo's companies repeat.
    branch = attribute("new_branch", "String", MaxLength=100, RequiredLevel=REQUIRED)
    opportunity = entity("Opportunity", branch, PrimaryNameAttribute="wool_name")
    account = entity("Account", attribute("name", "String", MaxLength=100), PrimaryNameAttribute="name")
    account["Keys"] = [{"LogicalName": "new_company", "KeyAttributes": ["name"]}]
    imported(tmp_path, {"value": [opportunity, account]}, "--all")

    told = loaded()

    assert [line for line in told if "opportunity: " in line] == [
        "The demo cannot serve opportunity: 250 records are left out. new_branch: A value is required."
    ]
    assert count("opportunity") == 0
    assert count("incident") > 100


def test_the_demo_describes_what_a_metadata_document_leaves_open(tmp_path: Path) -> None:
    case = csdl.table(
        "incident", csdl.props(title="Edm.String", statecode="Edm.Int32", statuscode="Edm.Int32")
    )
    imported(tmp_path, csdl.document([case], {"incidents": "incident"}), "--all", suffix="xml")

    told = loaded()

    platform = EmbeddedPlatform()
    assert platform.entities()["incident"].label.texts[1031] == "Anfrage"
    assert platform.attributes("incident")["title"].label.texts[1031] == "Anfragetitel"
    assert [each.value for each in platform.option_set("statecode", entity="incident").options] == [0, 1, 2]
    assert count("incident", Condition("statuscode", Operator.EQ, (5,))) > 0
    assert not [line for line in told if "statuscode" in line]


def test_the_demo_comes_beside_a_global_option_set_alone(tmp_path: Path) -> None:
    goat = entity("wool_Goat", attribute("new_priority", "Picklist", OptionSet=PRIORITY))
    imported(tmp_path, {"value": [goat]}, "--all")

    assert any("new_priority: " in line for line in loaded())
    assert count("incident") > 100


def test_an_organisation_comes_after_the_demo_and_says_what_it_changes(tmp_path: Path) -> None:
    load(lambda *_: None)
    priorities = count("lead", Condition("new_priority", Operator.EQ, (100000003,)))

    plan = imported(tmp_path, {"value": [LEAD]}, "--all", "--dry-run", "--keep-lengths")
    imported(tmp_path, {"value": [LEAD]}, "--all", "--keep-lengths")

    assert "Change: lead: industrycode: the label of option 1 in language 1033 goes from “Accounting”" in plan
    assert "Change: new_priority: options that come: 9 (Royal)." in plan
    assert "Change: new_priority: options that go: 100000004 (On Request)." in plan
    assert f"lead.new_priority: option 100000003: it stays, because {priorities:,} records have it." in plan
    left = [each.value for each in EmbeddedPlatform().option_set("new_priority").options]
    assert left == [100000001, 9, 100000000, 100000002, 100000003]
    assert count("lead", Condition("new_priority", Operator.EQ, (100000003,))) == priorities
