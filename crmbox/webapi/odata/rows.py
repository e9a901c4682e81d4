"""The rows of a query as they are answered: which columns, under which names, in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crmbox.webapi.model import EntityType, Model, property_name
from crmbox.webapi.rendering import etag, put_value
from crmbox.webapi.request import Request, Response, json_response
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import Aggregate, Column, Link, Query
from crmclient.values import Values

MOST_COUNTED: Final = 5000

TOTAL: Final = "Microsoft.Dynamics.CRM.totalrecordcount"
LIMIT_EXCEEDED: Final = "Microsoft.Dynamics.CRM.totalrecordcountlimitexceeded"
MORE: Final = "Microsoft.Dynamics.CRM.morerecords"
FETCH_COOKIE: Final = "Microsoft.Dynamics.CRM.fetchxmlpagingcookie"


def counts(request: Request, total: int | None) -> dict[str, Any]:
    """`total` None: it was not asked for. A count is never above 5,000, as on the platform."""
    found: dict[str, Any] = {} if total is None else {"@odata.count": min(total, MOST_COUNTED)}
    return found | totals(request, total)


def totals(request: Request, total: int | None, *, always: bool = False) -> dict[str, Any]:
    """The platform's own annotations on the number of records: those that the caller prefers, or both."""
    wants = request.prefer.annotations.wants
    known = total if total is not None else -1
    found = {TOTAL: min(known, MOST_COUNTED), LIMIT_EXCEEDED: known > MOST_COUNTED}
    return {f"@{name}": value for name, value in found.items() if always or wants(name)}


def collection_response(request: Request, content: dict[str, Any], *, tracked: bool = False) -> Response:
    return json_response(content, headers=preference_applied(request, tracked=tracked))


def preference_applied(request: Request, *, tracked: bool = False) -> dict[str, str]:
    """The header that repeats which preferences were followed; `tracked`: that of changes, too."""
    applied = [
        f'{name}="{value}"' if name == "odata.include-annotations" else f"{name}={value}"
        for name, value in request.prefer.values.items()
        if name in ("odata.include-annotations", "odata.maxpagesize")
    ]
    if tracked:
        applied.append("odata.track-changes")
    return {"Preference-Applied": ",".join(applied)} if applied else {}


VERSION: Final = "versionnumber"


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the answer: its key in the query's rows, and the property it is shown as."""

    key: str
    name: str
    type: EntityType
    attribute: Attribute


def columns_of(model: Model, query: Query) -> list[Shown]:
    """The columns of the entity, then those of its links."""
    entity = model.entity_type(query.entity)
    shown = [column_of(entity, column, None) for column in query.columns]
    waiting = list(query.links)
    while waiting:
        link: Link = waiting.pop(0)
        linked = model.entity_type(link.entity)
        shown += [column_of(linked, column, link.alias) for column in link.columns]
        waiting = [*link.links, *waiting]
    return shown


def column_of(type_: EntityType, column: Column, link: str | None) -> Shown:
    """A column of the entity itself, or of the link with the alias `link`."""
    attribute = type_.attributes.get(column.attribute) or Attribute(column.attribute, AttributeType.STRING)
    if column.aggregate in (Aggregate.COUNT, Aggregate.COUNT_COLUMN):
        attribute = Attribute(column.attribute, AttributeType.INTEGER)
    elif column.date_grouping is not None:
        # A part of a date is shown as it is: years have no thousands.
        attribute = Attribute(column.attribute, AttributeType.STRING)
    key = column.alias or (column.attribute if link is None else f"{link}.{column.attribute}")
    name = property_name(attribute) if column.alias is None and link is None else key
    return Shown(key, name, type_, attribute)


def row_content(
    request: Request, shown: Sequence[Shown], row: Values, *, empty: bool = False
) -> dict[str, Any]:
    """A row; what is empty is left out, or null where `empty` values are wanted."""
    content: dict[str, Any] = {"@odata.etag": etag(str(row[VERSION]))} if VERSION in row else {}
    for item in shown:
        value = row[item.key]
        if value is not None or empty:
            put_value(
                content,
                request.model,
                item.type,
                item.attribute,
                item.name,
                value,
                request.prefer.annotations,
            )
    return content
