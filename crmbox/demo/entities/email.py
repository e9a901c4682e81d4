"""E-mail: an activity with a sender and recipients."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import boolean, parties
from crmbox.demo.entities.activity import activity_attributes
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import label
from crmbox.metadata import Extras
from crmclient.metadata import Entity, Option

_ENTITY: Final = Entity(
    "email",
    "emails",
    label("Email", "E-Mail", "البريد الإلكتروني"),
    label("Email Messages", "E-Mail-Nachrichten", "رسائل البريد الإلكتروني"),
    primary_id="activityid",
    primary_name="subject",
    description=label("Activity that is delivered using email protocols."),
)

_STATUSES: Final = (
    Option(1, label("Draft", "Entwurf", "مسودة"), state=0),
    Option(2, label("Completed", "Abgeschlossen", "مكتمل"), state=1),
    Option(3, label("Sent", "Gesendet", "مرسل"), state=1),
    Option(4, label("Received", "Empfangen", "مستلم"), state=1),
    Option(5, label("Canceled", "Abgebrochen", "ملغى"), state=2),
)

_ATTRIBUTES: Final = (
    *activity_attributes("email", _STATUSES),
    parties("from", label("From", "Von", "من"), addresses=True),
    parties("to", label("To", "An", "إلى"), addresses=True),
    parties("cc", label("Cc", "Cc", "نسخة"), addresses=True),
    parties("bcc", label("Bcc", "Bcc", "نسخة مخفية"), addresses=True),
    boolean("directioncode", label("Direction", "Richtung", "الاتجاه")),
)

EMAIL: Final = DemoEntity(_ENTITY, _ATTRIBUTES, (), Extras(defaults={"directioncode": True}))
