"""What the names in a designed query mean, and the problems found on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crmclient.errors import UnknownEntity
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.designed import DesignedLink, DesignedQuery
from crmclient.query.problems import Problem
from crmclient.sentences import Sentence

Attributes: TypeAlias = Callable[[str], Mapping[str, Attribute]]
"""The attributes of an entity by logical name. Raises UnknownEntity."""


class Names:
    """The entity and the links of a query by alias; `problems` collects what is wrong with it."""

    def __init__(self, entity: str, attributes: Attributes) -> None:
        self.root = entity
        self.problems: list[Problem] = []
        self._attributes = attributes
        self._entities: dict[str | None, str] = {None: entity}
        self._parents: dict[str, str | None] = {}
        self._known: dict[str, Mapping[str, Attribute]] = {}
        self.all_of(entity, f"entity {entity}")

    @classmethod
    def of(cls, query: DesignedQuery, attributes: Attributes) -> Names:
        names = cls(query.entity, attributes)
        for link in query.links:
            names._add(link, None)
        return names

    def wrong(self, construct: str, message: str) -> None:
        self.problems.append(Problem(construct, message))

    def all_of(self, entity: str, construct: str) -> Mapping[str, Attribute]:
        """The attributes of an entity, none of one that does not exist."""
        if entity not in self._known:
            try:
                self._known[entity] = self._attributes(entity)
            except UnknownEntity:
                self.wrong(construct, Sentence("there is no entity %(name)s", name=repr(entity)))
                self._known[entity] = {}
        return self._known[entity]

    def attribute(self, alias: str | None, name: str, construct: str) -> Attribute | None:
        """An attribute of the entity or a link. A lookup's name is an attribute too: its name with `name`."""
        if alias not in self._entities and alias != self.root:
            self.wrong(construct, Sentence("no link has the alias %(alias)s", alias=repr(alias)))
            return None
        entity = self._entities.get(alias, self.root)
        attribute = self.find(alias, name)
        if attribute is None and self.all_of(entity, construct):
            self.wrong(
                construct,
                Sentence(
                    "the entity %(entity)s has no attribute %(name)s", entity=repr(entity), name=repr(name)
                ),
            )
        return attribute

    def find(self, alias: str | None, name: str) -> Attribute | None:
        """As `attribute`, of a name whose problems are known already."""
        attributes = self._known.get(self._entities.get(alias, self.root), {})
        attribute = attributes.get(name)
        lookup = attributes.get(name.removesuffix("name"))
        if attribute is None and name.endswith("name") and lookup is not None and lookup.type.is_reference:
            return Attribute(name, AttributeType.STRING)
        return attribute

    def primary_id(self, alias: str | None) -> str:
        """The attribute that no row of the entity or link has empty."""
        attributes = self.all_of(self._entities.get(alias, self.root), "")
        return next((name for name, attribute in attributes.items() if attribute.is_primary_id), "")

    def are_near(self, alias: str | None, standing: str | None) -> bool:
        """Whether the filter of the link `standing` can name `alias`: itself or its parent. The entity's can
        name any link."""
        if standing is None or alias == standing:
            return True
        parent = self._parents.get(standing)
        return alias == parent or (parent is None and alias == self.root)

    def _add(self, link: DesignedLink, parent: str | None) -> None:
        construct = f"link-entity {link.alias}"
        if link.alias in self._entities:
            self.wrong(construct, Sentence("the alias is used twice"))
        self._entities[link.alias] = link.entity
        self._parents[link.alias] = parent
        self.all_of(link.entity, construct)
        for nested in link.links:
            self._add(nested, link.alias)
