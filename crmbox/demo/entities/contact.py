"""Contact: a person, usually at an account."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import (
    attribute,
    boolean,
    choice,
    customer,
    date,
    global_choice,
    image,
    lookup,
    memo,
    money,
    string,
    whole,
)
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import choices, label
from crmbox.demo.priority import PRIORITY
from crmbox.metadata import Extras
from crmclient.metadata import AttributeType, Cascade, Entity, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "contact",
    "contacts",
    label("Contact", "Kontakt", "جهة الاتصال"),
    label("Contacts", "Kontakte", "جهات الاتصال"),
    primary_id="contactid",
    primary_name="fullname",
    description=label("Person with whom a business unit has a relationship."),
    has_notes=True,
)

_GENDER: Final = choices(
    "contact",
    "gendercode",
    label("Gender", "Geschlecht", "الجنس"),
    (1, "Male", "Männlich", "ذكر"),
    (2, "Female", "Weiblich", "أنثى"),
)

_MARITAL_STATUS: Final = choices(
    "contact",
    "familystatuscode",
    label("Marital Status", "Familienstand", "الحالة الاجتماعية"),
    (1, "Single", "Ledig", "أعزب"),
    (2, "Married", "Verheiratet", "متزوج"),
    (3, "Divorced", "Geschieden", "مطلق"),
    (4, "Widowed", "Verwitwet", "أرمل"),
)

_ROLE: Final = choices(
    "contact",
    "accountrolecode",
    label("Role", "Rolle", "الدور"),
    (1, "Decision Maker", "Entscheidungsträger", "صانع القرار"),
    (2, "Employee", "Mitarbeiter", "موظف"),
    (3, "Influencer", "Einflussnehmer", "صاحب تأثير"),
)

_ATTRIBUTES: Final = (
    string(
        "firstname", 50, label("First Name", "Vorname", "الاسم الأول"), required=RequiredLevel.RECOMMENDED
    ),
    string("middlename", 50, label("Middle Name", "Zweiter Vorname", "الاسم الأوسط")),
    string("lastname", 50, label("Last Name", "Nachname", "اسم العائلة"), required=RequiredLevel.APPLICATION),
    string(
        "fullname",
        160,
        label("Full Name", "Vollständiger Name", "الاسم الكامل"),
        is_primary_name=True,
        creatable=False,
        updatable=False,
    ),
    string("jobtitle", 100, label("Job Title", "Position", "المسمى الوظيفي")),
    string("department", 100, label("Department", "Abteilung", "القسم")),
    string("emailaddress1", 100, label("Email", "E-Mail", "البريد الإلكتروني")),
    string("emailaddress2", 100, label("Email Address 2", "E-Mail-Adresse 2", "البريد الإلكتروني 2")),
    string("telephone1", 50, label("Business Phone", "Telefon (geschäftlich)", "هاتف العمل")),
    string("mobilephone", 50, label("Mobile Phone", "Mobiltelefon", "الهاتف المحمول")),
    string("websiteurl", 200, label("Website", "Website", "الموقع الإلكتروني")),
    choice("gendercode", _GENDER),
    choice("familystatuscode", _MARITAL_STATUS),
    choice("accountrolecode", _ROLE),
    date("birthdate", label("Birthday", "Geburtstag", "تاريخ الميلاد")),
    date("anniversary", label("Anniversary", "Jahrestag", "الذكرى السنوية")),
    money("creditlimit", label("Credit Limit", "Kreditlimit", "حد الائتمان"), precision=2),
    whole("numberofchildren", label("No. of Children", "Anzahl der Kinder", "عدد الأطفال"), 0, 1_000_000_000),
    boolean(
        "donotemail", label("Do not allow Emails", "E-Mails nicht zulassen", "عدم السماح بالبريد الإلكتروني")
    ),
    boolean(
        "donotphone", label("Do not allow Phone Calls", "Anrufe nicht zulassen", "عدم السماح بالمكالمات")
    ),
    string("address1_line1", 250, label("Address 1: Street 1", "Adresse 1: Straße 1", "العنوان 1: الشارع 1")),
    string("address1_city", 80, label("Address 1: City", "Adresse 1: Ort", "العنوان 1: المدينة")),
    string(
        "address1_postalcode",
        20,
        label("Address 1: ZIP/Postal Code", "Adresse 1: PLZ", "العنوان 1: الرمز البريدي"),
    ),
    string(
        "address1_country",
        80,
        label("Address 1: Country/Region", "Adresse 1: Land/Region", "العنوان 1: البلد/المنطقة"),
    ),
    customer("parentcustomerid", label("Company Name", "Firmenname", "اسم الشركة")),
    lookup(
        "preferredsystemuserid",
        label("Preferred User", "Bevorzugter Benutzer", "المستخدم المفضل"),
        "systemuser",
    ),
    memo("description", 2000, label("Description", "Beschreibung", "الوصف")),
    image("entityimage", label("Contact Image", "Kontaktbild", "صورة جهة الاتصال"), megabytes=10),
    global_choice("new_priority", PRIORITY),
    attribute(
        "new_externalid", AttributeType.UNIQUEIDENTIFIER, label("External ID", "Externe ID", "المعرّف الخارجي")
    ),
)

_RELATIONSHIPS: Final = (
    Relationship(
        "contact_customer_accounts", "account", "contact", "parentcustomerid", on_delete=Cascade.DELETE
    ),
    Relationship(
        "contact_customer_contacts", "contact", "contact", "parentcustomerid", on_delete=Cascade.DELETE
    ),
    Relationship("system_user_contacts", "systemuser", "contact", "preferredsystemuserid"),
)

CONTACT: Final = DemoEntity(
    _ENTITY,
    _ATTRIBUTES,
    _RELATIONSHIPS,
    Extras(
        joined={"fullname": ("firstname", "lastname")},
        defaults={"donotemail": False, "donotphone": False},
        thumbnails=frozenset({"entityimage"}),
    ),
)
