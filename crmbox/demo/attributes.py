"""Attributes of the demo's entities, one maker a type. A name that begins with `new_` is a custom one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from crmclient.metadata import (
    Attribute,
    AttributeType,
    DateTimeBehavior,
    Label,
    OptionSet,
    RequiredLevel,
)

MEGABYTE: Final = 1024 * 1024
LARGEST_MONEY: Final = Decimal("922337203685477.5807")
LARGEST_DECIMAL: Final = Decimal(100_000_000_000)


def attribute(name: str, type: AttributeType, title: Label, **details: Any) -> Attribute:
    return Attribute(name, type, title, is_custom=name.startswith("new_"), **details)


def string(name: str, length: int, title: Label, **details: Any) -> Attribute:
    return attribute(name, AttributeType.STRING, title, max_length=length, **details)


def memo(name: str, length: int, title: Label, **details: Any) -> Attribute:
    return attribute(name, AttributeType.MEMO, title, max_length=length, **details)


def boolean(name: str, title: Label, **details: Any) -> Attribute:
    return attribute(name, AttributeType.BOOLEAN, title, **details)


def whole(name: str, title: Label, minimum: int = 0, maximum: int = 2_147_483_647) -> Attribute:
    return attribute(name, AttributeType.INTEGER, title, minimum=Decimal(minimum), maximum=Decimal(maximum))


def big_whole(name: str, title: Label) -> Attribute:
    return attribute(name, AttributeType.BIGINT, title)


def decimal(name: str, title: Label, precision: int) -> Attribute:
    """Return a decimal attribute that takes every value that the platform holds."""
    return attribute(
        name,
        AttributeType.DECIMAL,
        title,
        precision=precision,
        minimum=-LARGEST_DECIMAL,
        maximum=LARGEST_DECIMAL,
    )


def double(name: str, title: Label, minimum: int, maximum: int, precision: int = 5) -> Attribute:
    """Return an attribute of floating-point numbers. `precision` is the number of decimal places shown."""
    return attribute(
        name,
        AttributeType.DOUBLE,
        title,
        precision=precision,
        minimum=Decimal(minimum),
        maximum=Decimal(maximum),
    )


def money(name: str, title: Label, precision: int = 4) -> Attribute:
    """Return a money attribute whose values go from zero up to the largest that the platform holds."""
    return attribute(
        name,
        AttributeType.MONEY,
        title,
        precision=precision,
        minimum=Decimal(0),
        maximum=LARGEST_MONEY,
    )


def date(name: str, title: Label) -> Attribute:
    return attribute(name, AttributeType.DATETIME, title, behavior=DateTimeBehavior.DATE_ONLY)


def moment(name: str, title: Label) -> Attribute:
    return attribute(name, AttributeType.DATETIME, title)


def choice(
    name: str, options: OptionSet, *, type: AttributeType = AttributeType.PICKLIST, **details: Any
) -> Attribute:
    """Return a choice with an option set of its own. The label of the option set is also the attribute's."""
    return attribute(name, type, options.label, option_set=options.name, options=options, **details)


def several(name: str, options: OptionSet) -> Attribute:
    """Return a multi-select choice with an option set of its own."""
    return choice(name, options, type=AttributeType.MULTISELECT)


def state(options: OptionSet) -> Attribute:
    return choice("statecode", options, type=AttributeType.STATE, required=RequiredLevel.SYSTEM)


def status(options: OptionSet) -> Attribute:
    return choice("statuscode", options, type=AttributeType.STATUS, required=RequiredLevel.SYSTEM)


def global_choice(name: str, option_set: OptionSet) -> Attribute:
    return attribute(name, AttributeType.PICKLIST, option_set.label, option_set=option_set.name)


def lookup(name: str, title: Label, target: str, **details: Any) -> Attribute:
    return attribute(name, AttributeType.LOOKUP, title, targets=(target,), **details)


def customer(name: str, title: Label, **details: Any) -> Attribute:
    return attribute(name, AttributeType.CUSTOMER, title, targets=("account", "contact"), **details)


def parties(name: str, title: Label, *, addresses: bool = False) -> Attribute:
    """Return a party list. `addresses`: a party may be a mail address alone."""
    targets = ("account", "contact", "lead", "systemuser")
    return attribute(name, AttributeType.PARTYLIST, title, targets=targets, takes_addresses=addresses)


def file(name: str, title: Label, megabytes: int) -> Attribute:
    return attribute(name, AttributeType.FILE, title, max_size=megabytes * MEGABYTE)


def image(name: str, title: Label, megabytes: int) -> Attribute:
    return attribute(name, AttributeType.IMAGE, title, max_size=megabytes * MEGABYTE)
