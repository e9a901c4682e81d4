"""`manage.py importmetadata` with what real organisations answer: every shape that was seen, and others."""

from __future__ import annotations

import cProfile
import io
import json
import string
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from crmbox.demo.load import load
from crmbox.engine.connection import read_unit
from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.navigation import navigations
from crmclient.errors import InvalidRecord
from crmclient.metadata import AttributeType, DateTimeBehavior
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.values import Reference, Value
from designer.overview import overview
from designer.readiness import State
from project import demo
from tests.crmbox import csdl
from tests.crmbox.csdl import GUID, entity_type, lookup, prop, props, table, to_many, to_one
from tests.crmbox.organization import EVERY_TYPE, LONG, NO_TYPE_HERE, ORGANIZATION, OWNED, SETS, TYPES

pytestmark = pytest.mark.django_db


def imported(folder: Path, content: str, *arguments: str) -> str:
    path = folder / "organisation.xml"
    path.write_text(content, encoding="utf-8")
    out = io.StringIO()
    call_command("importmetadata", str(path), *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def told(folder: Path, content: str, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(imported(folder, content, "--json", *arguments))
    return answer


def names_of(items: list[dict[str, Any]]) -> set[str]:
    return {each["name"] for each in items}


@pytest.fixture
def platform(tmp_path: Path) -> EmbeddedPlatform:
    imported(tmp_path, ORGANIZATION, "--all")
    return EmbeddedPlatform()


def test_a_whole_organisation_is_made_at_once(tmp_path: Path) -> None:
    answer = told(tmp_path, ORGANIZATION, "--all")

    assert answer["made"]
    assert names_of(answer["created"]) == {"task", "letter", "new_ring", "new_zoo"}
    assert names_of(answer["extended"]) == {"systemuser", "activitypointer"}
    assert set(answer["many_to_many"]) == {"new_ring_zoos", "new_ring_self", "new_ringtie_association"}
    again = told(tmp_path, ORGANIZATION, "--all")
    assert not any(again[part] for part in ("created", "extended", "many_to_many", "option_sets", "refused"))


def test_what_is_left_out_names_an_option_that_brings_it(tmp_path: Path) -> None:
    content = csdl.document(
        [
            table(
                "new_book",
                prop("new_name"),
                lookup("new_setlessid", "new_setless"),
                lookup("new_größeid", "new_größe"),
                lookup("new_writerid", "new_writer"),
            ),
            table("new_setless", prop("new_name")),
            table("new_größe", prop("new_name")),
            table("new_writer", prop("new_name")),
        ],
        {"new_books": "new_book", "new_größes": "new_größe", "new_writers": "new_writer"},
    )

    def options(*arguments: str) -> dict[str, set[str | None]]:
        found: dict[str, set[str | None]] = {}
        for note in told(tmp_path, content, "--dry-run", *arguments)["left_out"]:
            found.setdefault(note["name"], set()).add(note.get("option"))
        return found

    of_all = options("--all")
    assert of_all["new_setless"] == {"--entities new_setless"}
    assert of_all["new_größe"] == {None}, "no option makes a name that cannot stand in a URL"
    assert options("--entities", "new_book")["new_writer"] == {"--entities new_writer, --related or --all"}

    imported(tmp_path, content, "--all", "--entities", "new_setless")
    assert EmbeddedPlatform().attributes("new_book")["new_setlessid"].targets == ("new_setless",)


def test_a_dry_run_says_the_same_and_makes_nothing(tmp_path: Path) -> None:
    before = EmbeddedPlatform().entities()

    dry = told(tmp_path, ORGANIZATION, "--all", "--dry-run")
    text = imported(tmp_path, ORGANIZATION, "--all", "--dry-run")

    assert EmbeddedPlatform().entities() == before
    assert not dry["made"]
    assert "Make: new_zoo (new_zoos), " in text
    assert "Nothing was made. The import would make 4 entities" in text
    done = told(tmp_path, ORGANIZATION, "--all")
    assert {**done, "made": False, "seconds": 0} == {**dry, "seconds": 0}


def test_every_type_becomes_what_there_is_of_it_here(platform: EmbeddedPlatform) -> None:
    attributes = platform.attributes("new_zoo")

    assert {name: attributes[name].type.value for name in EVERY_TYPE} == {
        "new_string": "String",
        "new_byte": "Integer",
        "new_small": "Integer",
        "new_whole": "Integer",
        "new_big": "BigInt",
        "new_decimal": "Decimal",
        "new_single": "Double",
        "new_double": "Double",
        "new_yes": "Boolean",
        "new_moment": "DateTime",
        "new_day": "DateTime",
        "new_guid": "Uniqueidentifier",
    }
    assert attributes["new_day"].behavior is DateTimeBehavior.DATE_ONLY
    assert (attributes["new_short"].max_length, attributes["new_exact"].precision) == (20, 2)
    assert attributes["new_amount"].type is AttributeType.DECIMAL
    assert (attributes["new_file"].type, attributes["entityimage"].type) == (
        AttributeType.FILE,
        AttributeType.IMAGE,
    )
    assert [each.label.text() for each in platform.option_set("new_mood", entity="new_zoo").options] == [
        "Good",
        "Bad",
    ]
    assert not NO_TYPE_HERE.keys() & attributes.keys()
    assert platform.entities()["new_zoo"].description.text() == "A garden of animals"
    assert attributes["new_told"].description.text() == "What visitors tell"


def test_all_that_is_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    answer = told(tmp_path, ORGANIZATION, "--all")

    reasons = {each["name"]: each["reason"] for each in answer["left_out"]}
    assert {f"new_zoo.{name}" for name in NO_TYPE_HERE} <= reasons.keys()
    expected = {
        "EntityMetadata": "describes metadata",
        "expando": "holds no records",
        "principal": "holds no records",
        "new_byname": "An id is of type Edm.Guid",
        "new_bytwo": "several properties",
        "new_Zoo": "differs from new_zoo in case",
        "new_setless": "no entity set",
        "new_samesetting": "is that of new_zoo",
        "new_zoo: entity set new_zoosagain": "has the set new_zoos already",
        "new_zoo.new_goneid": "does not describe new_gone",
        "new_zoo.new_strayid": "No navigation property",
        "new_zoo.new-dash": "cannot be a logical name",
        "new_zoo.näme": "cannot be a logical name",
        "new_zoo.new_mixed": "differs from new_Mixed in case",
        "new_zoo.new_code": "declares the property twice",
        "new_zoo: key new_nowhere": "is not there",
        "new_zoo: key new_code, new_zooid": "holds the record's id new_zooid",
        "systemuser.ownerid": "repeats systemuserid",
    }
    assert {name: reason for name, reason in expected.items() if reason not in reasons.get(name, "")} == {}
    assert f"new_zoo.{'n' * 129}" in reasons
    assert {each["name"] for each in answer["passed_over"]} >= {"Action", "ComplexType", "Unheard"}
    options = {each["name"]: each.get("option") for each in answer["left_out"]}
    assert options["new_setless"] == "--entities new_setless"


def test_a_lookup_that_lacks_one_of_its_targets_is_not_said_to_be_left_out(tmp_path: Path) -> None:
    several = prop("_new_for_value", GUID) + "".join(
        to_one(f"new_for_{target}", target, holder="_new_for_value") for target in ("new_barn", "new_gone")
    )
    text = csdl.document(
        [table("new_barn"), table("new_herd", several)], {"new_barns": "new_barn", "new_herds": "new_herd"}
    )

    answer = told(tmp_path, text, "--all")

    reasons = {each["name"]: each["reason"] for each in answer["left_out"]}
    assert reasons["new_herd.new_for: target new_gone"] == (
        "The document does not describe new_gone. The lookup keeps its other targets."
    )
    assert "new_herd.new_for" not in reasons
    assert EmbeddedPlatform().attributes("new_herd")["new_for"].targets == ("new_barn",)


def test_names_of_every_kind_hold_values(platform: EmbeddedPlatform) -> None:
    texts = ("select", "rowid", "table", "id", "etag", "name__k", LONG, LONG[:-1] + "b", "new_mixed")
    values: dict[str, Value] = {**dict.fromkeys(texts, "Ä"), "order": 7, "xmin": 8, "new_name": "Berlin"}
    made = platform.create("new_zoo", values)

    assert platform.retrieve("new_zoo", made.id, list(values)).values == values
    [row] = platform.query(Query("new_zoo", (Column("select"), Column("new_name")))).rows
    assert row["new_name"] == "Berlin"


def test_activities_have_their_own_relationships(platform: EmbeddedPlatform) -> None:
    attributes = platform.attributes("task")
    names = {each.name for each in platform.relationships("task")}

    assert platform.entities()["task"].primary_id == "activityid"
    assert set(attributes["regardingobjectid"].targets) == {"new_ring", "new_zoo"}
    assert attributes["slaid"].targets == ("new_ring",)
    assert {"new_ring_Tasks", "new_zoo_Tasks", "manual_slas"} <= names
    inherited = {each.name for each in platform.relationships("letter")}
    assert {"letter_regardingobjectid_new_ring", "letter_slaid_new_ring"} <= inherited
    assert "new_ring_Activities" in {each.name for each in platform.relationships("activitypointer")}
    ring = platform.create("new_ring", {}).id
    task = platform.create("task", {"subject": "Call", "regardingobjectid": Reference("new_ring", ring)})
    [value] = platform.retrieve("task", task.id, ["regardingobjectid"]).values.values()
    assert value == Reference("new_ring", ring)


def test_activities_say_themselves_which_entity_they_are_of(tmp_path: Path) -> None:
    subject = '<Property Name="subject" Type="Edm.String"/>'
    assert subject in ORGANIZATION
    kind = '<Property Name="activitytypecode" Type="Edm.String"/>'
    imported(tmp_path, ORGANIZATION.replace(subject, kind + subject), "--all")
    platform = EmbeddedPlatform()

    for entity in ("task", "letter"):
        made = platform.create(entity, {"subject": "Call"})
        assert platform.retrieve(entity, made.id, ["activitytypecode"]).values == {"activitytypecode": entity}
        attribute = platform.attributes(entity)["activitytypecode"]
        assert (attribute.creatable, attribute.updatable) == (False, False)
        with pytest.raises(InvalidRecord):
            platform.create(entity, {"subject": "Call", "activitytypecode": "email"})


def test_lookups_are_spelled_as_they_are_navigated(platform: EmbeddedPlatform) -> None:
    with read_unit() as unit:
        names = set(navigations(unit.snapshot, "new_ring"))

    assert {"new_OwnId", "new_Customer_new_zoo", "new_Customer_new_ring", "new_parentid"} <= names


def test_names_that_repeat_or_cannot_be_are_replaced(tmp_path: Path, platform: EmbeddedPlatform) -> None:
    names = {(each.referencing_attribute, each.name) for each in platform.relationships("new_ring")}

    assert ("new_objectid", "Assignments") in names
    assert ("new_otherid", "new_ring_new_otherid_task") in names
    assert ("new_quotedid", "new_ring_new_quotedid_new_zoo") in names
    assert ("new_parentid", "new_ring_ring") in names


def test_users_and_teams_keep_their_ids(platform: EmbeddedPlatform) -> None:
    assert platform.entities()["systemuser"].primary_id == "systemuserid"
    assert "alias" in platform.attributes("systemuser")
    assert set(platform.attributes("new_zoo")["ownerid"].targets) == {"systemuser", "team"}


def test_pairs_are_kept_in_the_table_that_the_document_has(platform: EmbeddedPlatform) -> None:
    [pair] = [each for each in platform.relationships("new_zoo") if each.intersect]
    zoo, ring = platform.create("new_zoo", {}).id, platform.create("new_ring", {}).id

    platform.associate("new_zoo", zoo, "new_ring_zoos", ring)

    assert (pair.name, pair.intersect) == ("new_ring_zoos", "new_ringzoo")
    intersect = platform.entities()["new_ringzoo"]
    assert (intersect.entity_set, intersect.primary_id) == ("new_ringzooset", "new_ringzooid")


@pytest.mark.parametrize(
    ("relationship", "intersect", "ends"),
    [
        ("new_ring_self", "new_ring_self", ("new_ringidone", "new_ringidtwo")),
        ("new_ringtie_association", "new_ringtie", ("new_ringid", "associatednew_ringid")),
    ],
)
def test_an_entity_is_tied_to_itself_one_way(
    platform: EmbeddedPlatform, relationship: str, intersect: str, ends: tuple[str, str]
) -> None:
    names = [each.name for each in platform.relationships("new_ring") if each.intersect == intersect]
    first, second = (platform.create("new_ring", {}).id for _ in range(2))

    def pairs() -> list[tuple[Value, ...]]:
        rows = platform.query(Query(intersect, tuple(map(Column, ends)))).rows
        return [tuple(row[end] for end in ends) for row in rows]

    platform.associate("new_ring", first, relationship, second)
    assert (names, pairs()) == ([relationship], [(first, second)])
    platform.disassociate("new_ring", second, relationship, first)
    assert pairs() == [(first, second)]
    platform.delete("new_ring", second)
    assert pairs() == []


def test_notes_can_be_about_what_the_document_says(platform: EmbeddedPlatform) -> None:
    assert platform.entities()["new_zoo"].has_notes
    assert "new_zoo" in platform.attributes("annotation")["objectid"].targets
    assert not platform.entities()["new_ring"].has_notes


def test_alternate_keys_are_unique(platform: EmbeddedPlatform) -> None:
    [key] = platform.entities()["new_zoo"].keys

    assert key.attributes == ("new_code", "new_area")


def test_a_target_that_is_not_made_says_what_would_bring_it(tmp_path: Path) -> None:
    answer = told(tmp_path, ORGANIZATION, "--entities", "task", "--dry-run")
    [missing] = [each for each in answer["left_out"] if each["name"] == "new_zoo"]
    related = told(tmp_path, ORGANIZATION, "--entities", "task", "--related", "--dry-run")

    assert "task.regardingobjectid" in missing["reason"]
    assert "--related" in missing["option"]
    assert {"task", "new_ring", "new_zoo"} <= names_of(related["created"])


def test_related_goes_as_far_as_wished(tmp_path: Path) -> None:
    names = [f"new_link{number}" for number in range(4)]
    chain = [table(each, lookup("new_next", after)) for each, after in pairwise(names)]
    text = csdl.document([*chain, table(names[-1])], {f"{each}s": each for each in names})

    one = told(tmp_path, text, "--entities", names[0], "--related", "1", "--dry-run")
    two = told(tmp_path, text, "--entities", names[0], "--related", "2", "--dry-run")

    assert (names_of(one["created"]), names_of(two["created"])) == (set(names[:2]), set(names[:3]))


def test_an_entity_without_a_set_is_made_when_it_is_named(tmp_path: Path) -> None:
    answer = told(tmp_path, ORGANIZATION, "--entities", "new_setless")

    assert [each["entity_set"] for each in answer["created"]] == ["new_setlesses"]


def test_a_thousand_attributes_fit_as_far_as_the_database_goes(tmp_path: Path) -> None:
    wide = table("new_wide", *(prop(f"new_t{n}", ("Edm.String", "Edm.Int32")[n % 2]) for n in range(1_000)))
    endless = table("new_endless", prop("new_name"), *(prop(f"new_t{n}") for n in range(1_500)))
    text = csdl.document([wide, endless], {"new_wides": "new_wide", "new_endlesses": "new_endless"})

    answer = told(tmp_path, text, "--all")

    counts = {each["name"]: len(each["attributes"]) for each in answer["created"]}
    surplus = [each for each in answer["left_out"] if each["name"].startswith("new_endless.")]
    assert counts["new_wide"] == 1_000
    assert counts["new_endless"] + len(surplus) == 1_501
    assert "columns" in surplus[0]["reason"]
    platform = EmbeddedPlatform()
    made = platform.create("new_wide", {f"new_t{n}": n if n % 2 else str(n) for n in range(0, 1_000, 7)})
    assert platform.retrieve("new_wide", made.id, ["new_t7", "new_t14"]).values == {
        "new_t7": 7,
        "new_t14": "14",
    }


def test_an_entity_that_exists_gets_as_many_attributes_as_its_table_still_takes(tmp_path: Path) -> None:
    def half(letter: str) -> str:
        numbers = (prop(f"new_{letter}{n}", "Edm.Int32") for n in range(1_000))
        wide = table("new_wide", prop("new_name"), *numbers)
        return csdl.document([wide], {"new_wides": "new_wide"})

    told(tmp_path, half("a"), "--all")
    answer = told(tmp_path, half("b"), "--all")

    [extended] = answer["extended"]
    surplus = [each for each in answer["left_out"] if "columns" in each["reason"]]
    assert answer["made"]
    assert len(extended["attributes"]) + len(surplus) == 1_000
    assert surplus
    added = extended["attributes"][-1]
    made = EmbeddedPlatform().create("new_wide", {"new_a7": 7, added: 8})
    assert EmbeddedPlatform().retrieve("new_wide", made.id, ["new_a7", added]).values == {
        "new_a7": 7,
        added: 8,
    }


def definition(length: int) -> str:
    text = {"LocalizedLabels": [{"Label": "Name", "LanguageCode": 1033}]}
    attribute = {
        "LogicalName": "new_name",
        "AttributeType": "String",
        "AttributeTypeName": {"Value": "StringType"},
        "MaxLength": length,
        "DisplayName": text,
    }
    entity = {
        "LogicalName": "new_hut",
        "EntitySetName": "new_huts",
        "PrimaryIdAttribute": "new_hutid",
        "PrimaryNameAttribute": "new_name",
        "Attributes": [attribute],
    }
    return json.dumps({"value": [entity]})


def test_a_length_that_data_exceeds_is_not_shortened(tmp_path: Path) -> None:
    imported(tmp_path, definition(50), "--all")
    platform = EmbeddedPlatform()
    hut = platform.create("new_hut", {"new_name": "x" * 30}).id

    with pytest.raises(CommandError, match="1 records have longer texts; the longest has 30"):
        imported(tmp_path, definition(20), "--all")
    assert platform.attributes("new_hut")["new_name"].max_length == 50

    kept = told(tmp_path, definition(20), "--all", "--keep-lengths")
    assert names_of(kept["left_out"]) == {"new_hut.new_name"}

    platform.update("new_hut", hut, {"new_name": "short"})
    shorter = told(tmp_path, definition(20), "--all")
    assert names_of(shorter["shortened"]) == {"new_hut.new_name"}
    assert platform.attributes("new_hut")["new_name"].max_length == 20


def test_what_is_refused_is_told_by_a_dry_run_too(tmp_path: Path) -> None:
    imported(tmp_path, definition(50), "--all")
    EmbeddedPlatform().create("new_hut", {"new_name": "x" * 30})

    with pytest.raises(CommandError, match="--keep-lengths"):
        imported(tmp_path, definition(20), "--all", "--dry-run")


def test_an_import_that_is_broken_off_has_changed_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = EmbeddedPlatform().entities()
    text = csdl.large(90, 8)

    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            if "tables made 80" in text:
                raise KeyboardInterrupt
            return super().write(text)

    path = tmp_path / "organisation.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        call_command("importmetadata", str(path), "--all", stdout=Broken())

    assert EmbeddedPlatform().entities() == before
    assert "Made 90 entities" in imported(tmp_path, text, "--all")
    assert EmbeddedPlatform().create("new_thing7", {"new_name": "x"})


def test_many_entities_take_no_more_than_few_do_each(tmp_path: Path) -> None:
    few, statements_of_few, steps_of_few = _imported_at_cost(tmp_path, csdl.large(25, 40), "created")
    more, statements_of_more, steps_of_more = _imported_at_cost(tmp_path, csdl.large(100, 40), "created")

    assert (few, more) == (25 * 41, 75 * 41)
    # A few for each table, whatever its columns are.
    assert statements_of_few < few / 2
    # Three times as many tables are new; those that are there already are read, and their lookups changed.
    assert statements_of_more < 4 * statements_of_few
    # What looked at all tables for each of them would take fifteen times as many.
    assert steps_of_more < 6 * steps_of_few


def _imported_at_cost(folder: Path, document: str, key: str) -> tuple[int, int, int]:
    """Import a document, and return how many attributes the report has below `key`, by how many statements
    they were made, and by how many calls of functions.
    """
    with CaptureQueriesContext(connection) as statements, cProfile.Profile() as profile:
        answer = told(folder, document, "--all")
    made = sum(len(each["attributes"]) for each in answer[key])
    return made, len(statements), sum(each.callcount for each in profile.getstats())


def test_attributes_of_many_entities_that_exist_take_few_statements(tmp_path: Path) -> None:
    told(tmp_path, csdl.large(150, 3), "--all")
    made, statements, _ = _imported_at_cost(tmp_path, csdl.large(150, 60), "extended")

    assert made > 8_000
    # One column after the other took SQLite a minute: it read the schema of all tables for each.
    assert statements < 12 * 150
    assert EmbeddedPlatform().create("new_thing149", {"new_field9": 7})


def test_a_document_that_a_shell_saved_in_two_bytes_a_letter_is_read(tmp_path: Path) -> None:
    path = tmp_path / "organisation.xml"
    path.write_text(csdl.large(2, 4), encoding="utf-16")
    out = io.StringIO()

    call_command("importmetadata", str(path), stdout=out)

    assert "describe 2 entities" in out.getvalue()


def test_it_can_come_after_the_demo(tmp_path: Path) -> None:
    load(lambda *_: None)
    texts = props(name="Edm.String", new_zone="Edm.String", revenue="Edm.String")
    account = table("account", texts, lookup("new_zooid", "new_zoo"))
    text = csdl.document([*TYPES, account], [*SETS, ("accounts", "account")])

    answer = told(tmp_path, text, "--all")

    [added] = [each for each in answer["extended"] if each["name"] == "account"]
    assert set(added["attributes"]) == {"new_zone", "new_zooid"}
    [conflict] = [each for each in answer["left_out"] if each["name"] == "account.revenue"]
    assert "It is Money here already, and String in the source" in conflict["reason"]


def test_the_demo_can_come_after_it(tmp_path: Path) -> None:
    texts = props(
        name="Edm.String", accountnumber="Edm.String", industrycode="Edm.Int32", new_zone="Edm.String"
    )
    account = table("account", texts, lookup("primarycontactid", "contact"), OWNED)
    contact = table(
        "contact", props(fullname="Edm.String", lastname="Edm.String", birthdate="Edm.Date"), OWNED
    )
    customer = props(_customerid_value=GUID) + "".join(
        to_one(f"customerid_{each}", each, None, "_customerid_value") for each in ("account", "contact")
    )
    incident = table("incident", props(title="Edm.String", description="Edm.String"), customer, OWNED)
    sets = [*SETS, ("accounts", "account"), ("contacts", "contact"), ("incidents", "incident")]
    imported(tmp_path, csdl.document([*TYPES, account, contact, incident], sets), "--all")

    out = io.StringIO()
    call_command("crmdemo", stdout=out)

    platform = EmbeddedPlatform()
    assert "The demo cannot serve account.industrycode: It is Integer here." in out.getvalue()
    assert "new_zone" in platform.attributes("account")
    assert {"name", "primarycontactid"} <= platform.attributes("account").keys()
    [row] = platform.query(
        Query("account", (Column("name"),), Filter((Condition("accountnumber", Operator.EQ, ("A-00001",)),)))
    ).rows
    assert row["name"]
    cases = platform.query(Query("incident", (Column("customerid"), Column("description")))).rows
    assert all(case["customerid"] for case in cases)
    assert any(case["description"] for case in cases)


def test_a_service_starts_with_the_demo_after_it(tmp_path: Path) -> None:
    account = table("account", props(name="Edm.String", industrycode="Edm.Int32"), OWNED)
    imported(tmp_path, csdl.document([*TYPES, account], [*SETS, ("accounts", "account")]), "--all")

    out = io.StringIO()
    demo.load({}, out)

    assert "“industrycode” holds Integer" in out.getvalue()
    states = {overview().configuration.endpoints[id].definition.key: s for id, s in overview().states.items()}
    assert states["sales.accounts.create"] is State.BLOCKED
    assert states["sales.leads.create"] is State.READY


LETTERS = string.ascii_lowercase + "_"
WORDS = st.text(LETTERS + "0123456789AÄ-", min_size=1, max_size=12) | st.sampled_from(
    [
        "select",
        "order",
        "statecode",
        "ownerid",
        "createdon",
        "versionnumber",
        "name",
        "rowid",
        "objectid",
        "account",
    ]
)
KINDS = st.sampled_from(
    [*EVERY_TYPE.values(), *NO_TYPE_HERE.values(), "mscrm.Mood", "mscrm.Amount", "mscrm.Nothing", ""]
)


@st.composite
def organizations(draw: st.DrawFn) -> str:
    """Documents that a service may answer, sensible or not."""
    names = draw(st.lists(WORDS, min_size=1, max_size=5))
    anywhere = st.sampled_from([*names, "systemuser", "principal", "nowhere", "EntityMetadata"])
    partners = st.none() | WORDS | st.sampled_from(["Partner", "new_ring_zoos"])
    parts = st.one_of(
        st.builds(prop, WORDS, KINDS),
        st.builds(lookup, WORDS, anywhere, partners),
        st.builds(to_one, WORDS, anywhere, partners),
        st.builds(
            to_many, st.sampled_from(["Partner", "pairs"]), anywhere, st.sampled_from(["Partner", "pairs"])
        ),
        st.builds(csdl.alternate_key, WORDS, WORDS),
        st.just('<Annotation Term="Un.Known" String="x"/>'),
    )
    bases = st.sampled_from(["crmbaseentity", "principal", "activitypointer", *names])
    types = [
        draw(
            st.builds(
                lambda content, base, abstract, name=name: (table if draw(st.booleans()) else entity_type)(
                    name, *content, base=base, abstract=abstract
                ),
                st.lists(parts, max_size=6),
                bases,
                st.booleans(),
            )
        )
        for name in names
    ]
    sets = [(draw(WORDS), name) for name in names if draw(st.integers(0, 4))]
    return csdl.document([*TYPES[:13], *types], [*SETS[:3], *sets])


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    # A smaller example is not worth the minutes in which it would be looked for.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(organizations())
def test_no_document_ends_in_the_middle(tmp_path: Path, text: str) -> None:
    with transaction.atomic():
        dry = told(tmp_path, text, "--all", "--dry-run")
        first = told(tmp_path, text, "--all")
        second = told(tmp_path, text, "--all")
        platform = EmbeddedPlatform()
        for each in first["created"]:
            platform.create(each["name"], {})
        transaction.set_rollback(True)

    assert first["created"] == dry["created"]
    assert first["made"]
    assert second["created"] == second["extended"] == second["many_to_many"] == []
