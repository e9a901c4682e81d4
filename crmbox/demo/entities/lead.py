"""Lead: someone who may become a customer, before anybody has checked."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import (
    boolean,
    choice,
    customer,
    date,
    global_choice,
    lookup,
    memo,
    money,
    state,
    status,
    string,
    whole,
)
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.industry import industries
from crmbox.demo.labels import choices, label
from crmbox.demo.priority import PRIORITY
from crmbox.metadata import Extras
from crmclient.metadata import Entity, Option, OptionSet, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "lead",
    "leads",
    label("Lead", "Lead", "العميل المتوقع"),
    label("Leads", "Leads", "العملاء المتوقعون"),
    primary_id="leadid",
    primary_name="fullname",
    description=label("Prospect or potential sales opportunity."),
    has_notes=True,
)

_STATES: Final = OptionSet(
    "lead_statecode",
    label("Status", "Status", "الحالة"),
    (
        Option(0, label("Open", "Offen", "مفتوح"), default_status=1),
        Option(1, label("Qualified", "Qualifiziert", "مؤهل"), default_status=3),
        Option(2, label("Disqualified", "Disqualifiziert", "غير مؤهل"), default_status=4),
    ),
    entity="lead",
)

_STATUSES: Final = OptionSet(
    "lead_statuscode",
    label("Status Reason", "Statusgrund", "سبب الحالة"),
    (
        Option(1, label("New", "Neu", "جديد"), state=0),
        Option(2, label("Contacted", "Kontaktiert", "تم الاتصال"), state=0),
        Option(3, label("Qualified", "Qualifiziert", "مؤهل"), state=1),
        Option(4, label("Lost", "Verloren", "مفقود"), state=2),
        Option(5, label("Cannot Contact", "Nicht erreichbar", "لا يمكن الاتصال"), state=2),
        Option(6, label("No Longer Interested", "Kein Interesse mehr", "لم يعد مهتمًا"), state=2),
        Option(7, label("Canceled", "Abgebrochen", "ملغى"), state=2),
    ),
    entity="lead",
    inactive_states=frozenset({1, 2}),
)

_SOURCE: Final = choices(
    "lead",
    "leadsourcecode",
    label("Lead Source", "Leadquelle", "مصدر العميل المتوقع"),
    (1, "Advertisement", "Werbung", "إعلان"),
    (2, "Employee Referral", "Mitarbeiterempfehlung", "إحالة موظف"),
    (3, "External Referral", "Externe Empfehlung", "إحالة خارجية"),
    (4, "Partner", "Partner", "شريك"),
    (5, "Public Relations", "Öffentlichkeitsarbeit", "العلاقات العامة"),
    (6, "Seminar", "Seminar", "ندوة"),
    (7, "Trade Show", "Messe", "معرض تجاري"),
    (8, "Web", "Web", "الويب"),
    (9, "Word of Mouth", "Mundpropaganda", "توصية شفهية"),
    (10, "Other", "Sonstige", "أخرى"),
)

_RATING: Final = choices(
    "lead",
    "leadqualitycode",
    label("Rating", "Bewertung", "التصنيف"),
    (1, "Hot", "Heiß", "ساخن"),
    (2, "Warm", "Warm", "دافئ"),
    (3, "Cold", "Kalt", "بارد"),
)

_ATTRIBUTES: Final = (
    state(_STATES),
    status(_STATUSES),
    string("subject", 300, label("Topic", "Thema", "الموضوع"), required=RequiredLevel.APPLICATION),
    string(
        "firstname", 50, label("First Name", "Vorname", "الاسم الأول"), required=RequiredLevel.RECOMMENDED
    ),
    string("lastname", 50, label("Last Name", "Nachname", "اسم العائلة"), required=RequiredLevel.APPLICATION),
    string(
        "fullname",
        160,
        label("Name", "Name", "الاسم"),
        is_primary_name=True,
        creatable=False,
        updatable=False,
    ),
    string("companyname", 100, label("Company Name", "Firmenname", "اسم الشركة")),
    string("jobtitle", 100, label("Job Title", "Position", "المسمى الوظيفي")),
    string("emailaddress1", 100, label("Email", "E-Mail", "البريد الإلكتروني")),
    string("telephone1", 50, label("Business Phone", "Telefon (geschäftlich)", "هاتف العمل")),
    string("mobilephone", 50, label("Mobile Phone", "Mobiltelefon", "الهاتف المحمول")),
    string("websiteurl", 200, label("Website", "Website", "الموقع الإلكتروني")),
    string("address1_city", 80, label("City", "Ort", "المدينة")),
    string("address1_country", 80, label("Country/Region", "Land/Region", "البلد/المنطقة")),
    choice("leadsourcecode", _SOURCE),
    choice("leadqualitycode", _RATING),
    choice("industrycode", industries("lead")),
    money("revenue", label("Annual Revenue", "Jahresumsatz", "الإيرادات السنوية"), precision=2),
    money("estimatedamount", label("Est. Value", "Geschätzter Wert", "القيمة المقدرة"), precision=2),
    whole("numberofemployees", label("No. of Employees", "Mitarbeiterzahl", "عدد الموظفين"), 0, 1_000_000),
    date(
        "estimatedclosedate", label("Est. Close Date", "Geschätztes Abschlussdatum", "تاريخ الإغلاق المقدر")
    ),
    boolean(
        "donotemail", label("Do not allow Emails", "E-Mails nicht zulassen", "عدم السماح بالبريد الإلكتروني")
    ),
    customer("customerid", label("Customer", "Kunde", "العميل")),
    lookup(
        "parentaccountid",
        label("Parent Account for lead", "Firma des Leads", "حساب العميل المتوقع"),
        "account",
    ),
    lookup(
        "parentcontactid",
        label("Parent Contact for lead", "Kontakt des Leads", "جهة اتصال العميل المتوقع"),
        "contact",
    ),
    memo("description", 2000, label("Description", "Beschreibung", "الوصف")),
    global_choice("new_priority", PRIORITY),
)

_RELATIONSHIPS: Final = (
    Relationship("lead_customer_accounts", "account", "lead", "customerid"),
    Relationship("lead_customer_contacts", "contact", "lead", "customerid"),
    Relationship("lead_parent_account", "account", "lead", "parentaccountid"),
    Relationship("lead_parent_contact", "contact", "lead", "parentcontactid"),
)

LEAD: Final = DemoEntity(
    _ENTITY,
    _ATTRIBUTES,
    _RELATIONSHIPS,
    Extras(
        joined={"fullname": ("firstname", "lastname")}, defaults={"donotemail": False, "leadqualitycode": 2}
    ),
)
