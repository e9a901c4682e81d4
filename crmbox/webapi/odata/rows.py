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
    """Return the annotations on the number of records, with `@odata.count` unless `total` is None.

    As on the platform, the count is never above 5,000.
    """
    fields: dict[str, Any] = {} if total is None else {"@odata.count": min(total, MOST_COUNTED)}
    return fields | totals(request, total)


def totals(request: Request, total: int | None, *, always: bool = False) -> dict[str, Any]:
    """Return the annotations of Dataverse on the number of records that the caller prefers, or always both.

    `total` is None if the records were not counted; the number is -1 then.
    """
    wants = request.prefer.annotations.wants
    count = total if total is not None else -1
    fields = {TOTAL: min(count, MOST_COUNTED), LIMIT_EXCEEDED: count > MOST_COUNTED}
    return {f"@{name}": value for name, value in fields.items() if always or wants(name)}


def collection_response(request: Request, content: dict[str, Any], *, tracked: bool = False) -> Response:
    return json_response(content, headers=preference_applied(request, tracked=tracked))


def preference_applied(request: Request, *, tracked: bool = False) -> dict[str, str]:
    """Return the header that repeats the preferences that were followed.

    With `tracked`, that of tracking changes is one of them.
    """
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
class ShownColumn:
    """A column of the answer: its key in the rows of the query, and the property it is shown as."""

    key: str
    name: str
    type: EntityType
    attribute: Attribute


def columns_of(model: Model, query: Query) -> list[ShownColumn]:
    """Return the columns of a query: those of its entity, then those of its links, depth first."""
    entity = model.entity_type(query.entity)
    shown = [column_of(entity, column, None) for column in query.columns]
    links_left = list(query.links)
    while links_left:
        link: Link = links_left.pop(0)
        linked = model.entity_type(link.entity)
        shown += [column_of(linked, column, link.alias) for column in link.columns]
        links_left = [*link.links, *links_left]
    return shown


def column_of(type_: EntityType, column: Column, link: str | None) -> ShownColumn:
    """Return how a column of the entity itself, or of the link with the alias `link`, is shown."""
    # The name of a lookup's record, such as `owneridname`, is a column without an attribute of its own.
    attribute = type_.attributes.get(column.attribute) or Attribute(column.attribute, AttributeType.STRING)
    if column.aggregate in (Aggregate.COUNT, Aggregate.COUNT_COLUMN):
        attribute = Attribute(column.attribute, AttributeType.INTEGER)
    elif column.date_grouping is not None:
        # A part of a date is shown as it is: years have no thousands.
        attribute = Attribute(column.attribute, AttributeType.STRING)
    key = column.alias or (column.attribute if link is None else f"{link}.{column.attribute}")
    name = property_name(attribute) if column.alias is None and link is None else key
    return ShownColumn(key, name, type_, attribute)


def row_content(
    request: Request, shown: Sequence[ShownColumn], row: Values, *, empty: bool = False
) -> dict[str, Any]:
    """Return a row as JSON. Empty values are left out, or are null with `empty`."""
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
