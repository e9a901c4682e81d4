"""Incident, which users know as a case: a customer's question or complaint."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import (
    boolean,
    choice,
    customer,
    global_choice,
    lookup,
    memo,
    moment,
    state,
    status,
    string,
)
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.labels import choices, label
from crmbox.demo.priority import PRIORITY
from crmbox.metadata import Extras
from crmclient.metadata import AlternateKey, Cascade, Entity, Option, OptionSet, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "incident",
    "incidents",
    label("Case", "Anfrage", "الحالة"),
    label("Cases", "Anfragen", "الحالات"),
    primary_id="incidentid",
    primary_name="title",
    description=label("Service request case associated with a contract."),
    keys=(AlternateKey("ticketnumber", ("ticketnumber",)),),
    has_notes=True,
)

_STATES: Final = OptionSet(
    "incident_statecode",
    label("Status", "Status", "الحالة"),
    (
        Option(0, label("Active", "Aktiv", "نشطة"), default_status=1),
        Option(1, label("Resolved", "Gelöst", "محلولة"), default_status=5),
        Option(2, label("Cancelled", "Abgebrochen", "ملغاة"), default_status=6),
    ),
    entity="incident",
)

_STATUSES: Final = OptionSet(
    "incident_statuscode",
    label("Status Reason", "Statusgrund", "سبب الحالة"),
    (
        Option(1, label("In Progress", "In Bearbeitung", "قيد التقدم"), state=0),
        Option(2, label("On Hold", "Zurückgestellt", "معلقة"), state=0),
        Option(3, label("Waiting for Details", "Wartet auf Details", "في انتظار التفاصيل"), state=0),
        Option(4, label("Researching", "In Recherche", "قيد البحث"), state=0),
        Option(5, label("Problem Solved", "Problem gelöst", "تم حل المشكلة"), state=1),
        Option(
            1000, label("Information Provided", "Information bereitgestellt", "تم تقديم المعلومات"), state=1
        ),
        Option(6, label("Cancelled", "Abgebrochen", "ملغاة"), state=2),
        Option(2000, label("Merged", "Zusammengeführt", "مدمجة"), state=2),
    ),
    entity="incident",
    inactive_states=frozenset({1, 2}),
)

_PRIORITY_CODE: Final = choices(
    "incident",
    "prioritycode",
    label("Priority", "Priorität", "الأولوية"),
    (1, "High", "Hoch", "مرتفعة"),
    (2, "Normal", "Normal", "عادية"),
    (3, "Low", "Niedrig", "منخفضة"),
)

_ORIGIN: Final = choices(
    "incident",
    "caseorigincode",
    label("Origin", "Ursprung", "المصدر"),
    (1, "Phone", "Telefon", "الهاتف"),
    (2, "Email", "E-Mail", "البريد الإلكتروني"),
    (3, "Web", "Web", "الويب"),
    (2483, "Facebook", "Facebook", "فيسبوك"),
    (3986, "X", "X", "إكس"),
)

_CASE_TYPE: Final = choices(
    "incident",
    "casetypecode",
    label("Case Type", "Anfragetyp", "نوع الحالة"),
    (1, "Question", "Frage", "سؤال"),
    (2, "Problem", "Problem", "مشكلة"),
    (3, "Request", "Anforderung", "طلب"),
)

_SATISFACTION: Final = choices(
    "incident",
    "customersatisfactioncode",
    label("Satisfaction", "Zufriedenheit", "الرضا"),
    (5, "Very Satisfied", "Sehr zufrieden", "راضٍ جدًا"),
    (4, "Satisfied", "Zufrieden", "راضٍ"),
    (3, "Neutral", "Neutral", "محايد"),
    (2, "Dissatisfied", "Unzufrieden", "غير راضٍ"),
    (1, "Very Dissatisfied", "Sehr unzufrieden", "غير راضٍ إطلاقًا"),
)

_ATTRIBUTES: Final = (
    state(_STATES),
    status(_STATUSES),
    string(
        "title",
        200,
        label("Case Title", "Anfragetitel", "عنوان الحالة"),
        required=RequiredLevel.APPLICATION,
        is_primary_name=True,
    ),
    string("ticketnumber", 100, label("Case Number", "Anfragenummer", "رقم الحالة")),
    customer("customerid", label("Customer", "Kunde", "العميل"), required=RequiredLevel.APPLICATION),
    lookup("primarycontactid", label("Contact", "Kontakt", "جهة الاتصال"), "contact"),
    lookup("new_companyid", label("Company", "Firma", "الشركة"), "account"),
    lookup("parentcaseid", label("Parent Case", "Übergeordnete Anfrage", "الحالة الأصل"), "incident"),
    choice("prioritycode", _PRIORITY_CODE),
    choice("caseorigincode", _ORIGIN),
    choice("casetypecode", _CASE_TYPE),
    choice("customersatisfactioncode", _SATISFACTION),
    boolean("isescalated", label("Is Escalated", "Ist eskaliert", "تم التصعيد")),
    moment("escalatedon", label("Escalated On", "Eskaliert am", "تاريخ التصعيد")),
    moment("followupby", label("Follow Up By", "Nachfassen bis", "المتابعة قبل")),
    memo("description", 2000, label("Description", "Beschreibung", "الوصف")),
    global_choice("new_priority", PRIORITY),
)

_RELATIONSHIPS: Final = (
    Relationship("incident_customer_accounts", "account", "incident", "customerid", on_delete=Cascade.DELETE),
    Relationship("incident_customer_contacts", "contact", "incident", "customerid", on_delete=Cascade.DELETE),
    Relationship("contact_as_primary_contact", "contact", "incident", "primarycontactid"),
    Relationship("new_account_incidents", "account", "incident", "new_companyid"),
    Relationship("incident_parent_incident", "incident", "incident", "parentcaseid"),
)

INCIDENT: Final = DemoEntity(
    _ENTITY,
    _ATTRIBUTES,
    _RELATIONSHIPS,
    Extras(
        defaults={"isescalated": False, "prioritycode": 2},
        auto_numbers={"ticketnumber": "CAS-{DATETIMEUTC:yyMMdd}-{RANDSTRING:6}"},
    ),
)
