"""Changing the metadata while the CRM is running."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, connections, transaction

from crmbox.engine.revision import LOCAL_REVISION_SQL
from crmbox.metadata import Extras, change
from crmbox.platform import EmbeddedPlatform
from crmclient import Reference
from crmclient.errors import (
    DuplicateKey,
    InvalidDefinition,
    InvalidRecord,
    StateConflict,
    UnknownEntity,
    UnknownOptionSet,
)
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Cascade,
    DateTimeBehavior,
    Label,
    Option,
    Relationship,
)
from tests.crmbox.conftest import APART
from tests.crmbox.shop import (
    COLOURS,
    NAME,
    PRODUCT,
    SIZES,
    add_category,
    add_product,
    attribute,
    entity,
    options,
    read,
)

pytestmark = pytest.mark.django_db

REMARK = attribute("remark", AttributeType.STRING, max_length=30)


@pytest.fixture
def platform(joined: EmbeddedPlatform) -> EmbeddedPlatform:
    return joined


def product_attribute(name: str) -> Attribute:
    return next(item for item in PRODUCT if item.logical_name == name)


def test_a_new_attribute_is_empty_and_can_be_written_at_once(platform: EmbeddedPlatform) -> None:
    id = add_product(platform)

    with change() as metadata:
        metadata.create_attributes("shop_product", [REMARK])

    assert read(platform, id, "remark") is None
    platform.update("shop_product", id, {"remark": "Bright"})
    assert read(platform, id, "remark") == "Bright"


def test_every_change_gives_another_revision_and_only_changes_do(platform: EmbeddedPlatform) -> None:
    revisions = [platform.metadata_revision()]
    with change() as metadata:
        metadata.create_attributes("shop_product", [REMARK])
    revisions.append(platform.metadata_revision())
    with change() as metadata:
        metadata.alter_option_set(replace(SIZES, label=Label({1033: "Sizes"})))
    revisions.append(platform.metadata_revision())
    with change() as metadata:
        assert metadata
    add_product(platform)

    assert platform.metadata_revision() == revisions[-1]
    assert len(set(revisions)) == 3


def test_the_revision_can_be_read_within_another_query(platform: EmbeddedPlatform) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(f"SELECT 1, {LOCAL_REVISION_SQL}")
        assert cursor.fetchone() == (1, platform.metadata_revision())


def test_a_change_that_is_rolled_back_is_forgotten(platform: EmbeddedPlatform) -> None:
    before = platform.metadata_revision()

    with transaction.atomic():
        with change() as metadata:
            metadata.create_attributes("shop_product", [REMARK])
        assert "remark" in platform.attributes("shop_product")
        transaction.set_rollback(True)

    assert platform.metadata_revision() == before
    assert "remark" not in platform.attributes("shop_product")
    with pytest.raises(InvalidRecord):
        add_product(platform, remark="Bright")
    with change() as metadata:
        metadata.create_attributes(
            "shop_product", [replace(REMARK, type=AttributeType.INTEGER, max_length=None)]
        )
    assert read(platform, add_product(platform, remark=5), "remark") == 5


def test_many_new_attributes_are_known_to_every_connection(apart: EmbeddedPlatform) -> None:
    """SQLite gets many columns at once by another way than a few."""
    many = [attribute(f"many{number}", AttributeType.STRING, max_length=30) for number in range(40)]
    old = add_product(apart)
    answers: queue.Queue[object] = queue.Queue()
    ready, made = threading.Event(), threading.Event()

    def read_there() -> None:
        answers.put(read(apart, old, "name"))
        ready.set()
        made.wait(10)
        answers.put(read(apart, old, "many39"))
        apart.update("shop_product", old, {"many7": "there"})
        connections[APART].close()

    other = threading.Thread(target=read_there)
    other.start()
    assert ready.wait(10)
    with suppress(ZeroDivisionError), transaction.atomic(using=APART):
        with change(APART) as metadata:
            metadata.create_attributes("shop_product", many)
        apart.update("shop_product", old, {"many3": "undone"})
        assert 1 / 0
    assert "many3" not in apart.attributes("shop_product")
    with change(APART) as metadata:
        metadata.create_attributes("shop_product", many)
    made.set()
    other.join(10)

    assert [answers.get(timeout=5) for _ in range(2)] == ["Lamp", None]
    assert read(apart, old, "many3") is None
    assert read(apart, old, "many7") == "there"
    new = add_product(apart, many39="last")
    assert (read(apart, new, "many39"), read(apart, new, "name")) == ("last", "Lamp")
    for id in (old, new):
        apart.delete("shop_product", id)
    with change(APART) as metadata:
        for each in many:
            metadata.delete_attribute("shop_product", each.logical_name)


def test_many_new_attributes_come_where_the_stored_schema_is_closed(platform: EmbeddedPlatform) -> None:
    """Some builds of SQLite forbid changes of the stored schema."""
    many = [attribute(f"many{number}", AttributeType.INTEGER) for number in range(20)]

    def closed(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        forbidden = sql.startswith("PRAGMA writable_schema =")
        return execute("SELECT 1" if forbidden else sql, params, many, context)

    with connection.execute_wrapper(closed), change() as metadata:
        metadata.create_attributes("shop_product", many)

    assert read(platform, add_product(platform, many19=19), "many19") == 19


def test_an_error_in_the_block_changes_nothing(platform: EmbeddedPlatform) -> None:
    before = platform.metadata_revision()

    with suppress(ZeroDivisionError), change() as metadata:
        metadata.create_attributes("shop_product", [REMARK])
        assert 1 / 0

    assert platform.metadata_revision() == before


def test_labels_are_kept_in_every_language(platform: EmbeddedPlatform) -> None:
    label = Label({1033: "Remark", 1031: "Bemerkung", 1025: "ملاحظة", 2052: "备注"})

    with change() as metadata:
        metadata.create_attributes("shop_product", [replace(REMARK, label=label)])

    assert platform.attributes("shop_product")["remark"].label == label
    assert {1033, 1031, 1025, 2052} <= set(platform.languages())
    assert platform.languages()[0] == 1033


def test_limits_can_be_changed(platform: EmbeddedPlatform) -> None:
    with change() as metadata:
        metadata.alter_attribute(
            "shop_product", replace(product_attribute("quantity"), maximum=Decimal(5000))
        )

    assert read(platform, add_product(platform, quantity=5000), "quantity") == 5000


def test_a_new_option_can_be_chosen_at_once(platform: EmbeddedPlatform) -> None:
    blue, huge = Option(30, Label({1033: "Blue"})), Option(4, Label({1033: "Huge"}))

    with change() as metadata:
        metadata.alter_attribute(
            "shop_product",
            replace(product_attribute("colour"), options=replace(COLOURS, options=(*COLOURS.options, blue))),
        )
        metadata.alter_option_set(replace(SIZES, options=(*SIZES.options, huge)))

    id = add_product(platform, colour=30, size=4)
    assert read(platform, id, "colour") == 30
    assert platform.option_set("shop_size").options[-1] == huge
    assert platform.option_set("size", entity="shop_product") == platform.option_sets()["shop_size"]


def test_a_lookup_gets_a_second_target_and_keeps_its_values(platform: EmbeddedPlatform) -> None:
    category = add_category(platform)
    id = add_product(platform, categoryid=category)

    with change() as metadata:
        metadata.alter_attribute(
            "shop_product", replace(product_attribute("categoryid"), targets=("shop_category", "shop_person"))
        )

    assert read(platform, id, "categoryid") == Reference("shop_category", category.id, "Lights")
    person = Reference("shop_person", platform.create("shop_person", {"lastname": "King"}).id)
    platform.update("shop_product", id, {"categoryid": person})
    assert read(platform, id, "categoryid") == Reference("shop_person", person.id, "King")


def test_a_new_key_is_enforced_and_a_deleted_one_is_not(platform: EmbeddedPlatform) -> None:
    with change() as metadata:
        metadata.create_key("shop_product", AlternateKey("shop_serial", ("serial", "size")))
    add_product(platform, serial=1, size=1)
    add_product(platform, serial=1, size=2)
    with pytest.raises(DuplicateKey) as raised:
        add_product(platform, serial=1, size=2)
    assert raised.value.key == "shop_serial"

    with change() as metadata:
        metadata.delete_key("shop_product", "shop_serial")
    add_product(platform, serial=1, size=2)


def test_a_key_that_records_contradict_is_refused(platform: EmbeddedPlatform) -> None:
    add_product(platform, serial=1)
    add_product(platform, serial=1)

    with pytest.raises(InvalidDefinition), transaction.atomic(), change() as metadata:
        metadata.create_key("shop_product", AlternateKey("shop_serial", ("serial",)))

    assert [key.name for key in platform.entities()["shop_product"].keys] == ["shop_code"]


def test_what_a_delete_does_can_be_changed(platform: EmbeddedPlatform) -> None:
    category = add_category(platform)
    add_product(platform, categoryid=category)

    with change() as metadata:
        metadata.alter_relationship(
            Relationship(
                "shop_category_products",
                "shop_category",
                "shop_product",
                "categoryid",
                on_delete=Cascade.RESTRICT,
            )
        )

    with pytest.raises(StateConflict):
        platform.delete("shop_category", category.id)


def test_an_attribute_that_comes_back_brings_no_old_values(platform: EmbeddedPlatform) -> None:
    id = add_product(platform, notes="secret")

    with change() as metadata:
        metadata.delete_attribute("shop_product", "notes")
    assert "notes" not in platform.attributes("shop_product")
    with change() as metadata:
        metadata.create_attributes("shop_product", [product_attribute("notes")])

    assert read(platform, id, "notes") is None


def test_columns_of_deleted_attributes_are_used_again(platform: EmbeddedPlatform) -> None:
    def columns() -> int:
        with connections["default"].cursor() as cursor:
            table = "e_shop_product"
            return len(connections["default"].introspection.get_table_description(cursor, table))

    with change() as metadata:
        metadata.create_attributes("shop_product", [REMARK])
    before = columns()
    for turn in range(3):
        with change() as metadata:
            metadata.delete_attribute("shop_product", "remark" if turn == 0 else f"remark{turn - 1}")
        with change() as metadata:
            metadata.create_attributes("shop_product", [replace(REMARK, logical_name=f"remark{turn}")])

    assert columns() == before


def test_an_empty_entity_can_be_deleted_and_made_again(platform: EmbeddedPlatform) -> None:
    for _ in range(2):
        with change() as metadata:
            metadata.create_entity(entity("shop_shelf", has_notes=True), [NAME])
        shelf = platform.create("shop_shelf", {"name": "Top"}).id
        with pytest.raises(InvalidDefinition), change() as metadata:
            metadata.delete_entity("shop_shelf")
        platform.delete("shop_shelf", shelf)
        with change() as metadata:
            metadata.delete_entity("shop_shelf")
        with pytest.raises(UnknownEntity):
            platform.create("shop_shelf", {"name": "Top"})
    assert "shop_shelf" not in platform.attributes("annotation")["objectid"].targets


def test_an_entity_with_notes_stays_while_another_lookup_points_at_it_too(platform: EmbeddedPlatform) -> None:
    buyer = platform.attributes("shop_product")["buyerid"]
    with change() as metadata:
        metadata.create_entity(entity("shop_shelf", has_notes=True), [NAME])
        metadata.alter_attribute("shop_product", replace(buyer, targets=(*buyer.targets, "shop_shelf")))

    with pytest.raises(InvalidDefinition, match=r"shop_product\.buyerid points at it"), change() as metadata:
        metadata.delete_entity("shop_shelf")

    assert "shop_shelf" in platform.attributes("shop_product")["buyerid"].targets


def test_awkward_names_are_no_obstacle(platform: EmbeddedPlatform) -> None:
    names = ["select", "order", "xmin", "rowid", "ctid", "remark__k", "remark__t", "a" * 100, "a" * 99 + "b"]
    attributes = [replace(REMARK, logical_name=name) for name in (*names, "remark")]

    with change() as metadata:
        metadata.create_entity(entity("group"), [NAME, *attributes])

    values = {item.logical_name: item.logical_name[:30] for item in attributes}
    id = platform.create("group", {"name": "x", **values}).id
    assert platform.retrieve("group", id, list(values)).values == values


def test_many_entities_come_in_one_change(platform: EmbeddedPlatform) -> None:
    before = platform.metadata_revision()

    with change() as metadata:
        for number in range(50):
            metadata.create_entity(entity(f"shop_bulk{number}"), [NAME])

    assert platform.metadata_revision() != before
    assert platform.create("shop_bulk49", {"name": "Last"}).id


def test_relationships_are_found_from_either_side(platform: EmbeddedPlatform) -> None:
    by_category = {relationship.name for relationship in platform.relationships("shop_category")}
    by_product = {relationship.name for relationship in platform.relationships("shop_product")}

    assert {"shop_category_parent", "shop_category_products"} <= by_category
    assert {"shop_category_products", "shop_product_lines", "shop_product_people"} <= by_product


def test_unknown_names_have_errors_of_their_own(platform: EmbeddedPlatform) -> None:
    with pytest.raises(UnknownEntity):
        platform.attributes("shop_ghost")
    with pytest.raises(UnknownEntity):
        platform.relationships("shop_ghost")
    with pytest.raises(UnknownOptionSet):
        platform.option_set("shop_ghost")
    with pytest.raises(UnknownOptionSet):
        platform.option_set("name", entity="shop_product")


WRONG = {
    "a type that differs": lambda m: m.alter_attribute(
        "shop_product", replace(product_attribute("quantity"), type=AttributeType.BIGINT)
    ),
    "a behaviour that differs": lambda m: m.alter_attribute(
        "shop_product", replace(product_attribute("soldon"), behavior=DateTimeBehavior.DATE_ONLY)
    ),
    "a target taken away": lambda m: m.alter_attribute(
        "shop_product", replace(product_attribute("buyerid"), targets=("shop_person",))
    ),
    "an entity that exists": lambda m: m.create_entity(entity("shop_product"), [NAME]),
    "an attribute that exists": lambda m: m.create_attributes("shop_product", [NAME]),
    "an attribute twice": lambda m: m.create_attributes("shop_product", [REMARK, REMARK]),
    "an option set that exists": lambda m: m.create_option_set(SIZES),
    "options with one value twice": lambda m: m.create_option_set(options("shop_twice", 1, 1)),
    "an unknown target": lambda m: m.create_attributes(
        "shop_product", [attribute("ghostid", AttributeType.LOOKUP, targets=("shop_ghost",))]
    ),
    "an unknown option set": lambda m: m.create_attributes(
        "shop_product", [attribute("mood", AttributeType.PICKLIST, option_set="shop_mood")]
    ),
    "no primary name": lambda m: m.create_entity(entity("shop_shelf"), []),
    "a name that is none": lambda m: m.create_entity(entity("Shop Shelf"), [NAME]),
    "a key of nothing": lambda m: m.create_key("shop_product", AlternateKey("shop_k", ("ghost",))),
    "a key of a long text": lambda m: m.create_key("shop_product", AlternateKey("shop_k", ("notes",))),
    "too long a text": lambda m: m.create_attributes("shop_product", [replace(REMARK, max_length=4001)]),
    "too many places": lambda m: m.create_attributes(
        "shop_product", [attribute("tax", AttributeType.MONEY, precision=5)]
    ),
    "a minimum above the maximum": lambda m: m.alter_attribute(
        "shop_product", replace(product_attribute("quantity"), minimum=Decimal(2000))
    ),
    "a default that is no option": lambda m: m.create_attributes(
        "shop_product",
        [attribute("mood", AttributeType.PICKLIST, option_set=SIZES.name)],
        extras=Extras(defaults={"mood": 9}),
    ),
    "a state without a status": lambda m: m.create_entity(
        entity("shop_shelf"), [NAME, product_attribute("statecode")]
    ),
    "a system attribute deleted": lambda m: m.delete_attribute("shop_product", "createdon"),
    "a key's attribute deleted": lambda m: m.delete_attribute("shop_product", "code"),
    "a joined value's part deleted": lambda m: m.delete_attribute("shop_person", "firstname"),
    "a system entity deleted": lambda m: m.delete_entity("systemuser"),
    "an entity deleted that others point at": lambda m: m.delete_entity("shop_category"),
    "an option set deleted that is used": lambda m: m.delete_option_set("shop_size"),
    "a relationship's name taken": lambda m: m.create_entity(
        entity("shop_shelf"),
        [NAME, attribute("productid", AttributeType.LOOKUP, targets=("shop_product",))],
        [Relationship("shop_product_lines", "shop_product", "shop_shelf", "productid")],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_definition_that_makes_no_sense_is_refused(platform: EmbeddedPlatform, case: str) -> None:
    before = platform.metadata_revision()

    with pytest.raises(InvalidDefinition) as raised, change() as metadata:
        WRONG[case](metadata)

    assert str(raised.value)
    assert platform.metadata_revision() == before
    assert add_product(platform)
