"""The entity and the links of a query, as their columns are named in rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

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

    def property_names(self, attribute: Attribute) -> tuple[str, ...]:
        """Return the names that an attribute may have in Dataverse's rows. Those of a link are written in
        several ways.
        """
        name, alone = property_name(attribute), attribute.logical_name
        if self.alias is None:
            return (name,)
        names = dict.fromkeys((alone, name))
        return tuple(f"{self.alias}{dot}{name}" for dot in (".", "_x002e_") for name in names)

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute `name`; None when the entity does not have it."""
        return self.document.attributes.get(name)

    def known(self, name: str) -> Attribute:
        """Return the attribute `name`. Raises InvalidQuery when the entity does not have it."""
        attribute = self.attribute(name)
        if attribute is None:
            raise InvalidQuery(f"The entity {self.entity.logical_name!r} has no attribute {name!r}.")
        return attribute


Sources: TypeAlias = Mapping[str | None, Source]
"""The query's own entity (None) and its links, by alias."""


def sources_of(query: Query, catalogue: Catalogue) -> dict[str | None, Source]:
    """Return the query's own entity and its links, by alias. Raises UnknownEntity, InvalidQuery."""
    sources: dict[str | None, Source] = {None: _source(None, query.entity, query.columns, catalogue)}
    for link in _links(query):
        if not link.alias or link.alias in sources:
            raise InvalidQuery(f"link-entity {link.alias or link.entity!r}: an alias of its own is needed.")
        sources[link.alias] = _source(link.alias, link.entity, link.columns, catalogue)
    return sources


def source_named(sources: Sources, alias: str | None, holder: str | None, construct: str) -> Source:
    """Return the source that `alias` names in the filter of the entity (`holder` None) or of a link.

    Without an alias, it is the holder itself. The name of the query's own entity means that entity, unless a
    link has that alias. Raises InvalidQuery.
    """
    source = sources.get(holder if alias is None else alias)
    if source is None and alias == sources[None].entity.logical_name:
        return sources[None]
    if source is None:
        raise InvalidQuery(f"{construct}: no link has the alias {alias!r}.")
    return source


def _source(alias: str | None, name: str, columns: tuple[Column, ...], catalogue: Catalogue) -> Source:
    """Return the source for the entity `name`. Raises UnknownEntity."""
    return Source(alias, catalogue.entity(name), catalogue.document(name), columns)


def _links(source: Query | Link) -> Iterator[Link]:
    """Yield all links of a query or link: those in its filter, its own, and those inside them."""
    for link in (*(source.filter.links if source.filter else ()), *source.links):
        yield link
        yield from _links(link)
