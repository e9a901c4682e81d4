"""The system entities, as data: users, business units, teams, roles and notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from crmclient.embedded.definitions import FileFact, Ownership
from crmclient.embedded.metadata import Extras
from crmclient.embedded.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)

MEGABYTE = 1024 * 1024
LARGEST_ATTACHMENT = 128 * MEGABYTE

_REQUIRED = RequiredLevel.APPLICATION
_NAME = label("Name", "Name", "الاسم")
_BUSINESS_UNIT = label("Business Unit", "Unternehmenseinheit", "وحدة العمل")


@dataclass(frozen=True, slots=True)
class SystemEntity:
    entity: Entity
    attributes: tuple[Attribute, ...]
    relationships: tuple[Relationship, ...] = ()
    ownership: Ownership = Ownership.ORGANIZATION
    extras: Extras = field(default_factory=Extras)


BUSINESS_UNIT = SystemEntity(
    Entity(
        "businessunit",
        "businessunits",
        _BUSINESS_UNIT,
        label("Business Units", "Unternehmenseinheiten", "وحدات العمل"),
        primary_id="businessunitid",
        primary_name="name",
    ),
    (
        Attribute(
            "name", AttributeType.STRING, _NAME, required=_REQUIRED, max_length=160, is_primary_name=True
        ),
        Attribute(
            "parentbusinessunitid",
            AttributeType.LOOKUP,
            label("Parent Business Unit", "Übergeordnete Unternehmenseinheit", "وحدة العمل الأصل"),
            targets=("businessunit",),
        ),
        Attribute(
            "divisionname", AttributeType.STRING, label("Division", "Abteilung", "القسم"), max_length=100
        ),
        Attribute("isdisabled", AttributeType.BOOLEAN, label("Is Disabled", "Deaktiviert", "معطل")),
    ),
    (
        Relationship(
            "business_unit_parent_business_unit",
            "businessunit",
            "businessunit",
            "parentbusinessunitid",
            on_delete=Cascade.RESTRICT,
        ),
    ),
    extras=Extras(defaults={"isdisabled": False}),
)

SYSTEM_USER = SystemEntity(
    Entity(
        "systemuser",
        "systemusers",
        label("User", "Benutzer", "المستخدم"),
        label("Users", "Benutzer", "المستخدمون"),
        primary_id="systemuserid",
        primary_name="fullname",
    ),
    (
        Attribute(
            "fullname",
            AttributeType.STRING,
            label("Full Name", "Vollständiger Name", "الاسم الكامل"),
            max_length=200,
            creatable=False,
            updatable=False,
            is_primary_name=True,
        ),
        Attribute(
            "firstname", AttributeType.STRING, label("First Name", "Vorname", "الاسم الأول"), max_length=64
        ),
        Attribute(
            "lastname",
            AttributeType.STRING,
            label("Last Name", "Nachname", "اسم العائلة"),
            required=_REQUIRED,
            max_length=64,
        ),
        Attribute(
            "domainname",
            AttributeType.STRING,
            label("User Name", "Benutzername", "اسم المستخدم"),
            max_length=1024,
        ),
        Attribute(
            "internalemailaddress",
            AttributeType.STRING,
            label("Primary Email", "Primäre E-Mail", "البريد الإلكتروني الأساسي"),
            max_length=100,
        ),
        Attribute("title", AttributeType.STRING, label("Title", "Titel", "المسمى الوظيفي"), max_length=128),
        Attribute(
            "jobtitle", AttributeType.STRING, label("Job Title", "Position", "الوظيفة"), max_length=100
        ),
        Attribute(
            "mobilephone",
            AttributeType.STRING,
            label("Mobile Phone", "Mobiltelefon", "الهاتف المحمول"),
            max_length=64,
        ),
        Attribute(
            "address1_telephone1",
            AttributeType.STRING,
            label("Main Phone", "Telefon (Zentrale)", "الهاتف الرئيسي"),
            max_length=64,
        ),
        Attribute("isdisabled", AttributeType.BOOLEAN, label("Status", "Status", "الحالة")),
        Attribute(
            "businessunitid",
            AttributeType.LOOKUP,
            _BUSINESS_UNIT,
            required=_REQUIRED,
            targets=("businessunit",),
        ),
        Attribute(
            "parentsystemuserid",
            AttributeType.LOOKUP,
            label("Manager", "Vorgesetzter", "المدير"),
            targets=("systemuser",),
        ),
        Attribute(
            "azureactivedirectoryobjectid",
            AttributeType.UNIQUEIDENTIFIER,
            label("Azure AD Object ID", "Azure AD-Objekt-ID", "معرف كائن Azure AD"),
        ),
    ),
    (
        Relationship(
            "business_unit_system_users",
            "businessunit",
            "systemuser",
            "businessunitid",
            on_delete=Cascade.RESTRICT,
        ),
        Relationship("user_parent_user", "systemuser", "systemuser", "parentsystemuserid"),
    ),
    extras=Extras(joined={"fullname": ("firstname", "lastname")}, defaults={"isdisabled": False}),
)

_TEAM_TYPE = label("Team Type", "Teamtyp", "نوع الفريق")

TEAM = SystemEntity(
    Entity(
        "team",
        "teams",
        label("Team", "Team", "الفريق"),
        label("Teams", "Teams", "الفرق"),
        primary_id="teamid",
        primary_name="name",
    ),
    (
        Attribute(
            "name", AttributeType.STRING, _NAME, required=_REQUIRED, max_length=160, is_primary_name=True
        ),
        Attribute(
            "description",
            AttributeType.MEMO,
            label("Description", "Beschreibung", "الوصف"),
            max_length=2000,
        ),
        Attribute(
            "teamtype",
            AttributeType.PICKLIST,
            _TEAM_TYPE,
            option_set="team_teamtype",
            options=OptionSet(
                "team_teamtype",
                _TEAM_TYPE,
                (
                    Option(0, label("Owner", "Besitzer", "مالك")),
                    Option(1, label("Access", "Zugriff", "وصول")),
                    Option(2, label("Security Group", "Sicherheitsgruppe", "مجموعة أمان")),
                    Option(3, label("Office Group", "Office-Gruppe", "مجموعة Office")),
                ),
                entity="team",
            ),
        ),
        Attribute(
            "businessunitid",
            AttributeType.LOOKUP,
            _BUSINESS_UNIT,
            required=_REQUIRED,
            targets=("businessunit",),
        ),
        Attribute(
            "administratorid",
            AttributeType.LOOKUP,
            label("Administrator", "Administrator", "المسؤول"),
            targets=("systemuser",),
        ),
    ),
    (
        Relationship(
            "business_unit_teams", "businessunit", "team", "businessunitid", on_delete=Cascade.RESTRICT
        ),
    ),
    extras=Extras(defaults={"teamtype": 0}),
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
        Attribute(
            "name", AttributeType.STRING, _NAME, required=_REQUIRED, max_length=100, is_primary_name=True
        ),
        Attribute(
            "businessunitid",
            AttributeType.LOOKUP,
            _BUSINESS_UNIT,
            required=_REQUIRED,
            targets=("businessunit",),
        ),
    ),
    (
        Relationship(
            "business_unit_roles", "businessunit", "role", "businessunitid", on_delete=Cascade.RESTRICT
        ),
    ),
)

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

ENTITIES = (BUSINESS_UNIT, SYSTEM_USER, TEAM, ROLE, NOTE)

MANY_TO_MANY = (
    Relationship("teammembership_association", "team", "systemuser", intersect="teammembership"),
    Relationship("systemuserroles_association", "systemuser", "role", intersect="systemuserroles"),
)
