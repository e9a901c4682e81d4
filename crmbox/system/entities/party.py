"""Parties: who takes part in an activity. They are written with the activity, by its party lists."""

from __future__ import annotations

from crmbox.engine.definitions import Ownership
from crmbox.system.entities.base import SystemEntity
from crmbox.system.labels import label
from crmclient.metadata import Attribute, AttributeType, Entity, Option, OptionSet
from crmclient.parties import ACTIVITY, ADDRESS, LONGEST_ADDRESS, PART, PARTY, PARTY_ID, RECORD

_PARTS = OptionSet(
    f"{PARTY}_{PART}",
    label("Participation Type", "Teilnahmetyp", "نوع المشاركة"),
    (
        Option(1, label("Sender", "Absender", "المرسل")),
        Option(2, label("To Recipient", "Empfänger", "المستلم")),
        Option(3, label("CC Recipient", "Cc-Empfänger", "مستلم نسخة")),
        Option(4, label("BCC Recipient", "Bcc-Empfänger", "مستلم نسخة مخفية")),
        Option(5, label("Required attendee", "Erforderlicher Teilnehmer", "حضور مطلوب")),
        Option(6, label("Optional attendee", "Optionaler Teilnehmer", "حضور اختياري")),
        Option(7, label("Organizer", "Organisator", "المنظم")),
        Option(8, label("Regarding", "Bezug", "متعلق بـ")),
        Option(9, label("Owner", "Besitzer", "المالك")),
        Option(10, label("Resource", "Ressource", "المورد")),
        Option(11, label("Customer", "Kunde", "العميل")),
        Option(12, label("Chat Participant", "Chatteilnehmer", "مشارك في المحادثة")),
        Option(13, label("Related", "Zugehörig", "مرتبط")),
    ),
    entity=PARTY,
)


def _attribute(name: str, type: AttributeType, en: str, de: str, ar: str) -> Attribute:
    return Attribute(name, type, label(en, de, ar), creatable=False, updatable=False)


ACTIVITY_PARTY = SystemEntity(
    Entity(
        PARTY,
        "activityparties",
        label("Activity Party", "Aktivitätspartei", "طرف النشاط"),
        label("Activity Parties", "Aktivitätsparteien", "أطراف النشاط"),
        primary_id=PARTY_ID,
        primary_name=None,
    ),
    (
        _attribute(ACTIVITY, AttributeType.LOOKUP, "Activity", "Aktivität", "النشاط"),
        _attribute(RECORD, AttributeType.LOOKUP, "Party", "Partei", "الطرف"),
        Attribute(
            PART,
            AttributeType.PICKLIST,
            _PARTS.label,
            creatable=False,
            updatable=False,
            option_set=_PARTS.name,
            options=_PARTS,
        ),
        Attribute(
            ADDRESS,
            AttributeType.STRING,
            label("Address", "Adresse", "العنوان"),
            max_length=LONGEST_ADDRESS,
            creatable=False,
            updatable=False,
        ),
    ),
    ownership=Ownership.NONE,
)
