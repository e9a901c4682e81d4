"""System users: the people and programs that act in the CRM."""

from __future__ import annotations

from crmbox.metadata import Extras
from crmbox.system.entities.base import BUSINESS_UNIT_LABEL, SystemEntity
from crmbox.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Relationship,
    RequiredLevel,
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
            required=RequiredLevel.APPLICATION,
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
            BUSINESS_UNIT_LABEL,
            required=RequiredLevel.APPLICATION,
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
        Relationship(
            "user_parent_user", "systemuser", "systemuser", "parentsystemuserid", is_hierarchical=True
        ),
    ),
    extras=Extras(joined={"fullname": ("firstname", "lastname")}, defaults={"isdisabled": False}),
)
