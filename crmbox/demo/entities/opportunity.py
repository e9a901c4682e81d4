"""Opportunity: a sale that may come, with its value and its day."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import (
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
from crmbox.demo.labels import choices, label
from crmbox.demo.priority import PRIORITY
from crmbox.metadata import Extras
from crmclient.metadata import Cascade, Entity, Option, OptionSet, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "opportunity",
    "opportunities",
    label("Opportunity", "Verkaufschance", "الفرصة"),
    label("Opportunities", "Verkaufschancen", "الفرص"),
    primary_id="opportunityid",
    primary_name="name",
    description=label("Potential revenue-generating event, or sale to an account."),
    has_notes=True,
)

_STATES: Final = OptionSet(
    "opportunity_statecode",
    label("Status", "Status", "الحالة"),
    (
        Option(0, label("Open", "Offen", "مفتوحة"), default_status=1),
        Option(1, label("Won", "Gewonnen", "رابحة"), default_status=3),
        Option(2, label("Lost", "Verloren", "خاسرة"), default_status=4),
    ),
    entity="opportunity",
)

_STATUSES: Final = OptionSet(
    "opportunity_statuscode",
    label("Status Reason", "Statusgrund", "سبب الحالة"),
    (
        Option(1, label("In Progress", "In Bearbeitung", "قيد التقدم"), state=0),
        Option(2, label("On Hold", "Zurückgestellt", "معلقة"), state=0),
        Option(3, label("Won", "Gewonnen", "رابحة"), state=1),
        Option(4, label("Canceled", "Abgebrochen", "ملغاة"), state=2),
        Option(5, label("Out-Sold", "An Mitbewerber verloren", "بيعت لمنافس"), state=2),
    ),
    entity="opportunity",
    inactive_states=frozenset({1, 2}),
)

_RATING: Final = choices(
    "opportunity",
    "opportunityratingcode",
    label("Rating", "Bewertung", "التصنيف"),
    (1, "Hot", "Heiß", "ساخن"),
    (2, "Warm", "Warm", "دافئ"),
    (3, "Cold", "Kalt", "بارد"),
)

_STAGE: Final = choices(
    "opportunity",
    "salesstage",
    label("Sales Stage", "Vertriebsphase", "مرحلة المبيعات"),
    (0, "Qualify", "Qualifizieren", "تأهيل"),
    (1, "Develop", "Entwickeln", "تطوير"),
    (2, "Propose", "Anbieten", "اقتراح"),
    (3, "Close", "Abschließen", "إغلاق"),
)

_ATTRIBUTES: Final = (
    state(_STATES),
    status(_STATUSES),
    string(
        "name",
        300,
        label("Topic", "Thema", "الموضوع"),
        required=RequiredLevel.APPLICATION,
        is_primary_name=True,
    ),
    customer("customerid", label("Potential Customer", "Potenzieller Kunde", "العميل المحتمل")),
    lookup("parentaccountid", label("Account", "Firma", "الحساب"), "account"),
    lookup("parentcontactid", label("Contact", "Kontakt", "جهة الاتصال"), "contact"),
    lookup("originatingleadid", label("Originating Lead", "Ursprungslead", "العميل المتوقع الأصلي"), "lead"),
    money("estimatedvalue", label("Est. Revenue", "Geschätzter Umsatz", "الإيرادات المقدرة")),
    money("actualvalue", label("Actual Revenue", "Tatsächlicher Umsatz", "الإيرادات الفعلية")),
    money("budgetamount", label("Budget Amount", "Budget", "مبلغ الميزانية"), precision=2),
    date(
        "estimatedclosedate", label("Est. Close Date", "Geschätztes Abschlussdatum", "تاريخ الإغلاق المقدر")
    ),
    date(
        "actualclosedate", label("Actual Close Date", "Tatsächliches Abschlussdatum", "تاريخ الإغلاق الفعلي")
    ),
    whole("closeprobability", label("Probability", "Wahrscheinlichkeit", "الاحتمالية"), 0, 100),
    choice("opportunityratingcode", _RATING),
    choice("salesstage", _STAGE),
    memo("description", 2000, label("Description", "Beschreibung", "الوصف")),
    memo("currentsituation", 2000, label("Current Situation", "Aktuelle Situation", "الوضع الحالي")),
    global_choice("new_priority", PRIORITY),
)

_RELATIONSHIPS: Final = (
    Relationship(
        "opportunity_customer_accounts", "account", "opportunity", "customerid", on_delete=Cascade.RESTRICT
    ),
    Relationship(
        "opportunity_customer_contacts", "contact", "opportunity", "customerid", on_delete=Cascade.RESTRICT
    ),
    Relationship("opportunity_parent_account", "account", "opportunity", "parentaccountid"),
    Relationship("opportunity_parent_contact", "contact", "opportunity", "parentcontactid"),
    Relationship("opportunity_originating_lead", "lead", "opportunity", "originatingleadid"),
)

OPPORTUNITY: Final = DemoEntity(
    _ENTITY,
    _ATTRIBUTES,
    _RELATIONSHIPS,
    Extras(defaults={"opportunityratingcode": 2}),
)
