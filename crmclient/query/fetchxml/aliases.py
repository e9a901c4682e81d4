"""The aliases of a document's links, written or made, and what `entityname` means."""

from __future__ import annotations

from collections import Counter

from crmclient.query.fetchxml import document
from crmclient.sentences import Sentence


class Aliases:
    """The aliases of a query's links.

    A link without an alias gets its entity's name and the number of the link, as in Dataverse.
    """

    def __init__(self, entity: document.Element) -> None:
        self._root = entity.get("name", "")
        links = list(entity.iter("link-entity"))
        self.count = len(links)
        written_aliases = Counter(alias for link in links if (alias := link.get("alias")))
        self.repeated = {alias for alias, count in written_aliases.items() if count > 1}
        self._known = set(written_aliases)
        # The alias of each link. A new one must not be one of those that are written.
        self._alias_of_link = {
            link: link.get("alias") or self._new_alias(link, number) for number, link in enumerate(links, 1)
        }
        # `entityname` may name the entity of a link without an alias: how many such links each entity has,
        # and the alias that the last of them got.
        self._unnamed = Counter(link.get("name") for link in links if not link.get("alias"))
        self._by_entity = {
            link.get("name"): self._alias_of_link[link] for link in links if not link.get("alias")
        }

    def of(self, link: document.Element) -> str:
        """Return the alias of a link: the one that is written, or else the one that was made for it."""
        return self._alias_of_link[link]

    def resolve(self, entity_name: str, holder: str | None) -> str | None:
        """Return the alias that an `entityname` means in the filter or order of `holder`; None for
        `holder` itself.

        An `entityname` is a link's alias, the entity of a link without an alias, or the query's own entity.
        Raises ValueError for any other text, and for one that means several of these.
        """
        if entity_name == holder:
            return None
        if entity_name in self._known:
            return entity_name
        # The links without an alias whose entity it is, and the query if that is its entity, too.
        candidates = self._unnamed[entity_name] + (entity_name == self._root)
        if candidates > 1:
            raise ValueError(
                Sentence(
                    "entityname %(name)s means more than one; give the links aliases", name=repr(entity_name)
                )
            )
        if entity_name in self._by_entity:
            alias = self._by_entity[entity_name]
            return None if alias == holder else alias
        if entity_name == self._root:
            # In a link, None would mean the link: the query's entity keeps its name there.
            return None if holder is None else entity_name
        raise ValueError(
            Sentence("entityname %(name)s is neither a link's alias nor the entity", name=repr(entity_name))
        )

    def _new_alias(self, link: document.Element, number: int) -> str:
        """Return an alias for the link that no other link has."""
        alias = f"{link.get('name')}{number}"
        while alias in self._known:
            alias += "_"
        self._known.add(alias)
        return alias
