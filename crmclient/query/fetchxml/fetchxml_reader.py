"""The elements fetch, entity and link-entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crmclient.query.ast import LinkType, Order
from crmclient.query.bounds import MOST_LINKS
from crmclient.query.designed import DesignedColumn, DesignedFilter, DesignedLink, DesignedQuery
from crmclient.query.fetchxml import document
from crmclient.query.fetchxml.aliases import Aliases
from crmclient.query.fetchxml.columns import read_column, read_order
from crmclient.query.fetchxml.elements import ElementReader
from crmclient.query.fetchxml.filters import FilterReader
from crmclient.query.problems import Problem, QueryProblems
from crmclient.sentences import Counted, Sentence

_LINK_TYPES: Final = {type.value: type for type in LinkType}
_CHILDREN: Final = frozenset({"attribute", "all-attributes", "order", "filter", "link-entity"})


def parse(text: str) -> DesignedQuery:
    """Return the query in a FetchXML text, which may also be only its entity element.

    Raises QueryProblems with everything that is wrong or not supported, each with its line.
    """
    query, problems = read(text)
    if problems:
        raise QueryProblems(problems)
    return query


def read(text: str) -> tuple[DesignedQuery, list[Problem]]:
    """Return as much of the query as can be read, and all problems, by line.

    What is wrong is left out of the query. Its names stay in, so that they can be checked against the
    metadata. Raises QueryProblems for a text that is no FetchXML at all.
    """
    problems: list[Problem] = []
    root = document.tree(text)
    if root.tag == "fetch":
        query = _read_fetch(ElementReader(root, "fetch", problems))
    elif root.tag == "entity":
        query = _read_entity(root, _Fetch(), problems)
    else:
        raise _wrong_root(root, "fetch")
    return query, sorted(problems, key=lambda problem: problem.line or 0)


def parse_filter(text: str) -> DesignedFilter:
    """Return the filter in a FetchXML filter element, which concerns one entity. Raises QueryProblems."""
    designed, problems = read_filter(text)
    if problems:
        raise QueryProblems(problems)
    return designed


def read_filter(text: str) -> tuple[DesignedFilter, list[Problem]]:
    """Return as much of the filter as can be read, and all problems, as `read` does of a query.

    Raises QueryProblems for a text that is no filter element at all.
    """
    root = document.tree(text)
    if root.tag != "filter":
        raise _wrong_root(root, "filter")
    problems: list[Problem] = []
    designed = _Reader(Aliases(root), problems, aggregate=False).filter_of(root, None)
    return designed, problems


def _wrong_root(root: document.Element, expected_tag: str) -> QueryProblems:
    """Return the error for a text whose first element is not the expected one."""
    sentence = Sentence("it begins with %(tag)s, not with %(wanted)s", tag=root.tag, wanted=expected_tag)
    return QueryProblems([Problem(document.DOCUMENT, sentence)])


@dataclass(frozen=True, slots=True)
class _Fetch:
    """The attributes of the fetch element."""

    aggregate: bool = False
    distinct: bool = False
    top: int | None = None
    page_size: int | None = None
    total: bool = False
    page: int = 1
    paging_cookie: str | None = None


@dataclass(frozen=True, slots=True)
class _Body:
    """The parts that an entity element and a link element share."""

    columns: tuple[DesignedColumn, ...]
    all_columns: bool
    filter: DesignedFilter | None
    links: tuple[DesignedLink, ...]


def _read_fetch(fetch: ElementReader) -> DesignedQuery:
    """Read a fetch element with its entity. Without exactly one entity, return an empty query."""
    fetch.ignore("version", "output-format", "no-lock", "latematerialize", "options", "savedqueryid")
    mapping = fetch.text("mapping")
    if mapping not in (None, "logical"):
        fetch.add_problem(Sentence("mapping %(name)s is not supported; only logical is", name=repr(mapping)))
    if fetch.flag("useraworderby"):
        fetch.add_problem(Sentence("useraworderby is not supported: choices are sorted by their labels"))
    fetch.refuse("utc-offset", Sentence("days begin in the service's time zone"))
    fetch.refuse("datasource", Sentence("retained data cannot be read"))
    fetch.refuse("aggregatelimit", Sentence("leave it to the platform"))
    page = fetch.whole("page")
    settings = _Fetch(
        aggregate=fetch.flag("aggregate"),
        distinct=fetch.flag("distinct"),
        top=fetch.whole("top"),
        page_size=fetch.whole("count"),
        total=fetch.flag("returntotalrecordcount"),
        page=page or 1,
        paging_cookie=fetch.text("paging-cookie") or None,
    )
    if settings.top is not None and (page is not None or settings.page_size is not None):
        fetch.add_problem(Sentence("top excludes page and count"))
    elif settings.page > 1 and settings.page_size is None:
        fetch.add_problem(Sentence("page needs count, which says how many rows a page has"))
    fetch.finish()
    entities = list(fetch.children({"entity"}))
    if len(entities) != 1:
        fetch.add_problem(
            Sentence("exactly one entity element is needed, not %(given)s", given=len(entities))
        )
        return DesignedQuery("")
    return _read_entity(entities[0], settings, fetch.problems)


def _read_entity(element: document.Element, fetch: _Fetch, problems: list[Problem]) -> DesignedQuery:
    """Read an entity element with all that is in it, as a query with the settings of `fetch`.

    Mistakes are added to `problems`.
    """
    entity = ElementReader(element, f"entity {element.get('name', '')}".rstrip(), problems)
    aliases = Aliases(element)
    if aliases.count > MOST_LINKS:
        entity.add_problem(
            Counted(
                "it has %(number)s link-entity element; at most %(most)s are allowed",
                "it has %(number)s link-entity elements; at most %(most)s are allowed",
                aliases.count,
                most=MOST_LINKS,
            )
        )
    for alias in sorted(aliases.repeated):
        entity.add_problem(
            Sentence("the alias %(alias)s is used by more than one link-entity", alias=repr(alias))
        )
    name = entity.required_name()
    _refuse_prefilter(entity)
    entity.finish()
    reader = _Reader(aliases, problems, aggregate=fetch.aggregate)
    body = reader.body(entity, None)
    query = DesignedQuery(
        entity=name,
        columns=body.columns,
        filter=body.filter,
        links=body.links,
        orders=reader.orders(entity),
        distinct=fetch.distinct,
        top=fetch.top,
        all_columns=body.all_columns,
        page_size=fetch.page_size,
        total=fetch.total,
        page=fetch.page,
        paging_cookie=fetch.paging_cookie,
    )
    # Beside other problems this says nothing: the column that aggregates may be what could not be read.
    if fetch.aggregate and not query.is_aggregate and not problems:
        entity.add_problem(Sentence("aggregate queries need columns that are grouped or aggregated"))
    return query


class _Reader:
    """Reads what stands in an entity and its links."""

    def __init__(self, aliases: Aliases, problems: list[Problem], *, aggregate: bool) -> None:
        self._aliases = aliases
        self._problems = problems
        self._aggregate = aggregate
        # By the alias of the link in which they stand; None for the entity.
        self._orders: dict[str | None, tuple[Order, ...]] = {}

    def body(self, parent: ElementReader, alias: str | None) -> _Body:
        """Read the children of an entity or a link. Only the order among children of the same kind
        matters.
        """
        children: dict[str, list[document.Element]] = {kind: [] for kind in _CHILDREN}
        for child in parent.children(_CHILDREN):
            children[str(child.tag)].append(child)
        links = [self.link(child) for child in children["link-entity"]]
        columns = [
            read_column(self._element_reader(child, "attribute"), aggregate=self._aggregate)
            for child in children["attribute"]
        ]
        self._orders[alias] = tuple(
            read_order(self._element_reader(child, "order"), alias, self._aliases, aggregate=self._aggregate)
            for child in children["order"]
        )
        return _Body(
            tuple(dict.fromkeys(columns)),
            self._all_columns(children["all-attributes"]),
            _with_links(
                self._filter(children["filter"], alias),
                tuple(link for link in links if link.type.stands_in_filter),
            ),
            tuple(link for link in links if not link.type.stands_in_filter),
        )

    def orders(self, entity: ElementReader) -> tuple[Order, ...]:
        """Return all orders of the query.

        Orders of both the entity and a link, or of several links, are a problem: which of them comes first is
        not defined.
        """
        orders_of_places = [orders for orders in self._orders.values() if orders]
        if len(orders_of_places) > 1:
            entity.add_problem(
                Sentence(
                    "order elements stand both here and in a link-entity, or in several of these: which "
                    "comes first is not defined; put all of them here, with entityname"
                )
            )
        return orders_of_places[0] if orders_of_places else ()

    def _all_columns(self, elements: list[document.Element]) -> bool:
        """Read the `all-attributes` elements of an entity or link. Return whether there is any."""
        for element in elements:
            reading = ElementReader(element, "all-attributes", self._problems)
            if self._aggregate:
                reading.add_problem(Sentence("aggregate queries cannot have all-attributes"))
            reading.refuse_children()
            reading.finish()
        return bool(elements)

    def _filter(self, elements: list[document.Element], alias: str | None) -> DesignedFilter | None:
        """Return the filters of one entity or link as one; None without any."""
        filters = tuple(self.filter_of(element, alias) for element in elements)
        if len(filters) > 1:
            return DesignedFilter(filters)
        return filters[0] if filters else None

    def filter_of(self, element: document.Element, alias: str | None) -> DesignedFilter:
        """Read a filter element of the link `alias`, or of the entity (None)."""
        return FilterReader(self._aliases, alias, self._problems, self.link).read(element)

    def link(self, element: document.Element) -> DesignedLink:
        """Read a link with the links in it. A link of an unknown type is read as an inner one."""
        alias = self._aliases.of(element)
        link = ElementReader(element, f"link-entity {element.get('name', '')} ({alias})", self._problems)
        link.ignore("intersect", "visible")
        _refuse_prefilter(link)
        kind = link.text("link-type") or "inner"
        type = _LINK_TYPES.get(kind)
        if type is None:
            choices = ", ".join(_LINK_TYPES)
            link.add_problem(
                Sentence(
                    "the link-type %(kind)s is not supported; there are %(known)s",
                    kind=repr(kind),
                    known=choices,
                )
            )
            type = LinkType.INNER
        # Read for its problems: `Aliases` has read the alias itself.
        link.name("alias")
        name, from_, to = link.required_name(), link.required_name("from"), link.required_name("to")
        link.finish()
        body = self.body(link, alias)
        if not type.joins and (self._orders[alias] or _has_columns(body)):
            link.add_problem(
                Sentence(
                    "a link-entity of the link-type %(kind)s gives no columns to answer or to sort by; take "
                    "attribute and order out of it",
                    kind=repr(kind),
                )
            )
        return DesignedLink(
            entity=name,
            from_attribute=from_,
            to_attribute=to,
            alias=alias,
            type=type,
            columns=body.columns,
            filter=body.filter,
            links=body.links,
            all_columns=body.all_columns,
        )

    def _element_reader(self, element: document.Element, kind: str) -> ElementReader:
        """Return the reader of an element, which messages name by `kind` and by the name in it."""
        name = element.get("name") or element.get("attribute") or element.get("alias") or ""
        return ElementReader(element, f"{kind} {name}".rstrip(), self._problems)


def _has_columns(source: _Body | DesignedLink) -> bool:
    """Whether the answer has any column of `source`, or of the links in it."""
    return bool(source.columns) or source.all_columns or any(map(_has_columns, source.links))


def _with_links(filter: DesignedFilter | None, links: tuple[DesignedLink, ...]) -> DesignedFilter | None:
    """Return a filter that holds where `filter` and all `links` hold.

    The links are of types that stand in filters, but were written beside the filter.
    """
    if filter is None:
        return DesignedFilter(links) if links else None
    return DesignedFilter((filter, *links)) if links else filter


def _refuse_prefilter(reading: ElementReader) -> None:
    """Note a problem for an entity or link that takes the filter of a report."""
    if reading.flag("enableprefiltering"):
        reading.add_problem(
            Sentence("enableprefiltering is not supported: a report's filter is not known here")
        )
    reading.ignore("prefilterparametername")
