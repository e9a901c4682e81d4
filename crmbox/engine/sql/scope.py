"""The sources of a query: its entity and its links, with aliases for SQL and the meaning of names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from crmbox.engine.snapshot import Snapshot, StoredEntity
from crmbox.engine.sql.operands import Operand, name_of, operand_of
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Column, Filter, Link, LinkType, Query
from crmclient.query.bounds import MOST_COLUMNS, MOST_LINKS
from crmclient.query.families import UNREADABLE
from crmclient.query.lookup_names import lookup_named_by


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One entity of a query. `alias` is the query's (None for the root), `sql` the alias in SQL."""

    alias: str | None
    sql: str
    stored: StoredEntity

    @property
    def may_be_missing(self) -> bool:
        """Whether a row may lack this source, even its key."""
        return False

    @property
    def takes_part(self) -> bool:
        """Whether rows have columns of the source. A link that does not join only filters them."""
        return True

    @property
    def is_single(self) -> bool:
        """Whether the source is a link that finds only one record, or stands in such a link."""
        return False


@dataclass(frozen=True, slots=True, eq=False)
class JoinedSource(Source):
    """The entity of a link."""

    parent: Source
    link: Link

    @property
    def may_repeat(self) -> bool:
        """Whether one row of the parent can meet several records of this source."""
        return not self.is_single and self.link.from_attribute != self.stored.entity.primary_id

    @property
    def may_be_missing(self) -> bool:
        return self.link.type is LinkType.OUTER or self.parent.may_be_missing

    @property
    def takes_part(self) -> bool:
        return self.link.type.joins and self.parent.takes_part

    @property
    def is_single(self) -> bool:
        return self.link.type is LinkType.FIRST or self.parent.is_single


class Scope:
    """Every source by its alias, in the order of joining. Raises UnknownEntity and InvalidQuery."""

    def __init__(self, query: Query, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.root = Source(None, "t0", snapshot.entity(query.entity))
        self._sources: dict[str | None, Source] = {None: self.root}
        self._add_all(query.filter, query.links, self.root)

    @property
    def links(self) -> Iterator[JoinedSource]:
        """Yield the links that take part in the rows of the query."""
        every = (source for source in self._sources.values() if isinstance(source, JoinedSource))
        return (source for source in every if source.takes_part)

    def of_link(self, link: Link) -> JoinedSource:
        """Return the source of a link of the query."""
        source = self._sources[link.alias]
        assert isinstance(source, JoinedSource)  # noqa: S101
        return source

    def source(self, alias: str | None, construct: str) -> Source:
        """Return the source that `alias` names; None names the root.

        The root's entity names the root, too, unless a link has that alias. Raises InvalidQuery, which names
        `construct`, the part of the query.
        """
        source = self._sources.get(alias)
        if source is None and alias == self.root.stored.entity.logical_name:
            source = self.root
        if source is None:
            raise InvalidQuery(f"{construct}: no link has the alias {alias!r}.")
        return source

    def operand(self, source: Source, attribute: str, construct: str) -> Operand:
        """Return the operand of an attribute of a source. Raises InvalidQuery, which names `construct`.

        The name of a lookup's record counts as an attribute: the lookup's name followed by `name`, such as
        `owneridname`. The operand reads that name then.
        """
        label = f"{source.alias or source.stored.entity.logical_name}.{attribute}"
        column = source.stored.columns.get(attribute)
        lookup = None if column is not None else lookup_named_by(attribute, source.stored.attributes)
        column_to_read = column if lookup is None else source.stored.columns[lookup.logical_name]
        if column_to_read is None:
            raise InvalidQuery(
                f"{construct}: the entity {source.stored.entity.logical_name!r} has no attribute "
                f"{attribute!r}."
            )
        if not column_to_read.attribute.readable:
            raise InvalidQuery(f"{construct}: {UNREADABLE}.")
        operand = operand_of(column_to_read, source.sql, label)
        if lookup is not None:
            return name_of(operand, self.snapshot)
        return replace(operand, nullable=True) if source.may_be_missing else operand

    def _add_all(self, filter: Filter | None, links: tuple[Link, ...], parent: Source) -> None:
        """Add the links in the filter of `parent`, then its other links."""
        for link in (*(filter.links if filter else ()), *links):
            self._add(link, parent)

    def _add(self, link: Link, parent: Source) -> None:
        """Add a link and those inside it. Raises InvalidQuery."""
        construct = f"link-entity {link.alias or link.entity!r}"
        if not link.alias:
            raise InvalidQuery(f"{construct}: an alias is needed.")
        if link.alias in self._sources:
            raise InvalidQuery(f"{construct}: the alias {link.alias!r} is used twice.")
        # The root, which is no link, is one of the sources.
        if len(self._sources) > MOST_LINKS:
            raise InvalidQuery(f"{construct}: a query can have at most {MOST_LINKS} links.")
        entity = self.snapshot.entity(link.entity)
        source = JoinedSource(link.alias, f"t{len(self._sources)}", entity, parent, link)
        if link.columns and not source.takes_part:
            raise InvalidQuery(f"{construct}: a link of the type {link.type.value!r} gives no columns.")
        self._sources[link.alias] = source
        self._add_all(link.filter, link.links, source)


def selected_columns(query: Query, scope: Scope) -> list[tuple[Source, Column]]:
    """Return every column with its source, the entity's columns first; the primary id where the query has
    none.
    """
    columns = [(scope.root, column) for column in query.columns]
    for source in scope.links:
        columns.extend((source, column) for column in source.link.columns)
    if len(columns) > MOST_COLUMNS:
        raise InvalidQuery(f"attribute: a query can select at most {MOST_COLUMNS} columns.")
    return columns or [(scope.root, Column(scope.root.stored.entity.primary_id))]


def output_key(source: Source, column: Column) -> str:
    """Return the key of a column in a row: its alias, or the attribute after the link's alias and a dot."""
    if column.alias:
        return column.alias
    return column.attribute if source.alias is None else f"{source.alias}.{column.attribute}"


def unique_keys(columns: list[tuple[Source, Column]]) -> list[str]:
    """Return the key of each column in a row. Raises InvalidQuery where two columns have the same."""
    keys = [output_key(source, column) for source, column in columns]
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidQuery(f"attribute {key!r}: two columns have this name; give one of them an alias.")
    return keys
