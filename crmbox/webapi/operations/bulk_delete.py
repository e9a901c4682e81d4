"""BulkDelete: a job that deletes what queries find. Here the job has ended when the request has."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from crmbox.webapi.errors import bad_payload, unsupported
from crmbox.webapi.model import NAMESPACE, EntityType
from crmbox.webapi.records.values import read_value
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named
from crmclient.errors import InvalidValue, RecordNotFound, StateConflict
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Condition, Filter, FilterItem, Operator, Query
from crmclient.values import Value, parse_guid

OPERATORS: Final = {
    "Equal": Operator.EQ,
    "NotEqual": Operator.NE,
    "GreaterThan": Operator.GT,
    "GreaterEqual": Operator.GE,
    "LessThan": Operator.LT,
    "LessEqual": Operator.LE,
    "Like": Operator.LIKE,
    "NotLike": Operator.NOT_LIKE,
    "BeginsWith": Operator.BEGINS_WITH,
    "DoesNotBeginWith": Operator.NOT_BEGINS_WITH,
    "EndsWith": Operator.ENDS_WITH,
    "DoesNotEndWith": Operator.NOT_ENDS_WITH,
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Between": Operator.BETWEEN,
    "NotBetween": Operator.NOT_BETWEEN,
    "Null": Operator.NULL,
    "NotNull": Operator.NOT_NULL,
}
# A FilterOperator by its name or number. Without one, all conditions must hold.
_ALL, _ANY = ("And", "and", 0, None), ("Or", "or", 1)
_DEEPEST = 20


def read_query(type_: EntityType, raw: dict[str, Any]) -> Query:
    """Return the query for the primary keys of the records to delete.

    Raises WebApiError; 501 for a query with more than a filter.
    """
    if raw.get("LinkEntities"):
        raise unsupported("LinkEntities of a QueryExpression")
    criteria = raw.get("Criteria")
    filter = None if criteria is None else _filter(type_, criteria, 1)
    return Query(type_.name, (Column(type_.entity.primary_id),), filter)


def _filter(type_: EntityType, raw: Any, depth: int) -> Filter:
    """Read a FilterExpression. Raises WebApiError."""
    if not isinstance(raw, dict) or depth > _DEEPEST:
        raise bad_payload(f"A FilterExpression is an object, at most {_DEEPEST} deep.")
    operator = raw.get("FilterOperator")
    if operator not in (*_ALL, *_ANY):
        raise bad_payload(f"{operator!r} is no FilterOperator: And, Or.")
    items: list[FilterItem] = [_condition(type_, item) for item in _list(raw, "Conditions")]
    items += [_filter(type_, item, depth + 1) for item in _list(raw, "Filters")]
    return Filter(tuple(items), any=operator in _ANY)


def _condition(type_: EntityType, raw: Any) -> Condition:
    """Read a ConditionExpression. Raises WebApiError."""
    if not isinstance(raw, dict):
        raise bad_payload("A ConditionExpression is an object.")
    attribute = type_.attributes.get(str(raw.get("AttributeName")))
    if attribute is None:
        raise bad_payload(f"{type_.name} has no attribute {raw.get('AttributeName')!r}.")
    operator = OPERATORS.get(str(raw.get("Operator")))
    if operator is None:
        raise unsupported(f"the ConditionOperator {raw.get('Operator')!r}")
    values = tuple(_value(attribute, item) for item in _list(raw, "Values"))
    return Condition(attribute.logical_name, operator, values)


def _list(raw: dict[str, Any], name: str) -> list[Any]:
    """Return the list in a property; an empty one without it. Raises WebApiError for anything else."""
    entries = raw.get(name) or []
    if not isinstance(entries, list):
        raise bad_payload(f"'{name}' must be an array.")
    return entries


def _value(attribute: Attribute, raw: Any) -> Value:
    """Return a value that is given alone or as `{"Value": …, "Type": "System.Guid"}`."""
    value = raw.get("Value") if isinstance(raw, dict) else raw
    try:
        return parse_guid(str(value)) if attribute.type.is_reference else read_value(attribute, value)
    except (ValueError, InvalidValue):
        raise bad_payload(f"{value!r} is no value of '{attribute.logical_name}'.") from None


@named("BulkDelete", "POST")
def bulk_delete(request: Request) -> Response:
    """Delete the records that the queries find.

    A record that cannot be deleted stays, and the rest are deleted, as in a job of Dataverse.
    """
    # All are read before anything is deleted: a wrong one refuses the whole request.
    for query in list(_queries(request)):
        for row in request.platform.query(query, call=request.call).rows:
            with suppress(RecordNotFound, StateConflict):
                # The query selects the primary key alone.
                id = str(next(iter(row.values())))
                request.platform.delete(query.entity, id, call=request.call)
    context_url = f"{request.base}$metadata#{NAMESPACE}.BulkDeleteResponse"
    return json_response({"@odata.context": context_url, "JobId": str(uuid.uuid4())})


def _queries(request: Request) -> Iterator[Query]:
    """Yield the queries of the body, each for the records of one entity to delete. Raises WebApiError."""
    raw_queries = request.json().get("QuerySet")
    if not isinstance(raw_queries, list) or not all(isinstance(item, dict) for item in raw_queries):
        raise bad_payload("'QuerySet' must be an array of QueryExpression.")
    for item in raw_queries:
        name = str(item.get("EntityName"))
        yield read_query(request.model.entity_type(name), item)
