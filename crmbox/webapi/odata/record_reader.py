"""Records of an entity as a query's options want them: asked for, rendered, and expanded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from crmbox.webapi.base64_bodies import leave_out_bodies, put_bodies
from crmbox.webapi.errors import bad_url
from crmbox.webapi.model import EntityType
from crmbox.webapi.navigation import Collection, Lookup
from crmbox.webapi.odata.filters import Filters
from crmbox.webapi.odata.options import Expansion, Options, aliases, read_expansions, split
from crmbox.webapi.odata.properties import Paths
from crmbox.webapi.odata.related import Related, among_keys
from crmbox.webapi.rendering import record_json, record_url
from crmbox.webapi.request import Request
from crmclient.query.ast import ALL, Column, Filter, Link, Order, Page, Query
from crmclient.values import Guid, Reference, Value, Values

VERSION = "versionnumber"
# The characters of an option that a link repeats as they are. Others are encoded.
_KEPT_IN_OPTIONS = "(),/$=;:@'"


def columns_of(type_: EntityType, select: str | None) -> tuple[str, ...]:
    """Return the logical names of the selected attributes and the primary key.

    Without a `$select`, all readable attributes are returned. Raises WebApiError for a name that is no
    property.
    """
    if select is None or not select.strip() or select.strip() == "*":
        return tuple(name for name, attribute in type_.attributes.items() if attribute.readable)
    names = [type_.entity.primary_id]
    for item in select.split(","):
        name = item.strip()
        attribute = type_.selectable.get(name)
        if attribute is None:
            raise bad_url(f"Could not find a property named '{name}' on type '{type_.type_name}'.")
        names.append(attribute.logical_name)
    return tuple(dict.fromkeys(names))


def read_orders(text: str | None, paths: Paths) -> tuple[Order, ...]:
    """Read the orders of `$orderby`. Raises WebApiError."""
    orders = []
    for name, descending in directions(text):
        place = paths.place(name.split("/"))
        orders.append(Order(place.attribute.logical_name, None, place.link, descending))
    return tuple(orders)


def directions(text: str | None) -> list[tuple[str, bool]]:
    """Return the names in `$orderby`, each with whether it descends. Raises WebApiError."""
    if not text or not text.strip():
        return []
    orders = []
    for item in split(text, ","):
        words = item.split()
        direction = words[1].lower() if len(words) == 2 else "asc"
        if not 1 <= len(words) <= 2 or direction not in ("asc", "desc"):
            raise bad_url(f"Syntax error in $orderby: '{item}'.")
        orders.append((words[0], direction == "desc"))
    return orders


@dataclass(frozen=True, slots=True)
class Row:
    """A record that was read.

    `values` are by logical name, and include some that are not shown; `content` is the record as JSON.
    """

    id: Guid
    values: Values
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The rows of one page, the token of the next page, and the number of all rows if it was asked for."""

    rows: list[Row]
    next: str | None
    total: int | None


class RecordReader:
    """Reads records for a request: with one query for the rows, and one for each expansion."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.model = request.model
        related = Related(request.model, request.platform, request.call)
        self._filters = Filters(
            related=related,
            platform=request.platform,
            call=request.call,
            user=request.user,
            aliases=aliases(request.query),
        )

    def rows(
        self,
        type_: EntityType,
        options: Options,
        *,
        within: tuple[Filter, ...] = (),
        links: tuple[Link, ...] = (),
        hidden: tuple[str, ...] = (),
        page: Page = ALL,
    ) -> FoundRows:
        """Return the records that match `within` and the filter of the options.

        `links` are joined beside those that the options need, for `within` or to restrict the records. The
        values of the attributes `hidden` are read too, but not shown.
        """
        shown = columns_of(type_, options.select)
        expansions = read_expansions(type_, options.expand)
        paths = Paths(self.model, type_)
        filter = self.filter(options.filter, paths, within)
        orders = read_orders(options.orderby, paths)
        needed = dict.fromkeys((*shown, VERSION, *hidden, *_lookup_attributes(expansions)))
        columns = tuple(Column(name) for name in needed if name in type_.attributes)
        query = Query(
            entity=type_.name, columns=columns, filter=filter, links=(*links, *paths.links), orders=orders
        )
        result = self.request.platform.query(query, page, call=self.request.call)
        if options.select is None:
            shown = leave_out_bodies(type_, shown)
        rows = [self._row(type_, shown, values) for values in result.rows]
        self._expand(type_, rows, expansions)
        return FoundRows(rows, result.next, result.total)

    def count(
        self, type_: EntityType, options: Options, within: tuple[Filter, ...], links: tuple[Link, ...]
    ) -> int:
        """Return the number of records that match, as in `rows`."""
        paths = Paths(self.model, type_)
        filter = self.filter(options.filter, paths, within)
        columns = (Column(type_.entity.primary_id),)
        query = Query(type_.name, columns, filter, (*links, *paths.links))
        result = self.request.platform.query(query, Page(size=1, total=True), call=self.request.call)
        return result.total or 0

    def filter(self, text: str | None, paths: Paths, within: tuple[Filter, ...] = ()) -> Filter | None:
        """Return the filter of `within` and a `$filter`; None if both are empty. Raises WebApiError."""
        conditions = () if text is None or not text.strip() else (self._filters.read(text, paths),)
        parts = (*within, *conditions)
        return Filter(parts) if parts else None

    def one(self, type_: EntityType, id: Guid, options: Options) -> dict[str, Any]:
        """Return a record as JSON. Raises WebApiError, and as `Platform.retrieve`."""
        shown = columns_of(type_, options.select)
        expansions = read_expansions(type_, options.expand)
        needed = tuple(dict.fromkeys((*shown, VERSION, *_lookup_attributes(expansions))))
        record = self.request.platform.retrieve(type_.name, id, needed, call=self.request.call)
        row = self._row(type_, shown, {type_.entity.primary_id: record.id, **record.values})
        self._expand(type_, [row], expansions)
        return row.content

    def _expand(self, type_: EntityType, rows: list[Row], expansions: tuple[Expansion, ...]) -> None:
        """Put the records of the expansions into the content of the rows."""
        for expansion in expansions:
            _put_expansion(self, type_, rows, expansion)

    def _row(self, type_: EntityType, shown: tuple[str, ...], values: Values) -> Row:
        """Return a record with the attributes `shown` as JSON. `values` has all that were read."""
        content = record_json(
            self.model,
            type_,
            {name: values[name] for name in shown},
            version=str(values[VERSION]) if VERSION in type_.attributes else None,
            annotations=self.request.prefer.annotations,
        )
        put_bodies(self.request, type_, shown, values, content)
        return Row(str(values[type_.entity.primary_id]), values, content)


def _lookup_attributes(expansions: tuple[Expansion, ...]) -> tuple[str, ...]:
    """Return the lookups that are expanded, whose values say which records to read."""
    return tuple(
        item.navigation.attribute for item in expansions if not isinstance(item.navigation, Collection)
    )


def _put_expansion(reader: RecordReader, type_: EntityType, rows: list[Row], expansion: Expansion) -> None:
    """Put the records of an expansion into the rows. Raises WebApiError, and as `Platform.query`."""
    if isinstance(expansion.navigation, Lookup):
        _put_lookup(reader, rows, expansion, expansion.navigation)
    else:
        _put_collection(reader, type_, rows, expansion, expansion.navigation)


def _put_lookup(reader: RecordReader, rows: list[Row], expansion: Expansion, lookup: Lookup) -> None:
    """Put the record that a lookup points at into each row: null for an empty lookup, and for a target that
    the lookup's name does not lead to.
    """
    pointed = [row.values[lookup.attribute] for row in rows]
    for target in lookup.targets:
        keys = tuple(dict.fromkeys(r.id for r in pointed if isinstance(r, Reference) and r.entity == target))
        type_ = reader.model.entity_type(target)
        if expansion.reference:
            contents_by_id = {key: {"@odata.id": record_url(reader.request.base, type_, key)} for key in keys}
        else:
            contents_by_id = {
                row.id: row.content for row in _records_with_keys(reader, type_, expansion.options, keys)
            }
        if len(lookup.targets) > 1:
            contents_by_id = {
                key: {"@odata.type": f"#{type_.type_name}", **contents_by_id[key]} for key in contents_by_id
            }
        for row, reference in zip(rows, pointed, strict=True):
            if not isinstance(reference, Reference):
                row.content[lookup.name] = None
            elif reference.entity == target:
                row.content[lookup.name] = contents_by_id.get(reference.id)
            else:
                # The turn of another target may have put the record there.
                row.content.setdefault(lookup.name, None)


def _records_with_keys(
    reader: RecordReader, type_: EntityType, options: Options, keys: tuple[Guid, ...]
) -> list[Row]:
    """Return the records of an entity that have one of `keys`, as the options want them."""
    if not keys:
        return []
    filter = Filter((among_keys(type_.entity.primary_id, keys),))
    return reader.rows(type_, options, within=(filter,)).rows


def _put_collection(
    reader: RecordReader, type_: EntityType, rows: list[Row], expansion: Expansion, collection: Collection
) -> None:
    """Put the related records of each row into it, with the address where they are read on their own."""
    keys = tuple(row.id for row in rows)
    members = _members(reader, type_, expansion, collection, keys) if keys else {}
    for row in rows:
        related = members.get(row.id, [])
        # One query has read the related records of all rows, so $top is applied to each row here.
        row.content[collection.name] = [member.content for member in related[: expansion.options.top]]
        # As in Dataverse, every collection has it: it reads the same records on their own, and is no next
        # page.
        row.content[f"{collection.name}@odata.nextLink"] = _address(reader, type_, row.id, expansion)


def _members(
    reader: RecordReader,
    type_: EntityType,
    expansion: Expansion,
    collection: Collection,
    keys: tuple[Guid, ...],
) -> dict[Guid, list[Row]]:
    """Return the related records of each key, in the order that the options ask for."""
    target = reader.model.entity_type(collection.entity)
    members: dict[Guid, list[Row]] = defaultdict(list)
    if collection.attribute is not None:
        filter = Filter((among_keys(collection.attribute, keys),))
        answer = reader.rows(target, expansion.options, within=(filter,), hidden=(collection.attribute,))
        for row in answer.rows:
            members[_id_in(row.values[collection.attribute])].append(row)
        return members
    owners = _owners_by_related(reader, collection, keys)
    for row in _records_with_keys(reader, target, expansion.options, tuple(owners)):
        for owner in owners[row.id]:
            members[owner].append(row)
    return members


def _owners_by_related(
    reader: RecordReader, collection: Collection, keys: tuple[Guid, ...]
) -> dict[Guid, list[Guid]]:
    """Return the owners of each related record, by its id, in a many-to-many relationship. `keys` are the ids
    of the owners.
    """
    owner_attribute, related_attribute = collection.pair
    query = Query(
        # A many-to-many relationship has one.
        collection.relationship.intersect or "",
        (Column(owner_attribute), Column(related_attribute)),
        Filter((among_keys(owner_attribute, keys),)),
    )
    owners: dict[Guid, list[Guid]] = defaultdict(list)
    for pair in reader.request.platform.query(query, call=reader.request.call).rows:
        owners[_id_in(pair[related_attribute])].append(_id_in(pair[owner_attribute]))
    return owners


def _address(reader: RecordReader, type_: EntityType, id: Guid, expansion: Expansion) -> str:
    """Return the address where the related records of one record are read on their own."""
    options = "&".join(_quoted(part) for part in split(expansion.text, ";") if part)
    url = f"{record_url(reader.request.base, type_, id)}/{expansion.navigation.name}"
    return f"{url}?{options}" if options else url


def _quoted(option: str) -> str:
    """Return an option such as `$top=5` with its value encoded for a URL."""
    name, _, value = option.partition("=")
    return f"{name.strip()}={quote(value.strip(), safe=_KEPT_IN_OPTIONS)}"


def _id_in(value: Value) -> Guid:
    """Return the id in a lookup or an id column."""
    return value.id if isinstance(value, Reference) else str(value)
