"""The entity and the links of a query, as their columns are named in rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.metadata.documents import EntityDocument
from crmclient.dataverse.records.decoding import property_name
from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute, Entity
from crmclient.query.ast import Column, Link, Query


@dataclass(frozen=True, slots=True)
class Source:
    """The query's own entity, or a link. `alias` is None for the query's own entity."""

    alias: str | None
    entity: Entity
    document: EntityDocument
    columns: tuple[Column, ...]

    def key(self, attribute: str) -> str:
        """The key of an attribute in a row of the result: `alias.attribute` for a link's."""
        return attribute if self.alias is None else f"{self.alias}.{attribute}"

    def properties(self, attribute: Attribute) -> tuple[str, ...]:
        """Return the names that an attribute may have in Dataverse's rows. Those of a link are written in
        several ways.
        """
        name, alone = property_name(attribute), attribute.logical_name
        if self.alias is None:
            return (name,)
        names = dict.fromkeys((alone, name))
        return tuple(f"{self.alias}{dot}{name}" for dot in (".", "_x002e_") for name in names)

    def attribute(self, name: str) -> Attribute | None:
        return self.document.attributes.get(name)

    def known(self, name: str) -> Attribute:
        """Return the attribute `name`. Raises InvalidQuery when the entity does not have it."""
        attribute = self.attribute(name)
        if attribute is None:
            raise InvalidQuery(f"The entity {self.entity.logical_name!r} has no attribute {name!r}.")
        return attribute


def sources_of(query: Query, catalogue: Catalogue) -> dict[str | None, Source]:
    """Return the query's own entity and its links, by alias. Raises UnknownEntity, InvalidQuery."""
    sources: dict[str | None, Source] = {None: _source(None, query.entity, query.columns, catalogue)}
    for link in _links(query):
        if not link.alias or link.alias in sources:
            raise InvalidQuery(f"link-entity {link.alias or link.entity!r}: an alias of its own is needed.")
        sources[link.alias] = _source(link.alias, link.entity, link.columns, catalogue)
    return sources


def _source(alias: str | None, name: str, columns: tuple[Column, ...], catalogue: Catalogue) -> Source:
    return Source(alias, catalogue.entity(name), catalogue.document(name), columns)


def _links(source: Query | Link) -> Iterator[Link]:
    for link in (*(source.filter.links if source.filter else ()), *source.links):
        yield link
        yield from _links(link)
