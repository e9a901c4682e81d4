"""The entity that shows the records of all activities, with the attributes that they have in common."""

from __future__ import annotations

from typing import Any

from crmbox.engine.definitions import ACTIVITY_TYPE, Ownership
from crmbox.metadata.activities import POINTER, REGARDING
from crmbox.system.entities.base import SystemEntity
from crmbox.system.labels import label
from crmclient.metadata import Attribute, AttributeType, Entity, Option, OptionSet
from crmclient.parties import ACTIVITY

_OPEN = label("Open", "Offen", "مفتوح")
_COMPLETED = label("Completed", "Abgeschlossen", "مكتمل")
_CANCELED = label("Canceled", "Abgebrochen", "ملغى")
_SCHEDULED = label("Scheduled", "Geplant", "مجدول")

_STATES = OptionSet(
    f"{POINTER}_statecode",
    label("Activity Status", "Aktivitätsstatus", "حالة النشاط"),
    (
        Option(0, _OPEN, default_status=1),
        Option(1, _COMPLETED, default_status=2),
        Option(2, _CANCELED, default_status=3),
        Option(3, _SCHEDULED, default_status=4),
    ),
    entity=POINTER,
)
_STATUSES = OptionSet(
    f"{POINTER}_statuscode",
    label("Status Reason", "Statusgrund", "سبب الحالة"),
    (
        Option(1, _OPEN, state=0),
        Option(2, _COMPLETED, state=1),
        Option(3, _CANCELED, state=2),
        Option(4, _SCHEDULED, state=3),
    ),
    entity=POINTER,
    inactive_states=frozenset({1, 2, 3}),
)


def _attribute(name: str, type: AttributeType, en: str, de: str, ar: str, **details: Any) -> Attribute:
    return Attribute(name, type, label(en, de, ar), creatable=False, updatable=False, **details)


def _options(name: str, type: AttributeType, options: OptionSet) -> Attribute:
    """Return an attribute that callers cannot write, with the options and the label of an option set."""
    return Attribute(
        name,
        type,
        options.label,
        creatable=False,
        updatable=False,
        option_set=options.name,
        options=options,
    )


ACTIVITY_POINTER = SystemEntity(
    Entity(
        POINTER,
        "activitypointers",
        label("Activity", "Aktivität", "النشاط"),
        label("Activities", "Aktivitäten", "الأنشطة"),
        primary_id=ACTIVITY,
        primary_name="subject",
    ),
    (
        _attribute(
            ACTIVITY_TYPE,
            AttributeType.STRING,
            "Activity Type",
            "Aktivitätstyp",
            "نوع النشاط",
            max_length=128,
        ),
        _attribute(
            "subject",
            AttributeType.STRING,
            "Subject",
            "Betreff",
            "الموضوع",
            max_length=400,
            is_primary_name=True,
        ),
        _attribute(
            "description",
            AttributeType.MEMO,
            "Description",
            "Beschreibung",
            "الوصف",
            max_length=1_048_576,
        ),
        _attribute(REGARDING, AttributeType.LOOKUP, "Regarding", "Bezug", "متعلق بـ"),
        _attribute("scheduledstart", AttributeType.DATETIME, "Start Date", "Startdatum", "تاريخ البدء"),
        _attribute("scheduledend", AttributeType.DATETIME, "Due Date", "Fälligkeitsdatum", "تاريخ الاستحقاق"),
        _attribute(
            "actualstart", AttributeType.DATETIME, "Actual Start", "Tatsächlicher Beginn", "البدء الفعلي"
        ),
        _attribute(
            "actualend", AttributeType.DATETIME, "Actual End", "Tatsächliches Ende", "الانتهاء الفعلي"
        ),
        _options("statecode", AttributeType.STATE, _STATES),
        _options("statuscode", AttributeType.STATUS, _STATUSES),
    ),
    ownership=Ownership.USER,
    is_view=True,
)
