"""Looks up the names in a designed query, and collects the problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crmclient.errors import UnknownEntity
from crmclient.metadata import Attribute
from crmclient.query.designed import DesignedFilter, DesignedLink, DesignedQuery
from crmclient.query.families import UNREADABLE
from crmclient.query.lookup_names import attribute_of_column
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
        # By the alias of a link: its entity (by None, that of the query), and the link that it is in, if any.
        self._entities: dict[str | None, str] = {None: entity}
        self._parents: dict[str, str | None] = {}
        # By the alias of a link: the innermost link around it, or the link itself, that adds no rows (it does
        # not join, such as `any`); None where all of them join.
        self._enclosing: dict[str, str | None] = {}
        # The attributes of each entity that has been looked up; none of an unknown entity.
        self._known: dict[str, Mapping[str, Attribute]] = {}
        # For its effect: the entity counts as looked up then, or a problem says that there is none.
        self.attributes_of(entity, f"entity {entity}")

    @classmethod
    def of(cls, query: DesignedQuery, attributes: Attributes) -> Names:
        """Return the names of a query, with all of its links."""
        names = cls(query.entity, attributes)
        names._add_all(query.filter, query.links, None)
        return names

    @classmethod
    def of_filter(cls, filter: DesignedFilter, entity: str, attributes: Attributes) -> Names:
        """Return the names of a filter on `entity` that stands alone, with the links in it."""
        names = cls(entity, attributes)
        names._add_all(filter, (), None)
        return names

    def add_problem(self, construct: str, message: str) -> None:
        """Add a problem. `construct` names the part of the query."""
        self.problems.append(Problem(construct, message))

    def attributes_of(self, entity: str, construct: str) -> Mapping[str, Attribute]:
        """Return the attributes of an entity; empty for an unknown entity, which is noted as a problem."""
        if entity not in self._known:
            try:
                self._known[entity] = self._attributes(entity)
            except UnknownEntity:
                self.add_problem(construct, Sentence("there is no entity %(name)s", name=repr(entity)))
                self._known[entity] = {}
        return self._known[entity]

    def attribute(self, alias: str | None, name: str, construct: str) -> Attribute | None:
        """Return an attribute of the entity or a link; None, with a problem, if there is none.

        The name of a lookup's record counts as an attribute, too: it is called as the lookup with `name`
        added.
        """
        if alias not in self._entities and alias != self.root:
            self.add_problem(construct, Sentence("no link has the alias %(alias)s", alias=repr(alias)))
            return None
        entity = self._entities.get(alias, self.root)
        attribute = self.find(alias, name)
        # An unknown entity has a problem already, and no attributes.
        if attribute is None and self.attributes_of(entity, construct):
            self.add_problem(
                construct,
                Sentence(
                    "the entity %(entity)s has no attribute %(name)s", entity=repr(entity), name=repr(name)
                ),
            )
        elif attribute is not None and not attribute.readable:
            self.add_problem(construct, UNREADABLE)
        return attribute

    def find(self, alias: str | None, name: str) -> Attribute | None:
        """Return an attribute as `attribute` does, but without noting problems."""
        return attribute_of_column(name, self._known.get(self._entities.get(alias, self.root), {}))

    def primary_id(self, alias: str | None) -> str:
        """The attribute that no row of the entity or link has empty."""
        # Every entity of the query has been looked up: no problem is noted here, so that it needs no name.
        attributes = self.attributes_of(self._entities.get(alias, self.root), "")
        return next((name for name, attribute in attributes.items() if attribute.is_primary_id), "")

    def are_near(self, alias: str | None, holder: str | None) -> bool:
        """Whether the filter of the link `holder` can name `alias`: itself or its parent. The entity's can
        name any link."""
        if alias == holder:
            return True
        if holder is None:
            return self.joins(alias)
        parent = self._parents.get(holder)
        return alias == parent or (parent is None and alias == self.root)

    def joins(self, alias: str | None) -> bool:
        """Whether rows have columns of `alias`. Those of a link within a link that does not join are not
        part of the rows.
        """
        return alias is None or self._enclosing.get(alias) is None

    def has_hierarchy(self, alias: str | None, attribute: Attribute) -> bool:
        """Whether the records that an id or a lookup names form a hierarchy, or may form one."""
        if attribute.type.is_reference:
            return any(self.parents_of(target) for target in attribute.targets)
        return attribute.is_primary_id and bool(self.parents_of(self._entities.get(alias, self.root)))

    def parents_of(self, entity: str) -> tuple[str, ...]:
        """The lookup by which records of an entity form a hierarchy; all that may be it, where only the
        platform knows. None for an unknown entity.
        """
        try:
            # Of an unknown entity nothing is kept: it is asked for again, and raises again.
            attributes = self._known.get(entity) or self._attributes(entity)
        except UnknownEntity:
            return ()
        return tuple(name for name, attribute in attributes.items() if attribute.is_parent is not False)

    def _add_all(
        self, filter: DesignedFilter | None, links: tuple[DesignedLink, ...], parent: str | None
    ) -> None:
        """Note all links in a filter and beside it. `parent` is the link that has them; None: the entity."""
        for link in (*(filter.links if filter else ()), *links):
            self._add(link, parent)

    def _add(self, link: DesignedLink, parent: str | None) -> None:
        """Note a link, and those inside it. `_enclosing` has the link that hides it from outside."""
        construct = f"link-entity {link.alias}"
        if link.alias in self._entities:
            self.add_problem(construct, Sentence("the alias is used twice"))
        self._entities[link.alias] = link.entity
        self._parents[link.alias] = parent
        outside = None if parent is None else self._enclosing[parent]
        self._enclosing[link.alias] = outside if link.type.joins else link.alias
        self.attributes_of(link.entity, construct)
        self._add_all(link.filter, link.links, link.alias)
