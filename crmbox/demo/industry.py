"""The platform's own industries, which accounts and leads share value by value."""

from __future__ import annotations

from typing import Final

from crmbox.demo.labels import choices, label
from crmclient.metadata import OptionSet

_ROWS: Final = (
    (1, "Accounting", "Rechnungswesen", "المحاسبة"),
    (
        2,
        "Agriculture and Non-petrol Natural Resource Extraction",
        "Landwirtschaft und Rohstoffgewinnung (ohne Erdöl)",
        "الزراعة واستخراج الموارد الطبيعية غير البترولية",
    ),
    (3, "Broadcasting Printing and Publishing", "Rundfunk, Druck und Verlagswesen", "البث والطباعة والنشر"),
    (4, "Brokers", "Makler", "الوسطاء"),
    (
        5,
        "Building Supply Retail",
        "Einzelhandel mit Baustoffen",
        "بيع مواد البناء بالتجزئة",
    ),
    (6, "Business Services", "Unternehmensdienstleistungen", "خدمات الأعمال"),
    (7, "Consulting", "Beratung", "الاستشارات"),
    (8, "Consumer Services", "Verbraucherdienstleistungen", "خدمات المستهلكين"),
    (
        9,
        "Design, Direction and Creative Management",
        "Design, Regie und kreative Leitung",
        "التصميم والتوجيه والإدارة الإبداعية",
    ),
    (
        10,
        "Distributors, Dispatchers and Processors",
        "Vertrieb, Versand und Verarbeitung",
        "الموزعون والمرسلون والمعالجون",
    ),
    (11, "Doctor's Offices and Clinics", "Arztpraxen und Kliniken", "عيادات الأطباء والمستوصفات"),
    (12, "Durable Manufacturing", "Herstellung langlebiger Güter", "تصنيع السلع المعمرة"),
    (13, "Eating and Drinking Places", "Gastronomie", "المطاعم والمقاهي"),
    (14, "Entertainment Retail", "Einzelhandel mit Unterhaltungsartikeln", "بيع منتجات الترفيه بالتجزئة"),
    (15, "Equipment Rental and Leasing", "Vermietung und Leasing von Geräten", "تأجير المعدات"),
    (16, "Financial", "Finanzwesen", "القطاع المالي"),
    (17, "Food and Tobacco Processing", "Lebensmittel- und Tabakverarbeitung", "معالجة الأغذية والتبغ"),
    (
        18,
        "Inbound Capital Intensive Processing",
        "Kapitalintensive Verarbeitung (Eingang)",
        "المعالجة الواردة كثيفة رأس المال",
    ),
    (19, "Inbound Repair and Services", "Reparatur und Service (Eingang)", "خدمات الإصلاح الواردة"),
    (20, "Insurance", "Versicherung", "التأمين"),
    (21, "Legal Services", "Rechtsberatung", "الخدمات القانونية"),
    (
        22,
        "Non-Durable Merchandise Retail",
        "Einzelhandel mit kurzlebigen Gütern",
        "بيع السلع غير المعمرة بالتجزئة",
    ),
    (23, "Outbound Consumer Service", "Verbraucherservice vor Ort", "خدمة المستهلك الخارجية"),
    (
        24,
        "Petrochemical Extraction and Distribution",
        "Petrochemische Förderung und Verteilung",
        "استخراج وتوزيع البتروكيماويات",
    ),
    (25, "Service Retail", "Dienstleistungseinzelhandel", "تجزئة الخدمات"),
    (26, "SIG Affiliations", "Interessenverbände", "الجمعيات المهنية"),
    (27, "Social Services", "Soziale Dienste", "الخدمات الاجتماعية"),
    (
        28,
        "Special Outbound Trade Contractors",
        "Spezialhandwerk vor Ort",
        "مقاولو الأعمال المتخصصة الخارجية",
    ),
    (29, "Specialty Realty", "Spezialimmobilien", "العقارات المتخصصة"),
    (30, "Transportation", "Transport", "النقل"),
    (
        31,
        "Utility Creation and Distribution",
        "Energieerzeugung und -versorgung",
        "إنتاج وتوزيع المرافق",
    ),
    (32, "Vehicle Retail", "Fahrzeugeinzelhandel", "بيع المركبات بالتجزئة"),
    (33, "Wholesale", "Großhandel", "البيع بالجملة"),
)


def industries(entity: str) -> OptionSet:
    return choices(entity, "industrycode", label("Industry", "Branche", "القطاع"), *_ROWS)
