"""The countries of the demo's companies and people, with cities and names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Locale:
    """`cities` are (city, postal code); `company` is a pattern for a stem's full name."""

    country: str
    dialling_code: str
    cities: tuple[tuple[str, str], ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    stems: tuple[str, ...]
    company: str


UNITED_KINGDOM: Final = Locale(
    "United Kingdom",
    "+44",
    (("London", "EC2A 4BX"), ("Leeds", "LS1 4AP"), ("Bristol", "BS1 6QF"), ("Edinburgh", "EH2 4LL")),
    ("Olivia", "George", "Amelia", "Harry", "Isla", "Oscar", "Freya", "Arthur", "Siân", "Rhys"),
    ("Smith", "O'Neill", "Taylor", "Brown", "MacDonald", "Evans", "Walker", "Hughes-Clarke", "Green", "Hall"),
    ("Fourth Coffee", "Coho Winery", "Thornbury Mills", "Blue Yonder", "Alpine Ski House", "Northgate Tools"),
    "{} Ltd",
)
UNITED_STATES: Final = Locale(
    "United States",
    "+1",
    (("Seattle", "98101"), ("Austin", "78701"), ("Boston", "02108"), ("Chicago", "60601")),
    ("Emma", "Liam", "Ava", "Noah", "Sophia", "Mason", "Mia", "Ethan", "Harper", "Logan"),
    ("Johnson", "Williams", "Garcia", "Miller", "Davis", "Martinez", "Anderson", "Thomas", "Moore", "Lee"),
    ("Adventure Works", "Litware", "Trey Research", "Wide World", "Lakeside Dental", "Proseware"),
    "{} Inc.",
)
GERMANY: Final = Locale(
    "Germany",
    "+49",
    (("Berlin", "10115"), ("München", "80331"), ("Köln", "50667"), ("Düsseldorf", "40213")),
    ("Jürgen", "Anke", "Björn", "Sabine", "Lukas", "Käthe", "Stefan", "Ute", "Matthias", "Jörg"),
    ("Müller", "Weiß", "Schäfer", "Groß", "Köhler", "Bäcker", "Fuchs", "Strauß", "Vogel", "Krüger"),
    (
        "Straßenbau Weser",
        "Bäckerei Krüger",
        "Maschinenbau Süd",
        "Möbelhaus Grün",
        "Elbe Logistik",
        "Rhein-Öl",
    ),
    "{} GmbH",
)
FRANCE: Final = Locale(
    "France",
    "+33",
    (("Paris", "75002"), ("Lyon", "69001"), ("Orléans", "45000"), ("Besançon", "25000")),
    ("Élodie", "François", "Chloé", "Hélène", "Étienne", "Maël", "Zoë", "Loïc", "Inès", "Benoît"),
    ("Lefèvre", "Dupont", "Garnier", "Faÿ", "Rousseau", "Benoît", "Mercier", "Besnard", "Chevalier", "Noël"),
    ("Crêperie du Port", "Ateliers Hélios", "Bâtir Ensemble", "L'Œuf d'Or", "Forêts du Jura", "Vins d'Anjou"),
    "{} SARL",
)
SPAIN: Final = Locale(
    "Spain",
    "+34",
    (("Madrid", "28013"), ("Sevilla", "41001"), ("A Coruña", "15001"), ("Málaga", "29005")),
    ("Lucía", "Álvaro", "María", "Íñigo", "Begoña", "Raúl", "Ángela", "Nuño", "Inés", "Joaquín"),
    ("Núñez", "García", "Ibáñez", "Peña", "Muñoz", "Castro", "Domínguez", "Vázquez", "León", "Rubio"),
    (
        "Cañas y Peña",
        "Olivares del Sur",
        "Astilleros Coruña",
        "Cerámica Triana",
        "Montaña Verde",
        "Energía Ñ",
    ),
    "{}, S.L.",
)
EGYPT: Final = Locale(
    "Egypt",
    "+20",
    (("القاهرة", "11511"), ("الإسكندرية", "21500"), ("الجيزة", "12511"), ("أسوان", "81511")),
    ("أحمد", "فاطمة", "محمود", "مريم", "يوسف", "نور", "خالد", "سلمى", "عمر", "هدى"),
    ("حسن", "عبد الله", "السيد", "إبراهيم", "منصور", "الشريف", "فؤاد", "سالم", "رشدي", "قنديل"),
    ("النيل للتجارة", "الأهرام للمقاولات", "واحة التقنية", "الدلتا للأغذية", "نور للطاقة", "المتحدة للنقل"),
    "شركة {}",
)
JAPAN: Final = Locale(
    "Japan",
    "+81",
    (("東京", "100-0001"), ("大阪", "530-0001"), ("京都", "600-8001"), ("札幌", "060-0001")),
    ("さくら", "健太", "美咲", "翔", "陽菜", "大輔", "結衣", "直樹", "愛", "拓也"),
    ("佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤"),
    ("富士工業", "さくら食品", "東洋物流", "山本電機", "北海水産", "京都織物"),
    "{}株式会社",
)
CHINA: Final = Locale(
    "China",
    "+86",
    (("上海", "200000"), ("北京", "100000"), ("深圳", "518000"), ("成都", "610000")),
    ("伟", "芳", "娜", "敏", "静", "磊", "洋", "艳", "勇", "杰"),
    ("王", "李", "张", "刘", "陈", "杨", "黄", "赵", "吴", "周"),
    ("长江科技", "东方贸易", "金龙制造", "华夏能源", "天府食品", "海蓝物流"),
    "{}有限公司",
)
POLAND: Final = Locale(
    "Poland",
    "+48",
    (("Warszawa", "00-001"), ("Kraków", "30-001"), ("Łódź", "90-001"), ("Gdańsk", "80-001")),
    ("Zofia", "Paweł", "Małgorzata", "Łukasz", "Agnieszka", "Michał", "Róża", "Wojciech", "Żaneta", "Jan"),
    (
        "Wójcik",
        "Kowalska",
        "Zieliński",
        "Wiśniewska",
        "Dąbrowski",
        "Łuczak",
        "Śliwa",
        "Nowak",
        "Źrebiec",
        "Górska",
    ),
    ("Żuraw Transport", "Młyn Łódzki", "Bałtyk Stocznia", "Śląska Stal", "Dąb Meble", "Wisła Foods"),
    "{} sp. z o.o.",
)
TURKEY: Final = Locale(
    "Türkiye",
    "+90",
    (("İstanbul", "34000"), ("Ankara", "06000"), ("İzmir", "35000"), ("Muğla", "48000")),
    ("Ayşe", "Işıl", "Çağrı", "Gökhan", "Şule", "Umut", "İpek", "Oğuz", "Defne", "Ümit"),
    ("Yılmaz", "Şahin", "Öztürk", "Çelik", "Işık", "Güneş", "Kılıç", "Aydın", "Doğan", "İnan"),
    ("Boğaziçi Tekstil", "Ilgaz Gıda", "Işık Enerji", "Çınar İnşaat", "Şahin Lojistik", "Göl Seramik"),
    "{} A.Ş.",
)

LOCALES: Final = (
    UNITED_KINGDOM,
    UNITED_STATES,
    GERMANY,
    FRANCE,
    SPAIN,
    EGYPT,
    JAPAN,
    CHINA,
    POLAND,
    TURKEY,
)
