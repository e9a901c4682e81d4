"""The attributes that the engine gives to entities, and fills in itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crmbox.engine.definitions import Ownership
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Label,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)

ACTIVE, INACTIVE = 0, 1
ACTIVE_STATUS, INACTIVE_STATUS = 1, 2


def _label(english: str, german: str, arabic: str) -> Label:
    return Label({1033: english, 1031: german, 1025: arabic})


_ACTIVE: Final = _label("Active", "Aktiv", "نشط")
_INACTIVE: Final = _label("Inactive", "Inaktiv", "غير نشط")
_STATE: Final = _label("Status", "Status", "الحالة")
_STATUS: Final = _label("Status Reason", "Statusgrund", "سبب الحالة")


def primary_id(entity: Entity) -> Attribute:
    """Return the attribute of an entity's primary key, which can be chosen at creation only."""
    return Attribute(
        entity.primary_id,
        AttributeType.UNIQUEIDENTIFIER,
        entity.label,
        required=RequiredLevel.SYSTEM,
        updatable=False,
        is_primary_id=True,
    )


def version() -> Attribute:
    """Return the attribute with the row version of a record."""
    return _platform_attribute(
        "versionnumber", AttributeType.BIGINT, _label("Version Number", "Versionsnummer", "رقم الإصدار")
    )


def audit(ownership: Ownership) -> Iterator[Attribute]:
    """Yield the attributes for who made and changed a record and when and, for user-owned ones, the owner."""
    yield _platform_attribute(
        "createdon", AttributeType.DATETIME, _label("Created On", "Erstellt am", "تاريخ الإنشاء")
    )
    yield _platform_attribute(
        "modifiedon", AttributeType.DATETIME, _label("Modified On", "Geändert am", "تاريخ التعديل")
    )
    yield _platform_attribute(
        "createdby", AttributeType.LOOKUP, _label("Created By", "Erstellt von", "أنشأه"), ("systemuser",)
    )
    yield _platform_attribute(
        "modifiedby", AttributeType.LOOKUP, _label("Modified By", "Geändert von", "عدّله"), ("systemuser",)
    )
    yield Attribute(
        "overriddencreatedon",
        AttributeType.DATETIME,
        _label("Record Created On", "Datensatz erstellt am", "تاريخ إنشاء السجل"),
        updatable=False,
    )
    if ownership is Ownership.USER:
        yield Attribute(
            "ownerid",
            AttributeType.OWNER,
            _label("Owner", "Besitzer", "المالك"),
            required=RequiredLevel.SYSTEM,
            targets=("systemuser", "team"),
        )
        yield _platform_attribute(
            "owningbusinessunit",
            AttributeType.LOOKUP,
            _label("Owning Business Unit", "Besitzende Unternehmenseinheit", "وحدة العمل المالكة"),
            ("businessunit",),
        )


def by_name(ownership: Ownership) -> dict[str, Attribute]:
    """Return, by name, the attributes that the engine fills in whatever the entity: who wrote a record and
    when, its owner, and its version.
    """
    attributes = () if ownership is Ownership.NONE else (*audit(ownership), version())
    return {attribute.logical_name: attribute for attribute in attributes}


def audit_relationships(entity: str, ownership: Ownership) -> Iterator[Relationship]:
    """Yield the relationships of the lookups that `audit` yields: to users, teams and business units.

    An owner or business unit with records cannot be deleted.
    """
    for attribute in ("createdby", "modifiedby"):
        yield Relationship(f"lk_{entity}_{attribute}", "systemuser", entity, attribute)
    if ownership is Ownership.USER:
        for owner, attribute in (
            ("systemuser", "ownerid"),
            ("team", "ownerid"),
            ("businessunit", "owningbusinessunit"),
        ):
            name = f"{owner}_{entity}_owner"
            yield Relationship(name, owner, entity, attribute, on_delete=Cascade.RESTRICT)


def states(entity: str) -> Iterator[Attribute]:
    """Yield state and status, active and inactive, for an entity without states of its own."""
    yield Attribute(
        "statecode",
        AttributeType.STATE,
        _STATE,
        required=RequiredLevel.SYSTEM,
        option_set=f"{entity}_statecode",
        options=OptionSet(
            f"{entity}_statecode",
            _STATE,
            (
                Option(ACTIVE, _ACTIVE, default_status=ACTIVE_STATUS),
                Option(INACTIVE, _INACTIVE, default_status=INACTIVE_STATUS),
            ),
            entity=entity,
        ),
    )
    yield Attribute(
        "statuscode",
        AttributeType.STATUS,
        _STATUS,
        option_set=f"{entity}_statuscode",
        options=OptionSet(
            f"{entity}_statuscode",
            _STATUS,
            (
                Option(ACTIVE_STATUS, _ACTIVE, state=ACTIVE),
                Option(INACTIVE_STATUS, _INACTIVE, state=INACTIVE),
            ),
            entity=entity,
            inactive_states=frozenset({INACTIVE}),
        ),
    )


def _platform_attribute(
    name: str, type: AttributeType, label: Label, targets: tuple[str, ...] = ()
) -> Attribute:
    """Return an attribute that only the platform writes."""
    return Attribute(name, type, label, targets=targets, creatable=False, updatable=False)
