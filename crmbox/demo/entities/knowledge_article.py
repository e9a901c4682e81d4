"""Knowledge article: what a company tells everybody about its products and services."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import boolean, memo, moment, state, status, string
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import label
from crmbox.metadata import Extras
from crmclient.metadata import AlternateKey, Entity, Option, OptionSet, RequiredLevel

_ENTITY: Final = Entity(
    "knowledgearticle",
    "knowledgearticles",
    label("Knowledge Article", "Wissensartikel", "مقالة معرفية"),
    label("Knowledge Articles", "Wissensartikel", "المقالات المعرفية"),
    primary_id="knowledgearticleid",
    primary_name="title",
    description=label("Organizational knowledge for internal and external use."),
    keys=(AlternateKey("articlepublicnumber", ("articlepublicnumber",)),),
)

_STATES: Final = OptionSet(
    "knowledgearticle_statecode",
    label("Status", "Status", "الحالة"),
    (
        Option(0, label("Draft", "Entwurf", "مسودة"), default_status=2),
        Option(1, label("Approved", "Genehmigt", "معتمدة"), default_status=5),
        Option(2, label("Scheduled", "Geplant", "مجدولة"), default_status=6),
        Option(3, label("Published", "Veröffentlicht", "منشورة"), default_status=7),
        Option(4, label("Expired", "Abgelaufen", "منتهية الصلاحية"), default_status=11),
        Option(5, label("Archived", "Archiviert", "مؤرشفة"), default_status=12),
        Option(6, label("Discarded", "Verworfen", "مهملة"), default_status=13),
    ),
    entity="knowledgearticle",
)

_STATUSES: Final = OptionSet(
    "knowledgearticle_statuscode",
    label("Status Reason", "Statusgrund", "سبب الحالة"),
    (
        Option(1, label("Proposed", "Vorgeschlagen", "مقترحة"), state=0),
        Option(2, label("Draft", "Entwurf", "مسودة"), state=0),
        Option(4, label("In review", "In Prüfung", "قيد المراجعة"), state=0),
        Option(5, label("Approved", "Genehmigt", "معتمدة"), state=1),
        Option(6, label("Scheduled", "Geplant", "مجدولة"), state=2),
        Option(7, label("Published", "Veröffentlicht", "منشورة"), state=3),
        Option(10, label("Updating", "Wird aktualisiert", "قيد التحديث"), state=3),
        Option(11, label("Expired", "Abgelaufen", "منتهية الصلاحية"), state=4),
        Option(12, label("Archived", "Archiviert", "مؤرشفة"), state=5),
        Option(13, label("Discarded", "Verworfen", "مهملة"), state=6),
    ),
    entity="knowledgearticle",
    inactive_states=frozenset({1, 2, 3, 4, 5, 6}),
)

_ATTRIBUTES: Final = (
    state(_STATES),
    status(_STATUSES),
    string(
        "title",
        200,
        label("Title", "Titel", "العنوان"),
        required=RequiredLevel.APPLICATION,
        is_primary_name=True,
    ),
    string(
        "articlepublicnumber",
        100,
        label("Article Public Number", "Öffentliche Artikelnummer", "رقم المقالة العام"),
    ),
    string("keywords", 100, label("Keywords", "Schlüsselwörter", "الكلمات الأساسية")),
    string("description", 155, label("Description", "Beschreibung", "الوصف")),
    memo("content", 100_000, label("Content", "Inhalt", "المحتوى")),
    boolean("isinternal", label("Internal", "Intern", "داخلي")),
    moment("publishon", label("Publish On", "Veröffentlichen am", "تاريخ النشر")),
    moment("expirationdate", label("Expiration Date", "Ablaufdatum", "تاريخ انتهاء الصلاحية")),
)

KNOWLEDGE_ARTICLE: Final = DemoEntity(_ENTITY, _ATTRIBUTES, (), Extras(defaults={"isinternal": False}))
