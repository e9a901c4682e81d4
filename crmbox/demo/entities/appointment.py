"""Appointment: an activity with those who attend it."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import parties, string
from crmbox.demo.entities.activity import activity_attributes
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import label
from crmbox.metadata import Extras
from crmclient.metadata import Entity, Option

_ENTITY: Final = Entity(
    "appointment",
    "appointments",
    label("Appointment", "Termin", "الموعد"),
    label("Appointments", "Termine", "المواعيد"),
    primary_id="activityid",
    primary_name="subject",
    description=label("Commitment representing a time interval with start and end times."),
)

_STATUSES: Final = (
    Option(1, label("Free", "Frei", "متاح"), state=0),
    Option(2, label("Tentative", "Mit Vorbehalt", "مؤقت"), state=0),
    Option(3, label("Completed", "Abgeschlossen", "مكتمل"), state=1),
    Option(4, label("Canceled", "Abgebrochen", "ملغى"), state=2),
)

_ATTRIBUTES: Final = (
    *activity_attributes("appointment", _STATUSES),
    parties("requiredattendees", label("Required", "Erforderlich", "مطلوب")),
    parties("optionalattendees", label("Optional", "Optional", "اختياري")),
    parties("organizer", label("Organizer", "Organisator", "المنظم")),
    string("location", 200, label("Location", "Ort", "الموقع")),
)

APPOINTMENT: Final = DemoEntity(_ENTITY, _ATTRIBUTES, (), Extras())
