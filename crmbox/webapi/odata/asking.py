"""Records of an entity as a query's options want them: asked for, rendered, and expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crmbox.webapi.errors import bad_url
from crmbox.webapi.files.bodies import leave_bodies, put_bodies
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata import expanding
from crmbox.webapi.odata.filters import Filters
from crmbox.webapi.odata.navigation import Collection
from crmbox.webapi.odata.options import Expansion, Options, aliases, read_expansions, split
from crmbox.webapi.odata.properties import Paths
from crmbox.webapi.odata.related import Related
from crmbox.webapi.rendering import record_json
from crmbox.webapi.request import Request
from crmclient.query.ast import ALL, Column, Filter, Link, Order, Page, Query
from crmclient.values import Guid, Values


def columns_of(type_: EntityType, select: str | None) -> tuple[str, ...]:
    """Logical names, the primary key among them; all attributes without a `$select`.

    Raises WebApiError for a name that is no property.
    """
    if select is None or not select.strip() or select.strip() == "*":
        return tuple(type_.attributes)
    found = [type_.entity.primary_id]
    for item in select.split(","):
        name = item.strip()
        attribute = type_.selectable.get(name)
        if attribute is None:
            raise bad_url(f"Could not find a property named '{name}' on type '{type_.type_name}'.")
        found.append(attribute.logical_name)
    return tuple(dict.fromkeys(found))


def read_orders(text: str | None, paths: Paths) -> tuple[Order, ...]:
    """Raises WebApiError."""
    orders = []
    for name, descending in directions(text):
        place = paths.place(name.split("/"))
        orders.append(Order(place.attribute.logical_name, None, place.link, descending))
    return tuple(orders)


def directions(text: str | None) -> list[tuple[str, bool]]:
    """Each name with whether it descends."""
    if not text or not text.strip():
        return []
    found = []
    for item in split(text, ","):
        words = item.split()
        direction = words[1].lower() if len(words) == 2 else "asc"
        if not 1 <= len(words) <= 2 or direction not in ("asc", "desc"):
            raise bad_url(f"Syntax error in $orderby: '{item}'.")
        found.append((words[0], direction == "desc"))
    return found


VERSION = "versionnumber"


@dataclass(frozen=True, slots=True)
class Row:
    """`values` by logical name, more than are shown; `content` is the record as JSON."""

    id: Guid
    values: Values
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    rows: list[Row]
    next: str | None
    total: int | None


class Asking:
    """Asks on behalf of one request."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.model = request.model
        related = Related(request.model, request.platform, request.call)
        self._filters = Filters(related, request.platform, request.call, request.user, aliases(request.query))

    def rows(
        self,
        type_: EntityType,
        options: Options,
        *,
        within: tuple[Filter, ...] = (),
        links: tuple[Link, ...] = (),
        also: tuple[str, ...] = (),
        page: Page = ALL,
    ) -> Found:
        """The records for which `within` and the options' filter hold; `also` are further attributes."""
        shown = columns_of(type_, options.select)
        expansions = read_expansions(type_, options.expand)
        paths = Paths(self.model, type_)
        filter = self.filter(options.filter, paths, within)
        orders = read_orders(options.orderby, paths)
        needed = dict.fromkeys((*shown, VERSION, *also, *_lookups(expansions)))
        columns = tuple(Column(name) for name in needed if name in type_.attributes)
        query = Query(type_.name, columns, filter, (*links, *paths.links), orders)
        result = self.request.platform.query(query, page, call=self.request.call)
        if options.select is None:
            shown = leave_bodies(type_, shown)
        rows = [self._row(type_, shown, values) for values in result.rows]
        self._expand(type_, rows, expansions)
        return Found(rows, result.next, result.total)

    def count(
        self, type_: EntityType, options: Options, within: tuple[Filter, ...], links: tuple[Link, ...]
    ) -> int:
        """How many records there are."""
        paths = Paths(self.model, type_)
        filter = self.filter(options.filter, paths, within)
        columns = (Column(type_.entity.primary_id),)
        query = Query(type_.name, columns, filter, (*links, *paths.links))
        result = self.request.platform.query(query, Page(size=1, total=True), call=self.request.call)
        return result.total or 0

    def filter(self, text: str | None, paths: Paths, within: tuple[Filter, ...] = ()) -> Filter | None:
        """`within`, and what a `$filter` says. Raises WebApiError."""
        own = () if text is None or not text.strip() else (self._filters.read(text, paths),)
        parts = (*within, *own)
        return Filter(parts) if parts else None

    def one(self, type_: EntityType, id: Guid, options: Options) -> dict[str, Any]:
        """One record as JSON. Raises WebApiError, and what `Platform.retrieve` raises."""
        shown = columns_of(type_, options.select)
        expansions = read_expansions(type_, options.expand)
        needed = tuple(dict.fromkeys((*shown, VERSION, *_lookups(expansions))))
        record = self.request.platform.retrieve(type_.name, id, needed, call=self.request.call)
        row = self._row(type_, shown, {type_.entity.primary_id: record.id, **record.values})
        self._expand(type_, [row], expansions)
        return row.content

    def _expand(self, type_: EntityType, rows: list[Row], expansions: tuple[Expansion, ...]) -> None:
        """Put what the expansions lead to into the rows' content."""
        for expansion in expansions:
            expanding.expand(self, type_, rows, expansion)

    def _row(self, type_: EntityType, shown: tuple[str, ...], values: Values) -> Row:
        content = record_json(
            self.model,
            type_,
            {name: values[name] for name in shown},
            version=str(values[VERSION]) if VERSION in type_.attributes else None,
            annotations=self.request.prefer.annotations,
        )
        put_bodies(self.request, type_, shown, values, content)
        return Row(str(values[type_.entity.primary_id]), values, content)


def _lookups(expansions: tuple[Expansion, ...]) -> tuple[str, ...]:
    return tuple(
        item.navigation.attribute for item in expansions if not isinstance(item.navigation, Collection)
    )
