"""A small CRM of books for the query tests: every type, empty and equal values, texts that fold alike."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from decimal import Decimal

from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient.metadata import (
    Attribute,
    AttributeType,
    DateTimeBehavior,
    Entity,
    Label,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)
from crmclient.platform import Create
from crmclient.values import Reference, Value

Row = dict[str, Value]
Tables = dict[str, list[Row]]

GENRES = OptionSet(
    "lib_book_genre",
    Label({1033: "Genre"}),
    tuple(
        Option(value, Label({1033: text}))
        for value, text in ((1, "Poetry"), (2, "crime"), (3, "Essay"), (4, "Atlas"), (5, "CRIME"))
    ),
    entity="lib_book",
)
TAGS = OptionSet(
    "lib_book_tags",
    Label({1033: "Tags"}),
    tuple(Option(value, Label({1033: f"Tag {value}"})) for value in (1, 11, 2, 21, 3)),
    entity="lib_book",
)
TITLES = (
    "Äpfel",
    "apfel",
    "APFEL und Birne",
    "100% Wolle",
    "100_Wolle",
    "[draft] Weiß",
    "Weiss",
    "الكتاب",
    "さくら",
    "O'Neill; DROP TABLE",
    "a^b-c]d",
    "back\\slash",
    "line\nbreak",
    "zoë*?",
)
TYPES = {
    "title": AttributeType.STRING,
    "summary": AttributeType.MEMO,
    "price": AttributeType.MONEY,
    "weight": AttributeType.DECIMAL,
    "score": AttributeType.DOUBLE,
    "pages": AttributeType.INTEGER,
    "isbn": AttributeType.BIGINT,
    "printed": AttributeType.BOOLEAN,
    "published": AttributeType.DATETIME,
    "released": AttributeType.DATETIME,
    "serial": AttributeType.UNIQUEIDENTIFIER,
    "genre": AttributeType.PICKLIST,
    "tags": AttributeType.MULTISELECT,
    "authorid": AttributeType.LOOKUP,
    "holderid": AttributeType.LOOKUP,
}


def load() -> Tables:
    """Make the entities, write the records, and give the same records as plain rows with lookups' names."""
    tables = _rows(random.Random(7))
    with change() as metadata:
        for entity, attributes, relationships in _ENTITIES:
            metadata.create_entity(entity, attributes, relationships)
    names = {
        row[f"{table}id"]: row["title" if table == "lib_book" else "name"]
        for table, rows in tables.items()
        for row in rows
    }
    operations = []
    for table, rows in tables.items():
        for row in rows:
            values = {name: value for name, value in row.items() if value is not None}
            operations.append(Create(table, values, str(values.pop(f"{table}id"))))
    EmbeddedPlatform().batch(operations)
    for rows in tables.values():
        for row in rows:
            for name, value in row.items():
                if isinstance(value, Reference):
                    row[name] = Reference(value.entity, value.id, str(names[value.id]))
    return tables


def _attribute(name: str, type: AttributeType) -> Attribute:
    details: dict[str, object] = {}
    if name in {"title", "name"}:
        details = {"required": RequiredLevel.APPLICATION, "is_primary_name": True, "max_length": 200}
    if name == "released":
        details = {"behavior": DateTimeBehavior.DATE_ONLY}
    if name == "genre":
        details = {"option_set": GENRES.name, "options": GENRES}
    if name == "tags":
        details = {"option_set": TAGS.name, "options": TAGS}
    if name == "authorid":
        details = {"targets": ("lib_author",)}
    if name == "mentorid":
        details = {"targets": ("lib_author",)}
    if name == "holderid":
        details = {"targets": ("lib_author", "lib_reader")}
    return Attribute(name, type, Label({1033: name}), **details)  # type: ignore[arg-type]


def _entity(name: str, primary_name: str) -> Entity:
    return Entity(name, f"{name}s", Label({1033: name}), Label({1033: name}), f"{name}id", primary_name)


_PERSON = tuple(
    _attribute(name, type)
    for name, type in (
        ("name", AttributeType.STRING),
        ("city", AttributeType.STRING),
        ("age", AttributeType.INTEGER),
    )
)
_ENTITIES = (
    (
        _entity("lib_author", "name"),
        (*_PERSON, _attribute("mentorid", AttributeType.LOOKUP)),
        (Relationship("lib_mentors", "lib_author", "lib_author", "mentorid", is_hierarchical=True),),
    ),
    (_entity("lib_reader", "name"), _PERSON, ()),
    (_entity("lib_book", "title"), tuple(_attribute(name, type) for name, type in TYPES.items()), ()),
)


def _rows(chance: random.Random) -> Tables:
    def person(entity: str, number: int) -> Row:
        return {
            f"{entity}id": _guid(chance),
            "name": f"{chance.choice(TITLES)} {number % 3}",
            "city": chance.choice(("Köln", "KOLN", "Oslo", None, None)),
            "age": chance.choice((30, 40, None)),
        }

    authors = [person("lib_author", number) for number in range(8)]
    # Each but the first two has one of those before it as a mentor.
    for at, author in enumerate(authors):
        mentor = authors[(at - 2) // 2] if at > 1 else None
        author["mentorid"] = None if mentor is None else Reference("lib_author", str(mentor["lib_authorid"]))
    readers = [person("lib_reader", number) for number in range(6)]
    books = [_book(chance, authors, readers) for _ in range(70)]
    return {"lib_author": authors, "lib_reader": readers, "lib_book": books}


def _book(chance: random.Random, authors: list[Row], readers: list[Row]) -> Row:
    def maybe(value: Value) -> Value:
        return value if chance.random() < 0.8 else None

    def pick(*values: Value) -> Value:
        return maybe(chance.choice(values))

    author, reader = chance.choice(authors), chance.choice(readers)
    holder = chance.choice(
        (
            Reference("lib_author", str(author["lib_authorid"])),
            Reference("lib_reader", str(reader["lib_readerid"])),
        )
    )
    moment = dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=chance.randint(0, 20_000))
    return {
        "lib_bookid": _guid(chance),
        "title": chance.choice(TITLES) + chance.choice(("", "", " 2")),
        "summary": pick(*TITLES),
        "price": pick(*map(Decimal, ("922337203685477.5807", "-12.5", "0", "19.9900", "20"))),
        "weight": pick(*map(Decimal, ("99999999999.9999999999", "-0.0000000001", "-50000000000", "1.5"))),
        "score": pick(-1.5, 0.0, 2.25, 1e300),
        "pages": pick(0, 100, 100, 250, -7),
        "isbn": pick(2**63 - 1, -(2**63), 9_780_000_000_001),
        "printed": pick(True, False),
        "published": maybe(moment),
        "released": maybe(chance.choice((dt.date(2024, 12, 31), dt.date(2025, 1, 1), moment.date()))),
        "serial": pick(_guid(chance)),
        "genre": pick(1, 2, 3, 4, 5),
        "tags": pick((1,), (11,), (1, 2), (2, 3, 21), (1, 11, 21)),
        "authorid": maybe(Reference("lib_author", str(author["lib_authorid"]))),
        "holderid": maybe(holder),
    }  # fmt: skip


def _guid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))
