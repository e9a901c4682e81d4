"""Notes: a text, an attachment or both, about a record of any entity that has notes."""

from __future__ import annotations

from crmbox.engine.definitions import FileFact, Ownership
from crmbox.metadata import Extras
from crmbox.system.entities.base import SystemEntity
from crmbox.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Entity,
)

MEGABYTE = 1024 * 1024
LARGEST_ATTACHMENT = 128 * MEGABYTE

NOTE = SystemEntity(
    Entity(
        "annotation",
        "annotations",
        label("Note", "Notiz", "الملاحظة"),
        label("Notes", "Notizen", "الملاحظات"),
        primary_id="annotationid",
        primary_name="subject",
    ),
    (
        Attribute(
            "subject",
            AttributeType.STRING,
            label("Title", "Titel", "العنوان"),
            max_length=500,
            is_primary_name=True,
        ),
        Attribute(
            "notetext", AttributeType.MEMO, label("Description", "Beschreibung", "الوصف"), max_length=100_000
        ),
        Attribute("objectid", AttributeType.LOOKUP, label("Regarding", "Bezug", "متعلق بـ")),
        Attribute(
            "documentbody",
            AttributeType.FILE,
            label("Document", "Dokument", "المستند"),
            max_size=LARGEST_ATTACHMENT,
        ),
        Attribute(
            "filename",
            AttributeType.STRING,
            label("File Name", "Dateiname", "اسم الملف"),
            max_length=255,
            creatable=False,
            updatable=False,
        ),
        Attribute(
            "mimetype",
            AttributeType.STRING,
            label("Mime Type", "MIME-Typ", "نوع الملف"),
            max_length=256,
            creatable=False,
            updatable=False,
        ),
        Attribute(
            "filesize",
            AttributeType.INTEGER,
            label("File Size (Bytes)", "Dateigröße (Bytes)", "حجم الملف (بايت)"),
            creatable=False,
            updatable=False,
        ),
        Attribute(
            "isdocument",
            AttributeType.BOOLEAN,
            label("Is Document", "Ist Dokument", "مستند"),
            creatable=False,
            updatable=False,
        ),
    ),
    ownership=Ownership.USER,
    extras=Extras(
        defaults={"isdocument": False},
        file_facts={
            "filename": FileFact("documentbody", "file_name"),
            "mimetype": FileFact("documentbody", "content_type"),
            "filesize": FileFact("documentbody", "size"),
            "isdocument": FileFact("documentbody", "present"),
        },
    ),
)
