"""A small CRM of a shop for the store's tests: every type, states of its own, and every relationship."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from crmbox.engine.definitions import Ownership
from crmbox.metadata import Extras, change
from crmclient import Guid, Platform, Reference, Value
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Cascade,
    DateTimeBehavior,
    Entity,
    Label,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)

KILOBYTE = 1024
MOST_BYTES = 3 * KILOBYTE * KILOBYTE

DRAFT, LIVE, GONE = 0, 1, 2
NEW, CHECKED, SOLD, OFFERED, SCRAPPED = 1, 2, 3, 4, 5


def text(english: str) -> Label:
    return Label({1033: english})


def options(name: str, *values: int, entity: str | None = None) -> OptionSet:
    return OptionSet(name, text(name), tuple(Option(v, text(f"Option {v}")) for v in values), entity=entity)


SIZES = options("shop_size", 1, 2, 3)
COLOURS = options("shop_colour", 10, 20, entity="shop_product")
TAGS = options("shop_tags", 5, 7, 11, entity="shop_product")
STATES = OptionSet(
    "shop_state",
    text("State"),
    (
        Option(DRAFT, text("Draft")),
        Option(LIVE, text("Live"), default_status=OFFERED),
        Option(GONE, text("Gone")),
    ),
    entity="shop_product",
)
STATUSES = OptionSet(
    "shop_status",
    text("Status"),
    (
        Option(NEW, text("New"), state=DRAFT),
        Option(CHECKED, text("Checked"), state=DRAFT),
        Option(SOLD, text("Sold"), state=LIVE),
        Option(OFFERED, text("Offered"), state=LIVE),
        Option(SCRAPPED, text("Scrapped"), state=GONE),
    ),
    entity="shop_product",
    inactive_states=frozenset({GONE}),
)


def attribute(name: str, type: AttributeType, **details: Any) -> Attribute:
    return Attribute(name, type, text(name), is_custom=True, **details)


def entity(name: str, primary_name: str | None = "name", **details: Any) -> Entity:
    return Entity(
        name, f"{name}s", text(name), text(f"{name}s"), f"{name}id", primary_name, is_custom=True, **details
    )


NAME = attribute(
    "name",
    AttributeType.STRING,
    max_length=50,
    required=RequiredLevel.APPLICATION,
    is_primary_name=True,
)

PRODUCT = (
    NAME,
    attribute("code", AttributeType.STRING, max_length=20),
    attribute("notes", AttributeType.MEMO, max_length=200),
    attribute("quantity", AttributeType.INTEGER, minimum=Decimal(0), maximum=Decimal(1000)),
    attribute("serial", AttributeType.BIGINT),
    attribute("weight", AttributeType.DECIMAL, precision=3),
    attribute("exact", AttributeType.DECIMAL, precision=10),
    attribute("ratio", AttributeType.DOUBLE, minimum=Decimal(-1), maximum=Decimal(1)),
    attribute("price", AttributeType.MONEY, precision=4),
    attribute("cost", AttributeType.MONEY, precision=2, minimum=Decimal(0)),
    attribute("fragile", AttributeType.BOOLEAN),
    attribute("soldon", AttributeType.DATETIME),
    attribute("madeon", AttributeType.DATETIME, behavior=DateTimeBehavior.DATE_ONLY),
    attribute("token", AttributeType.UNIQUEIDENTIFIER),
    attribute("colour", AttributeType.PICKLIST, option_set=COLOURS.name, options=COLOURS),
    attribute("size", AttributeType.PICKLIST, option_set=SIZES.name),
    attribute("tags", AttributeType.MULTISELECT, option_set=TAGS.name, options=TAGS),
    attribute("statecode", AttributeType.STATE, option_set=STATES.name, options=STATES),
    attribute("statuscode", AttributeType.STATUS, option_set=STATUSES.name, options=STATUSES),
    attribute("categoryid", AttributeType.LOOKUP, targets=("shop_category",)),
    attribute("buyerid", AttributeType.CUSTOMER, targets=("shop_person", "shop_category")),
    attribute("sheet", AttributeType.FILE, max_size=MOST_BYTES),
    attribute("picture", AttributeType.IMAGE),
    attribute("title", AttributeType.STRING, max_length=60, creatable=False, updatable=False),
)

PERSON = (
    attribute("firstname", AttributeType.STRING, max_length=50),
    attribute("lastname", AttributeType.STRING, max_length=50, required=RequiredLevel.APPLICATION),
    attribute(
        "fullname",
        AttributeType.STRING,
        max_length=101,
        is_primary_name=True,
        creatable=False,
        updatable=False,
    ),
)


def define(alias: str) -> None:
    """Everything in one change, in an order in which some refer to what comes later."""
    with change(alias) as metadata:
        metadata.create_entity(
            entity("shop_product", keys=(AlternateKey("shop_code", ("code",)),), has_notes=True),
            PRODUCT,
            (Relationship("shop_category_products", "shop_category", "shop_product", "categoryid"),),
            extras=Extras(joined={"title": ("name", "code")}, defaults={"fragile": False, "colour": 10}),
        )
        metadata.create_option_set(SIZES)
        metadata.create_entity(
            entity("shop_category"),
            (NAME, attribute("parentid", AttributeType.LOOKUP, targets=("shop_category",))),
            (
                Relationship(
                    "shop_category_parent",
                    "shop_category",
                    "shop_category",
                    "parentid",
                    on_delete=Cascade.RESTRICT,
                ),
            ),
            ownership=Ownership.ORGANIZATION,
        )
        metadata.create_entity(
            entity("shop_person", "fullname"),
            PERSON,
            extras=Extras(joined={"fullname": ("firstname", "lastname")}),
        )
        metadata.create_entity(
            entity("shop_line"),
            (NAME, attribute("productid", AttributeType.LOOKUP, targets=("shop_product",))),
            (
                Relationship(
                    "shop_product_lines", "shop_product", "shop_line", "productid", on_delete=Cascade.DELETE
                ),
            ),
            has_states=False,
        )
        metadata.create_many_to_many(
            Relationship("shop_product_people", "shop_product", "shop_person", intersect="shop_productperson")
        )


def add_product(platform: Platform, **values: Value) -> Guid:
    return platform.create("shop_product", {"name": "Lamp", **values}).id


def add_category(platform: Platform, name: str = "Lights", **values: Value) -> Reference:
    return Reference("shop_category", platform.create("shop_category", {"name": name, **values}).id)


def read(platform: Platform, id: Guid, column: str, entity: str = "shop_product") -> Value:
    return platform.retrieve(entity, id, [column]).values[column]
