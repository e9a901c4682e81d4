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
    country="United Kingdom",
    dialling_code="+44",
    cities=(("London", "EC2A 4BX"), ("Leeds", "LS1 4AP"), ("Bristol", "BS1 6QF"), ("Edinburgh", "EH2 4LL")),
    first_names=("Olivia", "George", "Amelia", "Harry", "Isla", "Oscar", "Freya", "Arthur", "Siân", "Rhys"),
    last_names=(
        "Smith",
        "O'Neill",
        "Taylor",
        "Brown",
        "MacDonald",
        "Evans",
        "Walker",
        "Hughes-Clarke",
        "Green",
        "Hall",
    ),
    stems=(
        "Fourth Coffee",
        "Coho Winery",
        "Thornbury Mills",
        "Blue Yonder",
        "Alpine Ski House",
        "Northgate Tools",
    ),
    company="{} Ltd",
)
UNITED_STATES: Final = Locale(
    country="United States",
    dialling_code="+1",
    cities=(("Seattle", "98101"), ("Austin", "78701"), ("Boston", "02108"), ("Chicago", "60601")),
    first_names=("Emma", "Liam", "Ava", "Noah", "Sophia", "Mason", "Mia", "Ethan", "Harper", "Logan"),
    last_names=(
        "Johnson",
        "Williams",
        "Garcia",
        "Miller",
        "Davis",
        "Martinez",
        "Anderson",
        "Thomas",
        "Moore",
        "Lee",
    ),
    stems=("Adventure Works", "Litware", "Trey Research", "Wide World", "Lakeside Dental", "Proseware"),
    company="{} Inc.",
)
GERMANY: Final = Locale(
    country="Germany",
    dialling_code="+49",
    cities=(("Berlin", "10115"), ("München", "80331"), ("Köln", "50667"), ("Düsseldorf", "40213")),
    first_names=("Jürgen", "Anke", "Björn", "Sabine", "Lukas", "Käthe", "Stefan", "Ute", "Matthias", "Jörg"),
    last_names=(
        "Müller",
        "Weiß",
        "Schäfer",
        "Groß",
        "Köhler",
        "Bäcker",
        "Fuchs",
        "Strauß",
        "Vogel",
        "Krüger",
    ),
    stems=(
        "Straßenbau Weser",
        "Bäckerei Krüger",
        "Maschinenbau Süd",
        "Möbelhaus Grün",
        "Elbe Logistik",
        "Rhein-Öl",
    ),
    company="{} GmbH",
)
FRANCE: Final = Locale(
    country="France",
    dialling_code="+33",
    cities=(("Paris", "75002"), ("Lyon", "69001"), ("Orléans", "45000"), ("Besançon", "25000")),
    first_names=("Élodie", "François", "Chloé", "Hélène", "Étienne", "Maël", "Zoë", "Loïc", "Inès", "Benoît"),
    last_names=(
        "Lefèvre",
        "Dupont",
        "Garnier",
        "Faÿ",
        "Rousseau",
        "Benoît",
        "Mercier",
        "Besnard",
        "Chevalier",
        "Noël",
    ),
    stems=(
        "Crêperie du Port",
        "Ateliers Hélios",
        "Bâtir Ensemble",
        "L'Œuf d'Or",
        "Forêts du Jura",
        "Vins d'Anjou",
    ),
    company="{} SARL",
)
SPAIN: Final = Locale(
    country="Spain",
    dialling_code="+34",
    cities=(("Madrid", "28013"), ("Sevilla", "41001"), ("A Coruña", "15001"), ("Málaga", "29005")),
    first_names=("Lucía", "Álvaro", "María", "Íñigo", "Begoña", "Raúl", "Ángela", "Nuño", "Inés", "Joaquín"),
    last_names=(
        "Núñez",
        "García",
        "Ibáñez",
        "Peña",
        "Muñoz",
        "Castro",
        "Domínguez",
        "Vázquez",
        "León",
        "Rubio",
    ),
    stems=(
        "Cañas y Peña",
        "Olivares del Sur",
        "Astilleros Coruña",
        "Cerámica Triana",
        "Montaña Verde",
        "Energía Ñ",
    ),
    company="{}, S.L.",
)
EGYPT: Final = Locale(
    country="Egypt",
    dialling_code="+20",
    cities=(("القاهرة", "11511"), ("الإسكندرية", "21500"), ("الجيزة", "12511"), ("أسوان", "81511")),
    first_names=("أحمد", "فاطمة", "محمود", "مريم", "يوسف", "نور", "خالد", "سلمى", "عمر", "هدى"),
    last_names=("حسن", "عبد الله", "السيد", "إبراهيم", "منصور", "الشريف", "فؤاد", "سالم", "رشدي", "قنديل"),
    stems=(
        "النيل للتجارة",
        "الأهرام للمقاولات",
        "واحة التقنية",
        "الدلتا للأغذية",
        "نور للطاقة",
        "المتحدة للنقل",
    ),
    company="شركة {}",
)
JAPAN: Final = Locale(
    country="Japan",
    dialling_code="+81",
    cities=(("東京", "100-0001"), ("大阪", "530-0001"), ("京都", "600-8001"), ("札幌", "060-0001")),
    first_names=("さくら", "健太", "美咲", "翔", "陽菜", "大輔", "結衣", "直樹", "愛", "拓也"),
    last_names=("佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤"),
    stems=("富士工業", "さくら食品", "東洋物流", "山本電機", "北海水産", "京都織物"),
    company="{}株式会社",
)
CHINA: Final = Locale(
    country="China",
    dialling_code="+86",
    cities=(("上海", "200000"), ("北京", "100000"), ("深圳", "518000"), ("成都", "610000")),
    first_names=("伟", "芳", "娜", "敏", "静", "磊", "洋", "艳", "勇", "杰"),
    last_names=("王", "李", "张", "刘", "陈", "杨", "黄", "赵", "吴", "周"),
    stems=("长江科技", "东方贸易", "金龙制造", "华夏能源", "天府食品", "海蓝物流"),
    company="{}有限公司",
)
POLAND: Final = Locale(
    country="Poland",
    dialling_code="+48",
    cities=(("Warszawa", "00-001"), ("Kraków", "30-001"), ("Łódź", "90-001"), ("Gdańsk", "80-001")),
    first_names=(
        "Zofia",
        "Paweł",
        "Małgorzata",
        "Łukasz",
        "Agnieszka",
        "Michał",
        "Róża",
        "Wojciech",
        "Żaneta",
        "Jan",
    ),
    last_names=(
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
    stems=("Żuraw Transport", "Młyn Łódzki", "Bałtyk Stocznia", "Śląska Stal", "Dąb Meble", "Wisła Foods"),
    company="{} sp. z o.o.",
)
TURKEY: Final = Locale(
    country="Türkiye",
    dialling_code="+90",
    cities=(("İstanbul", "34000"), ("Ankara", "06000"), ("İzmir", "35000"), ("Muğla", "48000")),
    first_names=("Ayşe", "Işıl", "Çağrı", "Gökhan", "Şule", "Umut", "İpek", "Oğuz", "Defne", "Ümit"),
    last_names=("Yılmaz", "Şahin", "Öztürk", "Çelik", "Işık", "Güneş", "Kılıç", "Aydın", "Doğan", "İnan"),
    stems=("Boğaziçi Tekstil", "Ilgaz Gıda", "Işık Enerji", "Çınar İnşaat", "Şahin Lojistik", "Göl Seramik"),
    company="{} A.Ş.",
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
