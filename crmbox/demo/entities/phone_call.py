"""Phone call: an activity with who calls and who is called."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import boolean, parties, string
from crmbox.demo.entities.activity import activity_attributes
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import label
from crmbox.metadata import Extras
from crmclient.metadata import Entity, Option

_ENTITY: Final = Entity(
    "phonecall",
    "phonecalls",
    label("Phone Call", "Telefonanruf", "مكالمة هاتفية"),
    label("Phone Calls", "Telefonanrufe", "المكالمات الهاتفية"),
    primary_id="activityid",
    primary_name="subject",
    description=label("Activity to track a telephone call."),
)

_STATUSES: Final = (
    Option(1, label("Open", "Offen", "مفتوح"), state=0),
    Option(2, label("Made", "Getätigt", "تم"), state=1),
    Option(4, label("Received", "Empfangen", "مستلم"), state=1),
    Option(3, label("Canceled", "Abgebrochen", "ملغى"), state=2),
)

_ATTRIBUTES: Final = (
    *activity_attributes("phonecall", _STATUSES),
    parties("from", label("Call From", "Anruf von", "مكالمة من")),
    parties("to", label("Call To", "Anruf an", "مكالمة إلى")),
    string("phonenumber", 200, label("Phone Number", "Telefonnummer", "رقم الهاتف")),
    boolean("directioncode", label("Direction", "Richtung", "الاتجاه")),
)

PHONE_CALL: Final = DemoEntity(_ENTITY, _ATTRIBUTES, (), Extras(defaults={"directioncode": True}))
