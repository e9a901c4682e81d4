"""Security roles, kept by name: the embedded platform enforces none."""

from __future__ import annotations

from crmbox.system.entities.base import BUSINESS_UNIT_LABEL, SystemEntity, name_attribute
from crmbox.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Relationship,
    RequiredLevel,
)

ROLE = SystemEntity(
    Entity(
        "role",
        "roles",
        label("Security Role", "Sicherheitsrolle", "دور الأمان"),
        label("Security Roles", "Sicherheitsrollen", "أدوار الأمان"),
        primary_id="roleid",
        primary_name="name",
    ),
    (
        name_attribute(100),
        Attribute(
            "businessunitid",
            AttributeType.LOOKUP,
            BUSINESS_UNIT_LABEL,
            required=RequiredLevel.APPLICATION,
            targets=("businessunit",),
        ),
    ),
    (
        Relationship(
            "business_unit_roles", "businessunit", "role", "businessunitid", on_delete=Cascade.RESTRICT
        ),
    ),
)
