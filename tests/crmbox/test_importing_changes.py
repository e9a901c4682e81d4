"""`manage.py importmetadata` over what exists: all that changes is told, and no record loses its options."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from crmbox.platform import EmbeddedPlatform
from tests.crmbox.definition_files import attribute, entity, imported, label, option, options

pytestmark = pytest.mark.django_db

GERMAN = {
    "LocalizedLabels": [{"Label": "Low", "LanguageCode": 1033}, {"Label": "Niedrig", "LanguageCode": 1031}]
}
BREEDS = options("wool_breeds", option(1, "Merino"), option(2, "Suffolk"), option(3, "Jacob"), IsGlobal=True)
RISK = options("wool_goat_risk", {"Value": 1, "Label": GERMAN}, option(2, "High"), option(3, "Unheard of"))
COLOURS = options("wool_goat_colours", option(7, "Black"), option(8, "White"), option(9, "Red"))
STATES = options("wool_goat_statecode", option(0, "Grazing"), option(1, "Gone"))
STATUSES = options(
    "wool_goat_statuscode",
    option(1, "Out", State=0),
    option(2, "In", State=0),
    option(3, "Sold", State=1),
    option(4, "Lost", State=1),
)


def several(name: str, **more: Any) -> dict[str, Any]:
    return attribute(name, "Virtual", AttributeTypeName={"Value": "MultiSelectPicklistType"}, **more)


GOAT = entity(
    "wool_Goat",
    attribute("wool_Breed", "Picklist", OptionSet=BREEDS, DefaultFormValue=3),
    attribute("wool_Risk", "Picklist", OptionSet=RISK, DefaultFormValue=3),
    several("wool_Colours", OptionSet=COLOURS),
    attribute("statecode", "State", OptionSet=STATES, RequiredLevel={"Value": "SystemRequired"}),
    attribute("statuscode", "Status", OptionSet=STATUSES),
    attribute("wool_Weight", "Decimal", Precision=2, MinValue=0, MaxValue=300),
)


def without(name: str, *values: int) -> dict[str, Any]:
    """The goat, whose attribute has no options of these values any more."""
    goat = copy.deepcopy(GOAT)
    option_set = raw(goat, name)["OptionSet"]
    option_set["Options"] = [each for each in option_set["Options"] if each["Value"] not in values]
    return goat


def raw(goat: dict[str, Any], name: str) -> dict[str, Any]:
    described: dict[str, Any] = next(each for each in goat["Attributes"] if each["LogicalName"] == name)
    return described


def planned(folder: Path, goat: dict[str, Any], *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(imported(folder, {"value": [goat]}, "--all", "--json", *arguments))
    return answer


def changes(folder: Path, goat: dict[str, Any]) -> set[str]:
    """What the plan says to change, with its reasons."""
    return {f"{each['name']}: {each['reason']}" for each in planned(folder, goat, "--dry-run")["changed"]}


def values_of(name: str) -> list[int]:
    option_set = EmbeddedPlatform().option_set(name, entity="wool_goat")
    return [each.value for each in option_set.options]


@pytest.fixture(autouse=True)
def goats(tmp_path: Path) -> EmbeddedPlatform:
    imported(tmp_path, {"value": [GOAT]}, "--all")
    return EmbeddedPlatform()


def test_options_that_go_and_come_are_told_with_their_labels(tmp_path: Path) -> None:
    goat = without("wool_risk", 2)
    raw(goat, "wool_risk")["OptionSet"]["Options"][0]["Label"] = label("Small")
    raw(goat, "wool_risk")["OptionSet"]["Options"].append(option(5, "Extreme"))

    assert changes(tmp_path, goat) == {
        "wool_goat: wool_risk: options that go: 2 (High)",
        "wool_goat: wool_risk: options that come: 5 (Extreme)",
        "wool_goat: wool_risk: the label of option 1 in language 1033 goes from “Low” to “Small”",
    }
    planned(tmp_path, goat)
    assert values_of("wool_risk") == [1, 3, 5]
    [low, *_] = EmbeddedPlatform().option_set("wool_risk", entity="wool_goat").options
    assert low.label.texts == {1033: "Small", 1031: "Niedrig"}


def test_options_of_a_global_set_that_go_and_come_are_told(tmp_path: Path) -> None:
    goat = without("wool_breed", 1, 3)
    raw(goat, "wool_breed")["OptionSet"]["Options"].append(option(4, "Angora"))

    assert changes(tmp_path, goat) == {
        "wool_breeds: options that go: 1 (Merino), 3 (Jacob)",
        "wool_breeds: options that come: 4 (Angora)",
        "wool_goat: wool_breed: its default goes from 3 to none",
    }
    assert planned(tmp_path, goat)["option_sets"] == ["wool_breeds"]
    assert values_of("wool_breed") == [2, 4]


def test_a_default_that_goes_is_none(goats: EmbeddedPlatform, tmp_path: Path) -> None:
    assert "wool_goat: wool_risk: its default goes from 3 to none" in changes(
        tmp_path, without("wool_risk", 3)
    )
    planned(tmp_path, without("wool_risk", 3))

    made = goats.create("wool_goat", {"wool_name": "Heidi"})
    assert goats.retrieve("wool_goat", made.id, ["wool_risk"]).values == {"wool_risk": None}


def test_a_default_that_the_source_changes_is_told_and_changed(
    goats: EmbeddedPlatform, tmp_path: Path
) -> None:
    goat = copy.deepcopy(GOAT)
    raw(goat, "wool_risk")["DefaultFormValue"] = 2

    assert changes(tmp_path, goat) == {"wool_goat: wool_risk: its default goes from 3 to 2"}
    planned(tmp_path, goat)
    made = goats.create("wool_goat", {"wool_name": "Heidi"})
    assert goats.retrieve("wool_goat", made.id, ["wool_risk"]).values == {"wool_risk": 2}


@pytest.mark.parametrize(
    ("name", "value", "gone", "left"),
    [
        ("wool_risk", 2, (2, 3), [1, 2]),
        ("wool_breed", 2, (2, 3), [1, 2]),
        ("wool_colours", (8, 9), (7, 8, 9), [8, 9]),
        ("statuscode", 2, (2, 4), [1, 3, 2]),
    ],
)
def test_options_that_records_have_stay_and_are_told(
    name: str, value: Any, gone: tuple[int, ...], left: list[int], goats: EmbeddedPlatform, tmp_path: Path
) -> None:
    for goat in ("Heidi", "Peter"):
        goats.create("wool_goat", {"wool_name": goat, name: value})
    source = without(name, *gone)

    if name == "wool_colours":
        raw(source, name)["OptionSet"]["Options"] = [option(8, "Snow"), option(6, "Grey")]
        left = [8, 6, 9]
    told = changes(tmp_path, source)
    answer = planned(tmp_path, source)

    kept = 9 if name == "wool_colours" else 2
    reason = "It stays, because 2 records have it. The source does not have it."
    assert f"wool_goat.{name}: option {kept}: {reason}" in told
    assert answer["made"]
    assert values_of(name) == left
    goats.create("wool_goat", {"wool_name": "Zora", name: value})


def test_an_option_goes_when_no_record_has_it_any_more(goats: EmbeddedPlatform, tmp_path: Path) -> None:
    made = goats.create("wool_goat", {"wool_name": "Heidi", "wool_risk": 2})
    planned(tmp_path, without("wool_risk", 2))
    goats.update("wool_goat", made.id, {"wool_risk": 1})

    planned(tmp_path, without("wool_risk", 2))

    assert values_of("wool_risk") == [1, 3]


def test_a_state_that_records_are_in_stays_with_its_status(goats: EmbeddedPlatform, tmp_path: Path) -> None:
    made = goats.create("wool_goat", {"wool_name": "Heidi", "statuscode": 3})
    source = without("statecode", 1)
    statuses = raw(source, "statuscode")["OptionSet"]
    # What was sold is still out, in the organisation.
    statuses["Options"] = [option(3, "Sold", State=0), option(1, "Out", State=0)]

    planned(tmp_path, source)

    assert (values_of("statecode"), values_of("statuscode")) == ([0, 1], [1, 3])
    names = ["statecode", "statuscode"]
    assert goats.retrieve("wool_goat", made.id, names).values == {"statecode": 1, "statuscode": 3}
    goats.update("wool_goat", made.id, {"statecode": 0})
    assert goats.retrieve("wool_goat", made.id, names).values == {"statecode": 0, "statuscode": 1}
    goats.update("wool_goat", made.id, {"statecode": 1})
    assert goats.retrieve("wool_goat", made.id, names).values == {"statecode": 1, "statuscode": 3}


def test_a_choice_that_gets_a_global_option_set_has_its_options(
    goats: EmbeddedPlatform, tmp_path: Path
) -> None:
    made = goats.create("wool_goat", {"wool_name": "Heidi", "wool_risk": 3, "wool_breed": 1})
    source = copy.deepcopy(GOAT)
    two = {**BREEDS, "Options": BREEDS["Options"][:2]}
    for name in ("wool_breed", "wool_risk"):
        raw(source, name).update(OptionSet=two, DefaultFormValue=1)

    reason = "It keeps its options here. In the source, it has those of wool_breeds."
    assert f"wool_goat.wool_risk: {reason}" in changes(tmp_path, source)

    goats.update("wool_goat", made.id, {"wool_risk": 1})
    assert "wool_goat: wool_risk: it has the options of wool_breeds" in changes(tmp_path, source)
    planned(tmp_path, source)
    assert EmbeddedPlatform().attributes("wool_goat")["wool_risk"].option_set == "wool_breeds"


def test_limits_labels_and_levels_are_told_as_they_were_and_will_be(tmp_path: Path) -> None:
    source = copy.deepcopy(GOAT)
    raw(source, "wool_weight").update(
        MinValue=1,
        MaxValue=250,
        Precision=3,
        DisplayName=label("Heft"),
        RequiredLevel={"Value": "ApplicationRequired"},
    )
    source["DisplayName"] = label("Billy")

    assert changes(tmp_path, source) == {
        "wool_goat: its label in language 1033 goes from “Goat” to “Billy”",
        "wool_goat: wool_weight: its minimum goes from 0 to 1",
        "wool_goat: wool_weight: its maximum goes from 300 to 250",
        "wool_goat: wool_weight: its decimal places go from 2 to 3",
        "wool_goat: wool_weight: its label in language 1033 goes from “Weight” to “Heft”",
        "wool_goat: wool_weight: its required level goes from None to ApplicationRequired",
    }


def test_decimal_places_that_values_may_have_stay(tmp_path: Path) -> None:
    source = copy.deepcopy(GOAT)
    raw(source, "wool_weight")["Precision"] = 1

    assert changes(tmp_path, source) == {
        "wool_goat.wool_weight: It keeps its 2 decimal places; the source has 1."
    }


def test_a_key_of_values_that_records_repeat_is_refused_by_a_dry_run_too(
    goats: EmbeddedPlatform, tmp_path: Path
) -> None:
    for name in ("Heidi", "heidi", "Peter"):
        goats.create("wool_goat", {"wool_name": name})
    source = {**GOAT, "Keys": [{"LogicalName": "wool_call", "KeyAttributes": ["wool_name"]}]}

    for arguments in ((), ("--dry-run",)):
        with pytest.raises(CommandError, match="wool_goat: key wool_name cannot be made"):
            imported(tmp_path, {"value": [source]}, "--all", *arguments)
    assert EmbeddedPlatform().entities()["wool_goat"].keys == ()


def test_states_of_an_entity_that_is_here_without_them_are_left_out(tmp_path: Path) -> None:
    bare = entity("wool_Pen", EntitySetName="wool_pens")
    imported(tmp_path, {"value": [bare]}, "--all")
    bare["Attributes"] = [
        *bare["Attributes"],
        attribute("statecode", "State", OptionSet=STATES),
        attribute("statuscode", "Status", OptionSet=STATUSES),
    ]

    left_out = planned(tmp_path, bare)["left_out"]

    assert {each["name"] for each in left_out} == {"wool_pen.statecode"}
