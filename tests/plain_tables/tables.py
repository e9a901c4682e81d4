"""The tables as entities, and what they call what every CRM has."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from crmclient.conventions import Ability, Conventions, Ownership, SystemAttributes, Users
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

FIRM, PERSON, MEMBER = "firm", "person", "member"
REQUIRED: Final = RequiredLevel.APPLICATION

# Of `person` nothing keeps a version: it has no attribute of that name.
CONVENTIONS: Final = Conventions(
    records=SystemAttributes(
        version="edition",
        ownership=Ownership("keeper"),
        state="stage",
        set_to_caller=frozenset({"keeper", "made_by"}),
        composed={"called": frozenset({"given", "family"})},
    ),
    users=Users(MEMBER, id="member_key", name="label", disabled="away"),
    common=frozenset({"phone"}),
    abilities=frozenset({Ability.PAGES, Ability.TOTALS, Ability.BATCHES, Ability.UPSERTS}),
)


def _label(text: str) -> Label:
    return Label({1033: text})


def _options(name: str, entity: str, *labels: str) -> OptionSet:
    options = tuple(Option(value, _label(text)) for value, text in enumerate(labels))
    return OptionSet(name, _label(name), options, entity=entity)


def _attributes(*given: tuple[str, AttributeType, dict[str, Any]]) -> dict[str, Attribute]:
    return {name: Attribute(name, kind, _label(name), **facts) for name, kind, facts in given}


def _kept(name: str, kind: AttributeType, **facts: Any) -> tuple[str, AttributeType, dict[str, Any]]:
    return name, kind, {"creatable": False, "updatable": False, **facts}


def _text(name: str, most: int, **facts: Any) -> tuple[str, AttributeType, dict[str, Any]]:
    return name, AttributeType.STRING, {"max_length": most, **facts}


def _lookup(name: str, *targets: str) -> tuple[str, AttributeType, dict[str, Any]]:
    return name, AttributeType.LOOKUP, {"targets": targets}


def _key(name: str) -> tuple[str, AttributeType, dict[str, Any]]:
    return name, AttributeType.UNIQUEIDENTIFIER, {"is_primary_id": True, "updatable": False}


def _choice(name: str, kind: AttributeType, *labels: str) -> tuple[str, AttributeType, dict[str, Any]]:
    options = _options(f"firm_{name}", FIRM, *labels)
    return name, kind, {"option_set": options.name, "options": options}


_OWNED = (
    (
        "keeper",
        AttributeType.OWNER,
        {"targets": (MEMBER,), "required": RequiredLevel.SYSTEM},
    ),
    _kept("made_by", AttributeType.LOOKUP, targets=(MEMBER,)),
    _kept("made_at", AttributeType.DATETIME),
)

ATTRIBUTES: Final[Mapping[str, Mapping[str, Attribute]]] = {
    FIRM: _attributes(
        _key("firm_key"),
        _text("title", 160, required=REQUIRED, is_primary_name=True),
        _text("number", 20),
        _text("phone", 50),
        _text("telefax", 50),
        _text("branch", 20),
        ("remarks", AttributeType.MEMO, {"max_length": 2000}),
        ("staff", AttributeType.INTEGER, {"minimum": Decimal(0), "maximum": Decimal(10**9)}),
        ("turnover", AttributeType.MONEY, {"precision": 4, "minimum": Decimal(0)}),
        ("rebate", AttributeType.DECIMAL, {"precision": 10}),
        ("legacy", AttributeType.BIGINT, {}),
        ("latitude", AttributeType.DOUBLE, {}),
        ("muted", AttributeType.BOOLEAN, {}),
        ("since", AttributeType.DATETIME, {"behavior": DateTimeBehavior.DATE_ONLY}),
        _choice("line", AttributeType.PICKLIST, "Farming", "Trade", "Craft"),
        _choice("stage", AttributeType.STATE, "Open", "Closed"),
        _lookup("boss", PERSON),
        _lookup("parent", FIRM),
        *_OWNED,
        _kept("edition", AttributeType.BIGINT),
    ),
    PERSON: _attributes(
        _key("person_key"),
        _text("given", 50),
        _text("family", 50, required=REQUIRED),
        _text("called", 101, is_primary_name=True, creatable=False, updatable=False),
        _lookup("employer", FIRM),
        *_OWNED,
    ),
    MEMBER: _attributes(
        _key("member_key"),
        _text("label", 100, required=REQUIRED, is_primary_name=True),
        ("away", AttributeType.BOOLEAN, {}),
        _lookup("seat", FIRM),
    ),
}


def _entity(name: str, primary_name: str, *keys: AlternateKey) -> Entity:
    return Entity(name, f"{name}s", _label(name), _label(f"{name}s"), f"{name}_key", primary_name, keys=keys)


ENTITIES: Final[Mapping[str, Entity]] = {
    FIRM: _entity(FIRM, "title", AlternateKey("number", ("number",))),
    PERSON: _entity(PERSON, "called"),
    MEMBER: _entity(MEMBER, "label"),
}

RELATIONSHIPS: Final = tuple(
    Relationship(
        f"{entity}_{name}",
        target,
        entity,
        name,
        on_delete=Cascade.RESTRICT if name == "parent" else Cascade.REMOVE_LINK,
    )
    for entity, attributes in ATTRIBUTES.items()
    for name, attribute in attributes.items()
    for target in attribute.targets
)
