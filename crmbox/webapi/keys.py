"""Which record a key in parentheses means: an id, or the values of an alternate key."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from crmbox.webapi.errors import WebApiError, bad_url
from crmbox.webapi.model import EntityType, property_name
from crmbox.webapi.paths import Argument, unquoted
from crmbox.webapi.request import Request
from crmclient.metadata import Attribute, AttributeType
from crmclient.query import literals
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.query.calendar import Calendar
from crmclient.values import Guid, Reference, Value, Values, parse_guid


@dataclass(frozen=True, slots=True)
class Key:
    """Either `id`, or the `values` of an alternate key by logical name."""

    id: Guid | None
    values: Values


def read_key(request: Request, type_: EntityType, arguments: tuple[Argument, ...]) -> Key:
    """Read the key in a path. Raises WebApiError for a wrong key of the entity."""
    raw_values = {argument.name: request.without_alias(argument.value) for argument in arguments}
    if len(raw_values) != len(arguments):
        raise bad_url("A key names each property once.")
    # One value without a name, or the primary key by its name.
    if set(raw_values) in ({None}, {type_.entity.primary_id}):
        return Key(_read_id(next(iter(raw_values.values()))), {})
    for key in type_.entity.keys:
        attributes = [type_.attributes[name] for name in key.attributes]
        if set(raw_values) == {property_name(attribute) for attribute in attributes}:
            return Key(
                None,
                {
                    attribute.logical_name: _value(attribute, raw_values[property_name(attribute)])
                    for attribute in attributes
                },
            )
    raise WebApiError(
        400,
        "0x80060888",
        f"The key in the request URI is not valid for resource '{type_.type_name}'. Ensure that the names "
        "and number of key properties match the declared or alternate key properties for the resource "
        f"'{type_.type_name}'.",
    )


def find(request: Request, type_: EntityType, key: Key) -> Guid | None:
    """Return the id of the record with an alternate key; None when there is none.

    For a key that is an id, return that id, whether there is a record or not.
    """
    if key.id is not None:
        return key.id
    conditions = tuple(
        Condition(name, Operator.EQ, (value.id if isinstance(value, Reference) else value,))
        for name, value in key.values.items()
    )
    query = Query(type_.name, (Column(type_.entity.primary_id),), Filter(conditions), top=1)
    rows = request.platform.query(query, call=request.call).rows
    return str(rows[0][type_.entity.primary_id]) if rows else None


def locate(request: Request, type_: EntityType, arguments: tuple[Argument, ...]) -> Guid:
    """Return the id that a key means. Raises WebApiError (404) when no record has the alternate key."""
    record = find(request, type_, read_key(request, type_, arguments))
    if record is None:
        raise WebApiError(
            404, "0x80060891", f"A record with the specified key values does not exist in {type_.name} entity"
        )
    return record


def _read_id(literal: str) -> Guid:
    """Return the id in a key, which may stand in quotes. Raises WebApiError for a text that is no GUID."""
    text = unquoted(literal)
    try:
        return parse_guid(text)
    except ValueError:
        raise bad_url(f"Bad Request - Error in query syntax: {text!r} is no GUID.") from None


def _value(attribute: Attribute, literal: str) -> Value:
    """Return a value of an alternate key, as the attribute stores it. Raises WebApiError for a wrong one."""
    try:
        value = literals.read(unquoted(literal), attribute)
        if attribute.type is AttributeType.DATETIME and isinstance(value, dt.date):
            return literals.stored(value, attribute, Calendar())
    except ValueError as error:
        raise bad_url(f"The key property '{property_name(attribute)}': {error}.") from None
    return value
