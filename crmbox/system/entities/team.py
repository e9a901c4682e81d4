"""Teams: groups of users, which may own records."""

from __future__ import annotations

from crmbox.metadata import Extras
from crmbox.system.entities.base import BUSINESS_UNIT_LABEL, SystemEntity, name_attribute
from crmbox.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)

_TEAM_TYPE = label("Team Type", "Teamtyp", "نوع الفريق")

TEAM = SystemEntity(
    Entity(
        "team",
        "teams",
        label("Team", "Team", "الفريق"),
        label("Teams", "Teams", "الفرق"),
        primary_id="teamid",
        primary_name="name",
    ),
    (
        name_attribute(160),
        Attribute(
            "description",
            AttributeType.MEMO,
            label("Description", "Beschreibung", "الوصف"),
            max_length=2000,
        ),
        Attribute(
            "teamtype",
            AttributeType.PICKLIST,
            _TEAM_TYPE,
            option_set="team_teamtype",
            options=OptionSet(
                "team_teamtype",
                _TEAM_TYPE,
                (
                    Option(0, label("Owner", "Besitzer", "مالك")),
                    Option(1, label("Access", "Zugriff", "وصول")),
                    Option(2, label("Security Group", "Sicherheitsgruppe", "مجموعة أمان")),
                    Option(3, label("Office Group", "Office-Gruppe", "مجموعة Office")),
                ),
                entity="team",
            ),
        ),
        Attribute(
            "businessunitid",
            AttributeType.LOOKUP,
            BUSINESS_UNIT_LABEL,
            required=RequiredLevel.APPLICATION,
            targets=("businessunit",),
        ),
        Attribute(
            "administratorid",
            AttributeType.LOOKUP,
            label("Administrator", "Administrator", "المسؤول"),
            targets=("systemuser",),
        ),
    ),
    (
        Relationship(
            "business_unit_teams", "businessunit", "team", "businessunitid", on_delete=Cascade.RESTRICT
        ),
    ),
    extras=Extras(defaults={"teamtype": 0}),
)
