"""Records as JSON: what a retrieve answers, and each row of a query.

{"@odata.etag": "W/\"123\"", "accountid": "…", "name": "Contoso", "revenue": 5000000.0000,
 "_primarycontactid_value": "…",
 "_primarycontactid_value@OData.Community.Display.V1.FormattedValue": "Ada Lovelace",
 "_primarycontactid_value@Microsoft.Dynamics.CRM.lookuplogicalname": "contact",
 "_primarycontactid_value@Microsoft.Dynamics.CRM.associatednavigationproperty": "primarycontactid"}
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from crmbox.webapi.formatting import formatted
from crmbox.webapi.model import EntityType, Model, property_name
from crmbox.webapi.preferences import (
    FORMATTED_VALUE,
    LOOKUP_NAME,
    NAVIGATION_PROPERTY,
    Annotations,
)
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import FileInfo, Guid, Reference, Value, Values

NO_ANNOTATIONS = Annotations("")


def etag(version: str) -> str:
    return f'W/"{version}"'


def record_json(
    model: Model,
    type_: EntityType,
    values: Values,
    *,
    version: str | None,
    annotations: Annotations = NO_ANNOTATIONS,
) -> dict[str, Any]:
    """One record of `type_`: `values` by logical name. `version` None leaves the etag out."""
    content: dict[str, Any] = {} if version is None else {"@odata.etag": etag(version)}
    for name, value in values.items():
        attribute = type_.attributes[name]
        put_value(content, model, type_, attribute, property_name(attribute), value, annotations)
    return content


def put_value(
    content: dict[str, Any],
    model: Model,
    type_: EntityType,
    attribute: Attribute,
    name: str,
    value: Value,
    annotations: Annotations,
) -> None:
    """A value of an attribute as the property `name` (an alias, in a query), with its annotations."""
    if annotations.formatted and (text := formatted(model.snapshot, attribute, value)) is not None:
        content[f"{name}@{FORMATTED_VALUE}"] = text
    if isinstance(value, Reference):
        if annotations.navigation_property:
            content[f"{name}@{NAVIGATION_PROPERTY}"] = type_.navigation_to(
                attribute.logical_name, value.entity
            )
        if annotations.lookup_name:
            content[f"{name}@{LOOKUP_NAME}"] = value.entity
    content.update(_plain(attribute, name, value))


def plain_value(value: Value) -> Any:
    """A value as JSON, without what surrounds it. Decimals are rendered exactly by `exact_json`."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, tuple):
        return ",".join(str(option) for option in value)
    if isinstance(value, Reference | FileInfo):
        return value.id
    return value


def context(base: str, type_: EntityType, select: str | None = None, *, single: bool = False) -> str:
    """`{base}$metadata#accounts(name,revenue)/$entity`"""
    columns = f"({select})" if select else ""
    return f"{base}$metadata#{type_.entity.entity_set}{columns}{'/$entity' if single else ''}"


def record_url(base: str, type_: EntityType, id: Guid) -> str:
    return f"{base}{type_.entity.entity_set}({id})"


def _plain(attribute: Attribute, name: str, value: Value) -> Mapping[str, Any]:
    """A file column has its name beside it, an image column the facts of its image."""
    if attribute.type is AttributeType.FILE:
        return {
            name: plain_value(value),
            f"{name}_name": value.file_name if isinstance(value, FileInfo) else None,
        }
    if attribute.type is AttributeType.IMAGE:
        return {f"{name}id": plain_value(value)}
    return {name: plain_value(value)}
