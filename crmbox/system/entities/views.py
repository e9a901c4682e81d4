"""Saved queries: those of the organisation, and those of a user."""

from __future__ import annotations

from crmbox.engine.definitions import Ownership
from crmbox.system.entities.base import SystemEntity, name_attribute
from crmbox.system.labels import label
from crmclient.metadata import Attribute, AttributeType, Entity, RequiredLevel

_ATTRIBUTES = (
    name_attribute(200),
    Attribute(
        "description",
        AttributeType.MEMO,
        label("Description", "Beschreibung", "الوصف"),
        max_length=2000,
    ),
    Attribute(
        "returnedtypecode",
        AttributeType.STRING,
        label("Entity", "Entität", "الكيان"),
        required=RequiredLevel.APPLICATION,
        max_length=64,
    ),
    Attribute(
        "querytype",
        AttributeType.INTEGER,
        label("Query Type", "Abfragetyp", "نوع الاستعلام"),
    ),
    Attribute(
        "fetchxml",
        AttributeType.MEMO,
        label("FetchXML", "FetchXML", "FetchXML"),
        max_length=200_000,
    ),
)

SAVED_QUERY = SystemEntity(
    Entity(
        "savedquery",
        "savedqueries",
        label("View", "Ansicht", "طريقة العرض"),
        label("Views", "Ansichten", "طرق العرض"),
        primary_id="savedqueryid",
        primary_name="name",
    ),
    _ATTRIBUTES,
)
USER_QUERY = SystemEntity(
    Entity(
        "userquery",
        "userqueries",
        label("Saved View", "Gespeicherte Ansicht", "طريقة عرض محفوظة"),
        label("Saved Views", "Gespeicherte Ansichten", "طرق عرض محفوظة"),
        primary_id="userqueryid",
        primary_name="name",
    ),
    _ATTRIBUTES,
    ownership=Ownership.USER,
)
