"""Account: a company that is or may become a customer."""

from __future__ import annotations

from typing import Final

from crmbox.demo.attributes import (
    big_whole,
    boolean,
    choice,
    date,
    decimal,
    double,
    file,
    global_choice,
    image,
    lookup,
    memo,
    money,
    several,
    string,
    whole,
)
from crmbox.demo.entities.description import DemoEntity
from crmbox.demo.industry import industries
from crmbox.demo.labels import choices, label
from crmbox.demo.priority import PRIORITY
from crmbox.metadata import Extras
from crmclient.metadata import AlternateKey, Cascade, Entity, Relationship, RequiredLevel

_ENTITY: Final = Entity(
    "account",
    "accounts",
    label("Account", "Firma", "الحساب"),
    label("Accounts", "Firmen", "الحسابات"),
    primary_id="accountid",
    primary_name="name",
    description=label("Business that represents a customer or potential customer."),
    keys=(AlternateKey("accountnumber", ("accountnumber",)),),
    has_notes=True,
)

_RELATIONSHIP_TYPE: Final = choices(
    "account",
    "customertypecode",
    label("Relationship Type", "Beziehungstyp", "نوع العلاقة"),
    (1, "Competitor", "Mitbewerber", "منافس"),
    (2, "Consultant", "Berater", "استشاري"),
    (3, "Customer", "Kunde", "عميل"),
    (4, "Investor", "Investor", "مستثمر"),
    (5, "Partner", "Partner", "شريك"),
    (6, "Influencer", "Einflussnehmer", "صاحب تأثير"),
    (7, "Press", "Presse", "صحافة"),
    (8, "Prospect", "Interessent", "عميل متوقع"),
    (9, "Reseller", "Wiederverkäufer", "موزع"),
    (10, "Supplier", "Zulieferer", "مورّد"),
    (11, "Vendor", "Lieferant", "بائع"),
    (12, "Other", "Sonstige", "أخرى"),
)

_CATEGORY: Final = choices(
    "account",
    "accountcategorycode",
    label("Category", "Kategorie", "الفئة"),
    (1, "Preferred Customer", "Bevorzugter Kunde", "عميل مفضل"),
    (2, "Standard", "Standard", "قياسي"),
)

_OWNERSHIP: Final = choices(
    "account",
    "ownershipcode",
    label("Ownership", "Besitzverhältnis", "الملكية"),
    (1, "Public", "Öffentlich", "عامة"),
    (2, "Private", "Privat", "خاصة"),
    (3, "Subsidiary", "Tochtergesellschaft", "شركة تابعة"),
    (4, "Other", "Sonstige", "أخرى"),
)

_PAYMENT_TERMS: Final = choices(
    "account",
    "paymenttermscode",
    label("Payment Terms", "Zahlungsbedingungen", "شروط الدفع"),
    (1, "Net 30", "30 Tage netto", "صافي 30 يومًا"),
    (2, "2% 10, Net 30", "10 Tage 2 % Skonto, 30 Tage netto", "خصم 2% خلال 10 أيام، صافي 30 يومًا"),
    (3, "Net 45", "45 Tage netto", "صافي 45 يومًا"),
    (4, "Net 60", "60 Tage netto", "صافي 60 يومًا"),
)

_CONTACT_METHOD: Final = choices(
    "account",
    "preferredcontactmethodcode",
    label("Preferred Method of Contact", "Bevorzugte Kontaktmethode", "طريقة الاتصال المفضلة"),
    (1, "Any", "Beliebig", "أي طريقة"),
    (2, "Email", "E-Mail", "البريد الإلكتروني"),
    (3, "Phone", "Telefon", "الهاتف"),
    (4, "Fax", "Fax", "الفاكس"),
    (5, "Mail", "Post", "البريد"),
)

_INTERESTS: Final = choices(
    "account",
    "new_interests",
    label("Interests", "Interessen", "الاهتمامات"),
    (100000000, "Automation", "Automatisierung", "الأتمتة"),
    (100000001, "Cloud", "Cloud", "السحابة"),
    (100000002, "Field Service", "Außendienst", "الخدمة الميدانية"),
    (100000003, "Sustainability", "Nachhaltigkeit", "الاستدامة"),
    (100000004, "Training", "Schulung", "التدريب"),
)

_ATTRIBUTES: Final = (
    string(
        "name",
        160,
        label("Account Name", "Firmenname", "اسم الحساب"),
        required=RequiredLevel.APPLICATION,
        is_primary_name=True,
    ),
    string("accountnumber", 20, label("Account Number", "Firmennummer", "رقم الحساب")),
    string("telephone1", 50, label("Main Phone", "Telefon (Zentrale)", "الهاتف الرئيسي")),
    string("telephone2", 50, label("Other Phone", "Weiteres Telefon", "هاتف آخر")),
    string("fax", 50, label("Fax", "Fax", "الفاكس")),
    string("emailaddress1", 100, label("Email", "E-Mail", "البريد الإلكتروني")),
    string("websiteurl", 200, label("Website", "Website", "الموقع الإلكتروني")),
    string("tickersymbol", 10, label("Ticker Symbol", "Börsensymbol", "رمز السهم")),
    string("sic", 20, label("SIC Code", "Branchenschlüssel", "رمز التصنيف الصناعي")),
    money("revenue", label("Annual Revenue", "Jahresumsatz", "الإيرادات السنوية")),
    money("creditlimit", label("Credit Limit", "Kreditlimit", "حد الائتمان"), precision=2),
    money("marketcap", label("Market Capitalization", "Marktkapitalisierung", "القيمة السوقية"), precision=2),
    whole(
        "numberofemployees", label("Number of Employees", "Mitarbeiterzahl", "عدد الموظفين"), 0, 1_000_000_000
    ),
    choice("industrycode", industries("account")),
    choice("customertypecode", _RELATIONSHIP_TYPE),
    choice("accountcategorycode", _CATEGORY),
    choice("ownershipcode", _OWNERSHIP),
    choice("paymenttermscode", _PAYMENT_TERMS),
    choice("preferredcontactmethodcode", _CONTACT_METHOD),
    boolean(
        "donotemail", label("Do not allow Emails", "E-Mails nicht zulassen", "عدم السماح بالبريد الإلكتروني")
    ),
    boolean(
        "donotphone", label("Do not allow Phone Calls", "Anrufe nicht zulassen", "عدم السماح بالمكالمات")
    ),
    boolean("creditonhold", label("Credit Hold", "Kreditsperre", "تعليق الائتمان")),
    string("address1_line1", 250, label("Address 1: Street 1", "Adresse 1: Straße 1", "العنوان 1: الشارع 1")),
    string("address1_line2", 250, label("Address 1: Street 2", "Adresse 1: Straße 2", "العنوان 1: الشارع 2")),
    string("address1_line3", 250, label("Address 1: Street 3", "Adresse 1: Straße 3", "العنوان 1: الشارع 3")),
    string("address1_city", 80, label("Address 1: City", "Adresse 1: Ort", "العنوان 1: المدينة")),
    string(
        "address1_stateorprovince",
        50,
        label("Address 1: State/Province", "Adresse 1: Bundesland", "العنوان 1: الولاية/المقاطعة"),
    ),
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
    double(
        "address1_latitude",
        label("Address 1: Latitude", "Adresse 1: Breitengrad", "العنوان 1: خط العرض"),
        -90,
        90,
    ),
    double(
        "address1_longitude",
        label("Address 1: Longitude", "Adresse 1: Längengrad", "العنوان 1: خط الطول"),
        -180,
        180,
    ),
    lookup(
        "primarycontactid", label("Primary Contact", "Primärer Kontakt", "جهة الاتصال الأساسية"), "contact"
    ),
    lookup("parentaccountid", label("Parent Account", "Übergeordnete Firma", "الحساب الأصل"), "account"),
    memo("description", 2000, label("Description", "Beschreibung", "الوصف")),
    several("new_interests", _INTERESTS),
    global_choice("new_priority", PRIORITY),
    decimal("new_discount", label("Discount (%)", "Rabatt (%)", "الخصم (%)"), 10),
    date("new_customersince", label("Customer Since", "Kunde seit", "عميل منذ")),
    big_whole("new_legacynumber", label("Legacy Number", "Altsystem-Nummer", "الرقم القديم")),
    file("new_contract", label("Contract", "Vertrag", "العقد"), megabytes=128),
    image("new_logo", label("Logo", "Logo", "الشعار"), megabytes=10),
)

_RELATIONSHIPS: Final = (
    Relationship("account_primary_contact", "contact", "account", "primarycontactid"),
    Relationship(
        "account_parent_account",
        "account",
        "account",
        "parentaccountid",
        on_delete=Cascade.RESTRICT,
        is_hierarchical=True,
    ),
)

ACCOUNT: Final = DemoEntity(
    _ENTITY,
    _ATTRIBUTES,
    _RELATIONSHIPS,
    Extras(
        defaults={
            "donotemail": False,
            "donotphone": False,
            "creditonhold": False,
            "preferredcontactmethodcode": 1,
        }
    ),
)
