"""What the properties of an entity type stand for, which CSDL does not say.

Some kinds of property can be told from the properties beside them: a money amount has a `_base` beside it, a
file its `_name`, an image its `_timestamp` and `_url`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from crmbox.engine.tables import INDEXED_LENGTH
from crmbox.importing.csdl_document import Property
from crmbox.importing.csdl_tables import GUID
from crmclient.metadata import AttributeType

_TYPES: Final = {
    "Edm.String": AttributeType.STRING,
    "Edm.Byte": AttributeType.INTEGER,
    "Edm.SByte": AttributeType.INTEGER,
    "Edm.Int16": AttributeType.INTEGER,
    "Edm.Int32": AttributeType.INTEGER,
    "Edm.Int64": AttributeType.BIGINT,
    "Edm.Decimal": AttributeType.DECIMAL,
    "Edm.Single": AttributeType.DOUBLE,
    "Edm.Double": AttributeType.DOUBLE,
    "Edm.Boolean": AttributeType.BOOLEAN,
    "Edm.DateTimeOffset": AttributeType.DATETIME,
    "Edm.Date": AttributeType.DATETIME,
    "Edm.Guid": AttributeType.UNIQUEIDENTIFIER,
}
_STATES: Final = {"statecode": AttributeType.STATE, "statuscode": AttributeType.STATUS}
_USUAL_NAMES: Final = ("name", "fullname", "subject", "title")
"""The usual names of the property that names a record, after the publisher's prefix if it has one."""


def attribute_type(property: Property, edm: str, properties: Mapping[str, Property]) -> AttributeType | None:
    """Return the type of a property's attribute; None for a property that there is no attribute for.

    `edm` is the property's type, such as `Edm.String`; where the document gives a type a name of its own, the
    type behind that. `properties` are all of the entity type.
    """
    name = property.name
    if edm == "Edm.Binary" and f"{name}_timestamp" in properties:
        return AttributeType.IMAGE
    if edm == GUID and _type_of(properties, f"{name}_name") == "Edm.String":
        return AttributeType.FILE
    if edm == "Edm.Decimal" and f"{name}_base" in properties:
        return AttributeType.MONEY
    if name in _STATES and _STATES.keys() <= properties.keys():
        return _STATES[name]
    return _TYPES.get(edm)


def primary_name(entity: str, texts: Iterable[str]) -> str | None:
    """Return the attribute that names a record; None without one. `texts` are the attributes that are texts.

    CSDL does not tell which, so it is the first text that has a usual name, such as `name`, `new_name` or
    `new_projectname`.
    """
    prefix = entity.partition("_")[0]
    candidates = (
        *_USUAL_NAMES,
        *(f"{prefix}_{usual_name}" for usual_name in _USUAL_NAMES),
        f"{entity}name",
    )
    return next((candidate for candidate in candidates if candidate in texts), None)


def key_lengths(keys: Iterable[Sequence[str]], properties: Mapping[str, Property]) -> dict[str, int]:
    """Return the length of each text in an alternate key, by attribute. `keys` are lists of properties.

    CSDL often gives none, so the texts of a key share what an index of Dataverse takes. A text in several
    keys gets the least of its shares.
    """
    lengths: dict[str, int] = {}
    for key in keys:
        texts = [name.lower() for name in key if _type_of(properties, name) == "Edm.String"]
        for name in texts:
            lengths[name] = min(INDEXED_LENGTH // len(texts), lengths.get(name, INDEXED_LENGTH))
    return lengths


def describes_file(name: str, properties: Mapping[str, Property]) -> bool:
    """Whether a property only describes a file or image beside it, and so becomes no attribute of its own."""
    if name.endswith("_name"):
        return _type_of(properties, name.removesuffix("_name")) == GUID
    return any(
        _type_of(properties, name.removesuffix(suffix)) == "Edm.Binary"
        for suffix in ("id", "_timestamp", "_url")
        if name.endswith(suffix)
    )


def _type_of(properties: Mapping[str, Property], name: str) -> str | None:
    return properties[name].type if name in properties else None


def is_lookup(property: Property) -> bool:
    """Whether a property holds the id of a lookup's record, as `_ownerid_value` does."""
    name = property.name
    return (
        property.type == GUID
        and name.startswith("_")
        and name.endswith("_value")
        and len(name) > len("__value")
    )


def attribute_of(name: str) -> str:
    """Return the attribute of a property: `_primarycontactid_value` holds the lookup primarycontactid."""
    return name[1 : -len("_value")] if name.startswith("_") and name.endswith("_value") else name
