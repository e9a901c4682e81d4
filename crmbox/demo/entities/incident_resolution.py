"""Incident resolution: the activity that tells how a case was resolved."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import lookup, whole
from crmbox.demo.entities.closing_attributes import closing_attributes
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import label
from crmbox.metadata import Extras
from crmclient.metadata import Cascade, Entity, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "incidentresolution",
    "incidentresolutions",
    label("Case Resolution", "Anfragelösung", "حل الحالة"),
    label("Case Resolutions", "Anfragelösungen", "حلول الحالات"),
    primary_id="activityid",
    primary_name="subject",
    description=label("Activity that is created when a case is resolved."),
)

_ATTRIBUTES: Final = (
    *closing_attributes("incidentresolution"),
    lookup("incidentid", label("Case", "Anfrage", "الحالة"), "incident", required=RequiredLevel.APPLICATION),
    whole("timespent", label("Time Spent", "Zeitaufwand", "الوقت المستغرق")),
)

_RELATIONSHIPS: Final = (
    Relationship(
        "Incident_IncidentResolutions",
        "incident",
        "incidentresolution",
        "incidentid",
        on_delete=Cascade.DELETE,
    ),
)

INCIDENT_RESOLUTION: Final = DemoEntity(_ENTITY, _ATTRIBUTES, _RELATIONSHIPS, Extras())
