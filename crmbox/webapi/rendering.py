"""Records as JSON: what a retrieve answers, and each row of a query.

{"@odata.etag": "W/\"123\"", "accountid": "…", "name": "Contoso", "revenue": 5000000.0000,
 "_primarycontactid_value": "…",
 "_primarycontactid_value@OData.Community.Display.V1.FormattedValue": "Ada Lovelace",
 "_primarycontactid_value@Microsoft.Dynamics.CRM.lookuplogicalname": "contact",
 "_primarycontactid_value@Microsoft.Dynamics.CRM.associatednavigationproperty": "primarycontactid"}
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any

from crmbox.engine.snapshot import Snapshot
from crmbox.webapi.model import EntityType, Model, property_name
from crmbox.webapi.preferences import (
    FORMATTED_VALUE,
    LOOKUP_NAME,
    NAVIGATION_PROPERTY,
    Annotations,
)
from crmclient.metadata import Attribute, AttributeType
from crmclient.values import FileInfo, Guid, Reference, Value, Values

_DEFAULT_PLACES = 2


def formatted_value(snapshot: Snapshot, attribute: Attribute, value: Value) -> str | None:
    """Return a value as Dataverse formats it for people; None where that is the value itself, as of text."""
    if value is None:
        return None
    if attribute.type.has_options:
        return _option_labels(snapshot, attribute, value)
    if isinstance(value, Reference):
        return value.name
    write = _WRITERS.get(attribute.type)
    return None if write is None else write(attribute, value)


def _option_labels(snapshot: Snapshot, attribute: Attribute, value: Value) -> str:
    """Return the labels of the chosen options, separated by semicolons; the number of an unknown option."""
    labels: dict[object, str] = {o.value: o.label.text() for o in snapshot.options_of(attribute).options}
    chosen = value if isinstance(value, tuple) else (value,)
    return "; ".join(labels.get(option, str(option)) for option in chosen)


def _money(attribute: Attribute, value: Any) -> str:
    sign, amount = ("-", -value) if value < 0 else ("", value)
    return f"{sign}${_number_text(attribute, amount)}"


def _decimal(attribute: Attribute, value: Any) -> str:
    return _number_text(attribute, value)


def _number_text(attribute: Attribute, value: Any) -> str:
    """Return a number with the attribute's decimal places and a comma between thousands."""
    places = _DEFAULT_PLACES if attribute.precision is None else attribute.precision
    return f"{Decimal(str(value)):,.{places}f}"


def _whole_number_text(attribute: Attribute, value: Any) -> str:
    return f"{value:,d}"


def _boolean(attribute: Attribute, value: Any) -> str:
    return "Yes" if value else "No"


def _date(attribute: Attribute, value: Any) -> str:
    """Return a day or time as Dataverse formats it for the United States, such as `1/31/2026 1:30 PM`."""
    day = f"{value.month}/{value.day}/{value.year}"
    if not isinstance(value, dt.datetime):
        return day
    # Hour 0 is 12 AM, and hour 12 is 12 PM.
    return f"{day} {value.hour % 12 or 12}:{value.minute:02} {'PM' if value.hour >= 12 else 'AM'}"


_WRITERS: dict[AttributeType, Callable[[Attribute, Any], str]] = {
    AttributeType.MONEY: _money,
    AttributeType.DECIMAL: _decimal,
    AttributeType.DOUBLE: _decimal,
    AttributeType.INTEGER: _whole_number_text,
    AttributeType.BIGINT: _whole_number_text,
    AttributeType.BOOLEAN: _boolean,
    AttributeType.DATETIME: _date,
}


# Of the largest Decimal, with the most places, no digit is lost.
_PLACING = Context(prec=60)

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
    """Return a record of `type_` as JSON.

    `values` are by logical name. If `version` is None, the etag is left out.
    """
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
    """Put a value of an attribute into `content` as the property `name`, with its annotations.

    In a query, `name` may be an alias.
    """
    if annotations.formatted and (text := formatted_value(model.snapshot, attribute, value)) is not None:
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
    """Return a value as JSON, without annotations. A Decimal stays one: `exact_json` renders it exactly."""
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
    """Return the context URL, such as `{base}$metadata#accounts(name,revenue)/$entity`."""
    columns = f"({select})" if select else ""
    return f"{base}$metadata#{type_.entity.entity_set}{columns}{'/$entity' if single else ''}"


def record_url(base: str, type_: EntityType, id: Guid) -> str:
    return f"{base}{type_.entity.entity_set}({id})"


def _with_places(value: Decimal, places: int | None) -> Decimal:
    """Return a Decimal with as many places as the attribute has; further digits are kept."""
    if places is None:
        return value
    padded = value.quantize(Decimal(1).scaleb(-places), context=_PLACING)
    return padded if padded == value else value.normalize(_PLACING)


def _plain(attribute: Attribute, name: str, value: Value) -> Mapping[str, Any]:
    """Return the properties of a value without annotations.

    Those of a file column are its id and name; that of an image column is its id.
    """
    if attribute.type is AttributeType.FILE:
        return {
            name: plain_value(value),
            f"{name}_name": value.file_name if isinstance(value, FileInfo) else None,
        }
    if attribute.type is AttributeType.IMAGE:
        return {f"{name}id": plain_value(value)}
    if attribute.type is AttributeType.DECIMAL and isinstance(value, Decimal):
        return {name: _with_places(value, attribute.precision)}
    return {name: plain_value(value)}
