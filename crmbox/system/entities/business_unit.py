"""Business units: the tree of an organisation. The root has no parent."""

from __future__ import annotations

from crmbox.metadata import Extras
from crmbox.system.entities.base import BUSINESS_UNIT_LABEL, SystemEntity, name_attribute
from crmbox.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Relationship,
)

BUSINESS_UNIT = SystemEntity(
    Entity(
        "businessunit",
        "businessunits",
        BUSINESS_UNIT_LABEL,
        label("Business Units", "Unternehmenseinheiten", "وحدات العمل"),
        primary_id="businessunitid",
        primary_name="name",
    ),
    (
        name_attribute(160),
        Attribute(
            "parentbusinessunitid",
            AttributeType.LOOKUP,
            label("Parent Business Unit", "Übergeordnete Unternehmenseinheit", "وحدة العمل الأصل"),
            targets=("businessunit",),
        ),
        Attribute(
            "divisionname", AttributeType.STRING, label("Division", "Abteilung", "القسم"), max_length=100
        ),
        Attribute("isdisabled", AttributeType.BOOLEAN, label("Is Disabled", "Deaktiviert", "معطل")),
    ),
    (
        Relationship(
            "business_unit_parent_business_unit",
            "businessunit",
            "businessunit",
            "parentbusinessunitid",
            on_delete=Cascade.RESTRICT,
            is_hierarchical=True,
        ),
    ),
    extras=Extras(defaults={"isdisabled": False}),
)
