"""The aliases of a document's links, written or made, and what `entityname` means."""

from __future__ import annotations

from collections import Counter

from crmclient.query.fetchxml import document
from crmclient.sentences import Sentence


class Aliases:
    """A link without an alias gets its entity's name and the number of the link, as on Dataverse."""

    def __init__(self, entity: document.Element) -> None:
        self._root = entity.get("name", "")
        links = list(entity.iter("link-entity"))
        self.count = len(links)
        written = Counter(alias for link in links if (alias := link.get("alias")))
        self.repeated = {alias for alias, count in written.items() if count > 1}
        self._known = set(written)
        self._of = {link: link.get("alias") or self._made(link, at) for at, link in enumerate(links, 1)}
        self._unnamed = Counter(link.get("name") for link in links if not link.get("alias"))
        self._by_entity = {link.get("name"): self._of[link] for link in links if not link.get("alias")}

    def of(self, link: document.Element) -> str:
        return self._of[link]

    def meant(self, entity_name: str, standing: str | None) -> str | None:
        """The alias that an `entityname` means in the filter or order of `standing`; None for that itself.

        It is a link's alias, or the entity of a link without one, or the query's own entity. Raises
        ValueError for nothing of these, and for several.
        """
        if entity_name == standing:
            return None
        if entity_name in self._known:
            return entity_name
        candidates = self._unnamed[entity_name] + (entity_name == self._root)
        if candidates > 1:
            raise ValueError(
                Sentence(
                    "entityname %(name)s means more than one; give the links aliases", name=repr(entity_name)
                )
            )
        if entity_name in self._by_entity:
            alias = self._by_entity[entity_name]
            return None if alias == standing else alias
        if entity_name == self._root:
            return None if standing is None else entity_name
        raise ValueError(
            Sentence("entityname %(name)s is neither a link's alias nor the entity", name=repr(entity_name))
        )

    def _made(self, link: document.Element, number: int) -> str:
        alias = f"{link.get('name')}{number}"
        while alias in self._known:
            alias += "_"
        self._known.add(alias)
        return alias
