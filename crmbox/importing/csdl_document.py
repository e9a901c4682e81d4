"""A `$metadata` document (CSDL) as values: types, entity sets, enumerations, and what is passed over.

It is read generously: elements and annotations that are not known are counted, and none makes it fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from lxml import etree

from crmbox.importing.source_entity import CannotRead

_EDM: Final = "{http://docs.oasis-open.org/odata/ns/edm}"
_EDMX: Final = "{http://docs.oasis-open.org/odata/ns/edmx}"
_ROOT: Final = f"{_EDMX}Edmx"
_READ: Final = ("EntityType", "EntitySet", "EnumType", "TypeDefinition")
_KEYS: Final = "AlternateKeys"
_DESCRIPTION: Final = "Org.OData.Core.V1.Description"
_COLLECTION: Final = "Collection("
_LONGEST: Final = 10_000_000
"""The most bytes of a tag, a text or a comment: libxml2's own limit."""
_TOO_LARGE: Final = frozenset({etree.ErrorTypes.ERR_RESOURCE_LIMIT, etree.ErrorTypes.ERR_NAME_TOO_LONG})
_TOO_LARGE_MESSAGE: Final = (
    "A name, a value, a comment or the nesting of elements in the file is too large for metadata. Fetch the "
    "metadata again."
)


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a type. `type` is as written, such as `Edm.String` or `mscrm.Label`."""

    name: str
    type: str
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Navigation:
    """A navigation property to `target`, the short name of a type.

    `constraint` is the property that holds the id of the other record.
    """

    name: str
    target: str
    is_collection: bool
    partner: str | None
    constraint: str | None


@dataclass(slots=True)
class Type:
    """An entity type as declared, without inherited properties."""

    name: str
    base: str
    is_abstract: bool
    key: tuple[str, ...] = ()
    properties: dict[str, Property] = field(default_factory=dict)
    navigations: list[Navigation] = field(default_factory=list)
    alternate_keys: list[tuple[str, ...]] = field(default_factory=list)
    description: str = ""
    repeated: list[str] = field(default_factory=list)
    """Properties that are declared twice."""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """An enumeration: its values by name. Of `is_flags`, several values can be combined."""

    members: Mapping[str, int]
    is_flags: bool


@dataclass(slots=True)
class Document:
    """What is read of a `$metadata` document, by short names. `passed_over` counts what is not read."""

    types: dict[str, Type] = field(default_factory=dict)
    sets: dict[str, list[str]] = field(default_factory=dict)
    """The entity sets of each type, in their order."""
    enumerations: dict[str, Enumeration] = field(default_factory=dict)
    underlying: dict[str, str] = field(default_factory=dict)
    """The type that each type definition stands for."""
    repeated: list[str] = field(default_factory=list)
    """Types that are declared twice: the first counts."""
    passed_over: Counter[str] = field(default_factory=Counter)

    def chain(self, name: str) -> list[Type]:
        """Return a type and its bases, the type itself first."""
        types = [self.types[name]]
        while types[-1].base in self.types and self.types[types[-1].base] not in types:
            types.append(self.types[types[-1].base])
        return types


class _ShortTags:
    """A file that is refused where a tag has no end for a long time.

    The parser keeps a tag in memory until its end has come, however long it is, and only then looks at its
    own limits. Raises CannotRead.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._length = 0
        """The bytes since the last end of a tag."""

    def read(self, size: int) -> bytes:
        part = self._file.read(size)
        end = part.rfind(b">")
        self._length = self._length + len(part) if end < 0 else len(part) - end - 1
        if self._length > _LONGEST:
            raise CannotRead(_TOO_LARGE_MESSAGE)
        return part


def read(path: Path) -> Document:
    """Read a CSDL document. Raises CannotRead, OSError."""
    document = Document()
    # Each element is emptied once it is read, because documents are large.
    try:
        with path.open("rb") as file:
            events = etree.iterparse(
                _ShortTags(file),
                events=("end",),
                tag=[f"{_EDM}{name}" for name in _READ],
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                huge_tree=False,
            )
            for _, element in events:
                _add_element(document, element)
                element.clear()
            root: Any = events.root
    except etree.XMLSyntaxError as error:
        # The stubs of lxml know no code of an error.
        parse_error: Any = error
        if parse_error.code in _TOO_LARGE:
            raise CannotRead(_TOO_LARGE_MESSAGE) from None
        raise CannotRead(f"The file is not well-formed XML: {error.msg}.") from None
    if root is not None and etree.QName(root).localname == "Edmx" and root.tag != _ROOT:
        raise CannotRead(
            "It is a $metadata document of an older OData. Fetch the one at /api/data/v9.2/$metadata."
        )
    # A document type declaration could define entities, which are not resolved here.
    if root is None or root.tag != _ROOT or root.getroottree().docinfo.internalDTD is not None:
        raise CannotRead("It is XML, but no $metadata document.")
    if not document.types:
        raise CannotRead("It is XML, but no $metadata document of Dataverse: it describes no entities.")
    # Elements stay in the tree when they are emptied, so those that were not read can be counted.
    for element in root.iterfind(f".//{_EDM}Schema/*"):
        _pass_over(document, element)
    return document


def short_name(name: str) -> str:
    """Return the name of a type without its namespace or alias."""
    return name.rpartition(".")[2]


def _add_element(document: Document, element: etree._Element) -> None:
    """Add the type, entity set, enumeration or type definition of an element to the document."""
    name = element.get("Name", "")
    match etree.QName(element).localname:
        case "EntityType" if name in document.types:
            document.repeated.append(name)
        case "EntityType":
            document.types[name] = _type(document, element)
        case "EntitySet":
            sets = document.sets.setdefault(short_name(element.get("EntityType", "")), [])
            if name not in sets:
                sets.append(name)
        case "EnumType":
            members = dict(_members(element))
            document.enumerations[name] = Enumeration(members, element.get("IsFlags") == "true")
        case _:
            # Only TypeDefinition is left of the tags that are read.
            document.underlying[name] = element.get("UnderlyingType", "")


def _members(element: etree._Element) -> Iterator[tuple[str, int]]:
    """Yield the members of an enumeration, each its name and value: its position, from 0, if it has none."""
    for position, member in enumerate(element.iterfind(f"{_EDM}Member")):
        yield member.get("Name", ""), _integer(member.get("Value"), position) or 0


def _type(document: Document, element: etree._Element) -> Type:
    """Return the entity type of an element. What is not known in it is counted in the document."""
    type_ = Type(
        element.get("Name", ""), short_name(element.get("BaseType", "")), element.get("Abstract") == "true"
    )
    for child in element.iterchildren(etree.Element):
        name = child.get("Name", "")
        match etree.QName(child).localname:
            case "Key":
                type_.key = tuple(
                    reference.get("Name", "") for reference in child.iterfind(f"{_EDM}PropertyRef")
                )
            case "Property" if name in type_.properties:
                type_.repeated.append(name)
            case "Property":
                type_.properties[name] = _property(document, child)
            case "NavigationProperty":
                type_.navigations.append(_navigation(child))
            case "Annotation" if short_name(child.get("Term", "")) == _KEYS:
                type_.alternate_keys += _alternate_keys(child)
            case "Annotation" if child.get("Term") == _DESCRIPTION:
                type_.description = _text(child)
            case _:
                _pass_over(document, child)
    return type_


def _property(document: Document, element: etree._Element) -> Property:
    """Return the property of an element. What is not known in it is counted in the document."""
    description = ""
    for child in element.iterchildren(etree.Element):
        if child.get("Term") == _DESCRIPTION:
            description = _text(child)
        else:
            _pass_over(document, child)
    return Property(
        name=element.get("Name", ""),
        type=element.get("Type", ""),
        max_length=_integer(element.get("MaxLength")),
        precision=_integer(element.get("Precision")),
        scale=_integer(element.get("Scale")),
        description=description,
    )


def _text(annotation: etree._Element) -> str:
    """Return the text of an annotation, which is an attribute or an element of it."""
    return annotation.get("String") or annotation.findtext(f"{_EDM}String") or ""


def _navigation(element: etree._Element) -> Navigation:
    """Return the navigation property of an element. Its type may be `Collection(mscrm.account)`."""
    type_name = element.get("Type", "")
    is_collection = type_name.startswith(_COLLECTION)
    constraint = element.find(f"{_EDM}ReferentialConstraint")
    return Navigation(
        name=element.get("Name", ""),
        target=short_name(type_name.removeprefix(_COLLECTION).removesuffix(")")),
        is_collection=is_collection,
        partner=element.get("Partner") or None,
        constraint=None if constraint is None else constraint.get("Property"),
    )


def _alternate_keys(element: etree._Element) -> Iterator[tuple[str, ...]]:
    """Yield the alternate keys in an annotation, each as the names of its properties."""
    for record in element.iterfind(f"{_EDM}Collection/{_EDM}Record"):
        paths = [value.get("PropertyPath") for value in record.iter(f"{_EDM}PropertyValue")]
        yield tuple(path for path in paths if path)


def _pass_over(document: Document, element: etree._Element) -> None:
    """Count an element that is not read."""
    name = etree.QName(element).localname
    if name not in (*_READ, "EntityContainer"):
        document.passed_over[f"{name} {element.get('Term', '')}" if name == "Annotation" else name] += 1


def _integer(text: str | None, default: int | None = None) -> int | None:
    """Return the number in `text`, or `default` without a text. None for `max`, `variable` and the like."""
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        return None
