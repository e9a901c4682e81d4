"""`$apply`: `filter(…)/groupby((statecode),aggregate(revenue with sum as total,$count as n))`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.options import Options, split, split_call
from crmbox.webapi.odata.page_links import NO_RECORD, Paging
from crmbox.webapi.odata.properties import Paths
from crmbox.webapi.odata.record_reader import RecordReader, directions
from crmbox.webapi.odata.rows import collection_response, counts
from crmbox.webapi.rendering import put_value
from crmbox.webapi.request import Request, Response
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import Aggregate, Column, Filter, Order, Query
from crmclient.values import Values

_METHODS: Final = {
    "sum": Aggregate.SUM,
    "average": Aggregate.AVG,
    "min": Aggregate.MIN,
    "max": Aggregate.MAX,
    "countdistinct": Aggregate.COUNT_COLUMN,
}
_AGGREGATE: Final = re.compile(r"(\S+)\s+with\s+(\S+)\s+as\s+([A-Za-z_]\w*)").fullmatch
_COUNT: Final = re.compile(r"\$count\s+as\s+([A-Za-z_]\w*)").fullmatch


@dataclass(frozen=True, slots=True)
class _ShownColumn:
    """A column of the answer: `key` in the query's rows, the path of properties it is shown under."""

    key: str
    path: tuple[str, ...]
    type: EntityType
    attribute: Attribute


@dataclass(slots=True)
class _ApplyReader:
    """Reads the steps of `$apply` into the columns and filters of a query, and what is shown of its rows."""

    record_reader: RecordReader
    paths: Paths
    filters: list[Filter] = field(default_factory=list)
    shown: list[_ShownColumn] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Read the whole of `$apply`: filters, and as the last step a groupby or an aggregate. Raises
        WebApiError.
        """
        *steps_before, last_step = split(text, "/")
        for step in steps_before:
            name, inside = split_call(step)
            if name != "filter" or inside is None:
                raise unsupported(f"'{name}' before the last step of $apply")
            self._filter(inside)
        name, inside = split_call(last_step)
        match name:
            case "groupby" if inside is not None:
                self._group_by(inside)
            case "aggregate" if inside is not None:
                self._aggregate(inside)
            case _:
                raise unsupported(f"'{name}' as the last step of $apply")

    def _filter(self, text: str) -> None:
        """Read `filter(text)`, and add it to the filters."""
        condition = self.record_reader.filter(text, self.paths)
        if condition is not None:
            self.filters.append(condition)

    def _group_by(self, text: str) -> None:
        """Read `(names)` with, after a comma, the aggregates of each group if there are any."""
        names, *next_steps = split(text, ",")
        if not (names.startswith("(") and names.endswith(")")) or len(next_steps) > 1:
            raise bad_url(f"Syntax error in groupby({text}).")
        for name in split(names[1:-1], ","):
            if "(" in name:
                raise unsupported(f"'{name}' in groupby")
            path = tuple(name.split("/"))
            place = self.paths.place(path, logical=True)
            self._show(path, place.attribute, Column(place.attribute.logical_name, group_by=True), path)
        if next_steps:
            method, inside = split_call(next_steps[0])
            if method != "aggregate" or inside is None:
                raise unsupported(f"'{method}' in groupby")
            self._aggregate(inside)

    def _aggregate(self, text: str) -> None:
        """Read aggregates such as `revenue with sum as total` and `$count as n`, separated by commas."""
        for item in split(text, ","):
            if count_match := _COUNT(item):
                key = self.paths.type.entity.primary_id
                attribute = Attribute(count_match[1], AttributeType.INTEGER)
                self._show((count_match[1],), attribute, Column(key, aggregate=Aggregate.COUNT), (key,))
                continue
            match = _AGGREGATE(item)
            if match is None:
                raise bad_url(
                    f"Syntax error in aggregate({item}): 'property with method as alias' is needed."
                )
            name, method, alias = match.groups()
            aggregate = _METHODS.get(method)
            if aggregate is None:
                raise unsupported(f"the method '{method}' of aggregate")
            path = tuple(name.split("/"))
            attribute = self.paths.place(path, logical=True).attribute
            distinct = aggregate is Aggregate.COUNT_COLUMN
            column = Column(attribute.logical_name, aggregate=aggregate, distinct=distinct)
            shown_attribute = Attribute(alias, AttributeType.INTEGER) if distinct else attribute
            self._show((alias,), shown_attribute, column, path)

    def _show(
        self, name: tuple[str, ...], attribute: Attribute, column: Column, path: tuple[str, ...]
    ) -> None:
        """Select `column` of the entity that `path` leads to. Show its values, which are of the type of
        `attribute`, under the path `name`.
        """
        place = self.paths.place(path, logical=True)
        key = f"column{len(self.shown)}"
        self.paths.select(place, replace(column, alias=key))
        self.shown.append(_ShownColumn(key, name, self.paths.type_at(place), attribute))


def apply(request: Request, type_: EntityType, options: Options) -> Response:
    """Answer a query with `$apply`. Raises WebApiError, and what `Platform.query` raises."""
    if options.select or options.expand:
        raise unsupported("$select and $expand beside $apply")
    record_reader = RecordReader(request)
    apply_reader = _ApplyReader(record_reader, Paths(request.model, type_))
    apply_reader.read(options.apply or "")
    conditions = record_reader.filter(options.filter, apply_reader.paths, tuple(apply_reader.filters))
    query = Query(
        entity=type_.name,
        columns=apply_reader.paths.columns,
        filter=conditions,
        links=apply_reader.paths.links,
        orders=_orders(options.orderby, apply_reader.shown),
    )
    paging = Paging(request, options)
    answer = request.platform.query(query, paging.page, call=request.call)
    names = ",".join("/".join(item.path) for item in apply_reader.shown)
    content: dict[str, Any] = {
        "@odata.context": f"{request.base}$metadata#{type_.entity.entity_set}({names})",
        **counts(request, answer.total),
        "value": [_content(request, apply_reader.shown, row) for row in paging.rows_to_answer(answer.rows)],
        **paging.next_link(answer.next, type_.entity.primary_id, NO_RECORD, NO_RECORD),
    }
    return collection_response(request, content)


def _orders(text: str | None, shown: list[_ShownColumn]) -> tuple[Order, ...]:
    """Read `$orderby` beside `$apply`: by columns that are shown. Raises WebApiError for any other."""
    keys = {"/".join(item.path): item.key for item in shown}
    orders = []
    for name, descending in directions(text):
        if name not in keys:
            raise bad_url(f"$orderby: '{name}' is not among the columns that $apply gives.")
        orders.append(Order(alias=keys[name], descending=descending))
    return tuple(orders)


def _content(request: Request, shown: list[_ShownColumn], row: Values) -> dict[str, Any]:
    """Return a row as JSON. Properties reached through a lookup stand in an object of that name, as OData
    has it.
    """
    content: dict[str, Any] = {}
    for item in shown:
        container = content
        for name in item.path[:-1]:
            container = container.setdefault(name, {})
        name, value = item.path[-1], row[item.key]
        put_value(
            container, request.model, item.type, item.attribute, name, value, request.prefer.annotations
        )
    return content
