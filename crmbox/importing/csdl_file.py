"""Entities from a `$metadata` document (CSDL).

It knows less than the definitions: no labels, lengths or options, and choices look like whole numbers. What a
property's kind can be told from the company it keeps: a money amount has a `_base` beside it, a file its
`_name`, an image its `_timestamp` and `_url`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from lxml import etree

from crmbox.engine.definitions import Ownership
from crmbox.importing.found import CannotRead, Described, Found
from crmbox.metadata.checks import LONGEST_STRING
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Cascade,
    DateTimeBehavior,
    Entity,
    Label,
    Relationship,
)

_EDM: Final = "{http://docs.oasis-open.org/odata/ns/edm}"
_ROOT: Final = "{http://docs.oasis-open.org/odata/ns/edmx}Edmx"
_KEYS: Final = "OData.Community.Keys.V1.AlternateKeys"
_ANY_OWNER: Final = "principal"
_TYPES: Final = {
    "Edm.String": AttributeType.STRING,
    "Edm.Int32": AttributeType.INTEGER,
    "Edm.Int64": AttributeType.BIGINT,
    "Edm.Decimal": AttributeType.DECIMAL,
    "Edm.Double": AttributeType.DOUBLE,
    "Edm.Boolean": AttributeType.BOOLEAN,
    "Edm.DateTimeOffset": AttributeType.DATETIME,
    "Edm.Date": AttributeType.DATETIME,
    "Edm.Guid": AttributeType.UNIQUEIDENTIFIER,
}
_NAMES: Final = ("name", "fullname", "subject", "title")
"""What the property that names a record is called, or ends with after the publisher's prefix."""


@dataclass(slots=True)
class _Type:
    base: str
    key: str | None
    properties: dict[str, str] = field(default_factory=dict)
    lookups: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """The partner of each target of each lookup."""
    collections: dict[str, str] = field(default_factory=dict)
    keys: list[tuple[str, ...]] = field(default_factory=list)


def entities(path: Path) -> Iterator[Described]:
    """Raises CannotRead, OSError."""
    types, sets = _read(path)
    if not types:
        raise CannotRead("It is XML, but no $metadata document of Dataverse: it describes no entities.")
    for name in types:
        whole = _with_base(types, name)
        if name in sets and whole.key is not None and not _is_pair(whole):
            yield Described(name, len(whole.properties), partial(_found, name, whole, sets[name], types))


def _read(path: Path) -> tuple[dict[str, _Type], dict[str, str]]:
    types: dict[str, _Type] = {}
    sets: dict[str, str] = {}
    try:
        events = etree.iterparse(
            str(path),
            events=("end",),
            tag=(f"{_EDM}EntityType", f"{_EDM}EntitySet"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
        )
        for _, element in events:
            if element.tag == f"{_EDM}EntityType":
                types[element.get("Name", "")] = _type(element)
            else:
                sets[_short(element.get("EntityType", ""))] = element.get("Name", "")
            element.clear()
        root: Any = events.root
    except etree.XMLSyntaxError as error:
        raise CannotRead(f"The file is not well-formed XML: {error.msg}.") from None
    if root is None or root.tag != _ROOT or root.getroottree().docinfo.internalDTD is not None:
        raise CannotRead("It is XML, but no $metadata document.")
    return types, sets


def _type(element: etree._Element) -> _Type:
    key = element.find(f"{_EDM}Key/{_EDM}PropertyRef")
    found = _Type(_short(element.get("BaseType", "")), None if key is None else key.get("Name"))
    for child in element:
        name, kind = child.get("Name", ""), child.get("Type", "")
        if child.tag == f"{_EDM}Property":
            found.properties[name] = kind
        elif child.tag == f"{_EDM}NavigationProperty":
            _navigation(found, child, name, kind)
        elif child.tag == f"{_EDM}Annotation" and child.get("Term") == _KEYS:
            for record in child.iterfind(f"{_EDM}Collection/{_EDM}Record"):
                paths = [each.get("PropertyPath") for each in record.iter(f"{_EDM}PropertyValue")]
                found.keys.append(tuple(_attribute_of(path) for path in paths if path))
    return found


def _navigation(found: _Type, child: etree._Element, name: str, kind: str) -> None:
    if kind.startswith("Collection("):
        found.collections[name] = _short(kind[len("Collection(") : -1])
        return
    constraint = child.find(f"{_EDM}ReferentialConstraint")
    attribute = name if constraint is None else _attribute_of(constraint.get("Property", ""))
    found.lookups.setdefault(attribute, {})[_short(kind)] = child.get("Partner")


def _with_base(types: Mapping[str, _Type], name: str) -> _Type:
    """A type with all that it inherits: an activity has its key and most properties from its base."""
    chain = [types[name]]
    while chain[-1].base in types and types[chain[-1].base] not in chain:
        chain.append(types[chain[-1].base])
    whole = _Type("", next((each.key for each in chain if each.key), None))
    for each in reversed(chain):
        whole.properties.update(each.properties)
        whole.lookups.update(each.lookups)
        whole.collections.update(each.collections)
        whole.keys += each.keys
    return whole


def _found(name: str, whole: _Type, entity_set: str, types: Mapping[str, _Type]) -> Found:
    primary_id = whole.key or ""
    primary_name = _primary_name(name, whole)
    attributes = [
        Attribute(
            each,
            kind,
            max_length=LONGEST_STRING if kind is AttributeType.STRING else None,
            behavior=(
                DateTimeBehavior.DATE_ONLY
                if whole.properties[each] == "Edm.Date"
                else DateTimeBehavior.USER_LOCAL
            ),
            is_primary_name=each == primary_name,
            is_custom="_" in each,
        )
        for each, kind in _plain(whole)
        if each != primary_id
    ]
    relationships: list[Relationship] = []
    for each, targets in whole.lookups.items():
        if f"_{each}_value" not in whole.properties:
            continue
        known = tuple(target for target in targets if target in types and types[target].key)
        kind = AttributeType.OWNER if each == "ownerid" else AttributeType.LOOKUP
        attributes.append(Attribute(each, kind, targets=known, is_custom="_" in each))
        relationships += [
            Relationship(
                targets[target] or f"{name}_{each}_{target}", target, name, each, None, Cascade.REMOVE_LINK
            )
            for target in known
        ]
    owned = "_ownerid_value" in whole.properties
    return Found(
        Entity(
            name,
            entity_set,
            Label(),
            Label(),
            primary_id,
            primary_name,
            keys=tuple(AlternateKey(f"{name}_key{n}", key) for n, key in enumerate(whole.keys, 1)),
            is_custom="_" in name,
        ),
        tuple(attributes),
        tuple(relationships),
        tuple(_pairs(name, whole, types)),
        ownership=Ownership.USER if owned else Ownership.ORGANIZATION,
        is_outline=True,
    )


def _plain(whole: _Type) -> Iterator[tuple[str, AttributeType]]:
    """Properties that are attributes of their own, lookups aside."""
    named = whole.properties
    for name, edm in named.items():
        if name.startswith("_") or _is_fact(name, named):
            continue
        kind = _TYPES.get(edm)
        if edm == "Edm.Binary" and f"{name}_timestamp" in named:
            kind = AttributeType.IMAGE
        elif edm == "Edm.Guid" and named.get(f"{name}_name") == "Edm.String":
            kind = AttributeType.FILE
        elif edm == "Edm.Decimal" and f"{name}_base" in named:
            kind = AttributeType.MONEY
        elif name in ("statecode", "statuscode"):
            kind = AttributeType.STATE if name == "statecode" else AttributeType.STATUS
        if kind is not None:
            yield name, kind


def _is_fact(name: str, named: Mapping[str, str]) -> bool:
    """Whether a property says something of a file or image beside it."""
    if name.endswith("_name"):
        return named.get(name.removesuffix("_name")) == "Edm.Guid"
    return any(
        named.get(name.removesuffix(suffix)) == "Edm.Binary"
        for suffix in ("id", "_timestamp", "_url")
        if name.endswith(suffix)
    )


def _pairs(name: str, whole: _Type, types: Mapping[str, _Type]) -> Iterator[Relationship]:
    """Many-to-many relationships: collections of the same name on both sides, and a type between them."""
    for each, other in whole.collections.items():
        if other not in types or name == other or types[other].collections.get(each) != name:
            continue
        ends = {types[name].key, types[other].key}
        between = (
            known for known, type_ in types.items() if _is_pair(type_) and ends < set(type_.properties)
        )
        intersect = each if each in types else next(between, each.lower())
        first, second = sorted((name, other))
        yield Relationship(each, first, second, intersect=intersect)


def _is_pair(type_: _Type) -> bool:
    """Whether a type only ties two others: it has their keys, one of its own, and a version at most."""
    kinds = list(type_.properties.values())
    return not type_.lookups and kinds.count("Edm.Guid") == 3 and len(kinds) <= 4


def _primary_name(name: str, whole: _Type) -> str | None:
    prefix = name.partition("_")[0]
    wanted = (*_NAMES, *(f"{prefix}_{each}" for each in _NAMES))
    return next((each for each in wanted if whole.properties.get(each) == "Edm.String"), None)


def _attribute_of(name: str) -> str:
    """`_primarycontactid_value` holds the lookup primarycontactid."""
    return name[1 : -len("_value")] if name.startswith("_") and name.endswith("_value") else name


def _short(name: str) -> str:
    return name.rpartition(".")[2]
