"""What the names in a query mean: properties of an entity, and paths through its lookups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crmbox.webapi.errors import WebApiError, bad_url
from crmbox.webapi.model import EntityType, Model
from crmbox.webapi.navigation import Lookup
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Link, LinkType


def attribute_of(type_: EntityType, name: str, *, logical: bool = False) -> Attribute:
    """Return the attribute that a property stands for.

    With `logical`, a lookup is also found by its logical name. Raises WebApiError for a name that is no
    property.
    """
    attribute = type_.properties.get(name)
    if attribute is None and logical:
        attribute = type_.attributes.get(name)
    if attribute is None:
        raise no_property(name, type_)
    return attribute


def no_property(name: str, type_: EntityType) -> WebApiError:
    return bad_url(f"Could not find a property named '{name}' on type '{type_.type_name}'.")


@dataclass(frozen=True, slots=True)
class AttributePlace:
    """An attribute of the entity itself (`link` is None), or of the link with this alias."""

    link: str | None
    attribute: Attribute


@dataclass(slots=True)
class _Node:
    """An entity that a path of lookups leads to. `alias` is that of its link; None for the query's own
    entity.
    """

    type: EntityType
    alias: str | None
    lookup: str = ""
    children: dict[str, _Node] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)


class Paths:
    """The paths of a query through lookups, each of which becomes one outer link."""

    def __init__(self, model: Model, type_: EntityType) -> None:
        self.model = model
        self.type = type_
        self._root = _Node(type_, None)
        self._nodes: dict[str | None, _Node] = {None: self._root}

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the selected columns of the entity itself."""
        return tuple(self._root.columns)

    @property
    def links(self) -> tuple[Link, ...]:
        return _links(self._root)

    def select(self, place: AttributePlace, column: Column) -> None:
        self._nodes[place.link].columns.append(column)

    def type_at(self, place: AttributePlace) -> EntityType:
        """Return the entity that has the attribute."""
        return self._nodes[place.link].type

    def place(self, path: Sequence[str], *, logical: bool = False) -> AttributePlace:
        """Return the attribute at the end of a path such as `primarycontactid/fullname`, in parts.

        With `logical`, a lookup at the end is also found by its logical name. Raises WebApiError.
        """
        *lookups, last = path
        if lookups and last == self.target(lookups).entity.primary_id:
            # The lookup itself holds what the path leads to.
            *lookups, last = lookups
            node = self._node(lookups)
            return AttributePlace(node.alias, node.type.attributes[self._lookup(node.type, last).attribute])
        node = self._node(lookups)
        return AttributePlace(node.alias, attribute_of(node.type, last, logical=logical))

    def key(self, lookups: Sequence[str]) -> AttributePlace:
        """Return the primary key of the record that the lookups lead to; without lookups, of the entity
        itself.

        Raises WebApiError.
        """
        return self.place((*lookups, self.target(lookups).entity.primary_id))

    def target(self, lookups: Sequence[str]) -> EntityType:
        """Return the entity that the lookups lead to. Raises WebApiError."""
        type_ = self.type
        for name in lookups:
            type_ = self._only_target(self._lookup(type_, name))
        return type_

    def _node(self, lookups: Sequence[str]) -> _Node:
        """Return the node at the end of the lookups, and add the links that lead there."""
        node = self._root
        for name in lookups:
            child = node.children.get(name)
            if child is None:
                lookup = self._lookup(node.type, name)
                child = _Node(self._only_target(lookup), f"path{len(self._nodes)}", lookup.attribute)
                node.children[name] = self._nodes[child.alias] = child
            node = child
        return node

    def _lookup(self, type_: EntityType, name: str) -> Lookup:
        """Return the lookup of an entity by its navigation property. Raises WebApiError."""
        lookup = type_.lookups.get(name)
        if lookup is None:
            raise no_property(name, type_)
        return lookup

    def _only_target(self, lookup: Lookup) -> EntityType:
        """Return the entity that a lookup leads to. Raises WebApiError for a lookup with several targets."""
        if len(lookup.targets) != 1:
            raise bad_url(f"No path leads through '{lookup.name}', which may be of several types.")
        return self.model.entity_type(lookup.targets[0])


def _links(node: _Node) -> tuple[Link, ...]:
    """Return an outer link for each lookup that a path leads through, with the columns that the paths read
    there.
    """
    return tuple(
        Link(
            child.type.name,
            child.type.entity.primary_id,
            child.lookup,
            child.alias or "",
            type=LinkType.OUTER,
            columns=tuple(child.columns),
            links=_links(child),
        )
        for child in node.children.values()
    )
