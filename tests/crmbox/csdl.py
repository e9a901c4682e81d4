"""`$metadata` documents as organisations have them, of our own making."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import quoteattr

GUID = "Edm.Guid"


def prop(name: str, kind: str = "Edm.String", **facets: object) -> str:
    """A property; `facets` such as `MaxLength`."""
    return _element("Property", Name=name, Type=kind, **facets) + "/>"


def props(**kinds: str) -> str:
    return "".join(prop(name, kind) for name, kind in kinds.items())


def to_one(name: str, target: str, partner: str | None = None, holder: str | None = None) -> str:
    """A navigation property of a lookup; `holder` is the property that its constraint names."""
    start = _element(
        "NavigationProperty", Name=name, Type=f"mscrm.{target}", Nullable="false", Partner=partner
    )
    if holder is None:
        return f"{start}/>"
    constraint = _element("ReferentialConstraint", Property=holder, ReferencedProperty=f"{target}id")
    return f"{start}>{constraint}/></NavigationProperty>"


def lookup(name: str, target: str, partner: str | None = None) -> str:
    """A lookup with one target: what holds the id and what leads there."""
    return prop(f"_{name}_value", GUID) + to_one(name, target, partner, f"_{name}_value")


def to_many(name: str, target: str, partner: str | None = None) -> str:
    return (
        _element("NavigationProperty", Name=name, Type=f"Collection(mscrm.{target})", Partner=partner) + "/>"
    )


def key(*names: str) -> str:
    return f"<Key>{''.join(_element('PropertyRef', Name=name) + '/>' for name in names)}</Key>"


def alternate_key(*names: str) -> str:
    """As organisations write it: by the namespace's alias."""
    paths = "".join(
        '<Record Type="Keys.PropertyRef"><PropertyValue Property="Alias" String="x"/>'
        f'<PropertyValue Property="Name" PropertyPath="{name}"/></Record>'
        for name in names
    )
    return (
        '<Annotation Term="Keys.AlternateKeys"><Collection><Record Type="Keys.AlternateKey">'
        f'<PropertyValue Property="Key"><Collection>{paths}</Collection></PropertyValue>'
        "</Record></Collection></Annotation>"
    )


def entity_type(name: str, *parts: str, base: str | None = "crmbaseentity", abstract: bool = False) -> str:
    start = _element(
        "EntityType",
        Name=name,
        BaseType=None if base is None else f"mscrm.{base}",
        Abstract="true" if abstract else None,
    )
    return f"{start}>{''.join(parts)}</EntityType>"


def table(name: str, *parts: str, base: str | None = "crmbaseentity", abstract: bool = False) -> str:
    """An entity type with an id as every table has one."""
    return entity_type(name, key(f"{name}id"), prop(f"{name}id", GUID), *parts, base=base, abstract=abstract)


def document(parts: Iterable[str], sets: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """`sets` are entity sets and their types."""
    pairs = sets.items() if isinstance(sets, Mapping) else sets
    listed = "".join(
        _element("EntitySet", Name=name, EntityType=f"Microsoft.Dynamics.CRM.{type_}") + "/>"
        for name, type_ in pairs
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">'
        '<edmx:Reference Uri="http://vocabularies.odata.org/OData.Community.Keys.V1.xml">'
        '<edmx:Include Namespace="OData.Community.Keys.V1" Alias="Keys"/></edmx:Reference>'
        '<edmx:DataServices><Schema Namespace="Microsoft.Dynamics.CRM" Alias="mscrm" '
        'xmlns="http://docs.oasis-open.org/odata/ns/edm">'
        f'<EntityType Name="crmbaseentity" Abstract="true"/>{"".join(parts)}'
        f'<EntityContainer Name="System">{listed}</EntityContainer>'
        "</Schema></edmx:DataServices></edmx:Edmx>"
    )


def large(entities: int, attributes: int) -> str:
    """A document of many entities: texts, numbers, and lookups to one another."""
    kinds = ("Edm.String", "Edm.Int32", "Edm.DateTimeOffset", "Edm.Decimal", "Edm.Boolean", "Edm.String")
    names = [f"new_thing{number}" for number in range(entities)]
    parts = []
    for number, name in enumerate(names):
        plain = "".join(
            prop(f"new_field{n}", kinds[n % len(kinds)]) for n in range(attributes - attributes // 8)
        )
        lookups = "".join(
            lookup(f"new_to{n}", names[(number + n) % entities], f"{name}_to{n}")
            for n in range(attributes // 8)
        )
        parts.append(table(name, prop("new_name"), plain, lookups))
    return document(parts, {f"{name}s": name for name in names})


def _element(name: str, **attributes: object) -> str:
    """The start of an element's tag."""
    written = (f" {key}={quoteattr(str(value))}" for key, value in attributes.items() if value is not None)
    return f"<{name}{''.join(written)}"
