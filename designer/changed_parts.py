"""A configuration whose shared parts (modules, exposed entities, roles and the like) have been edited.

Endpoints name these by segments and names, of which a row keeps ids. What follows for each endpoint is worked
out here from what is in memory already: reading thousands of endpoints again takes seconds, in which every
request waits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from designer import rows
from designer.configuration import Configuration, Endpoint, Revision, RowIds, Surroundings
from designer.definitions import AccessDefinition, EndpointDefinition
from designer.endpoint_facts.following_endpoints import FollowingEndpoints

_MODULES, _ROLES, _CALLER_TYPES = "designer_module", "designer_role", "designer_callertype"
_ENTITIES = frozenset({"designer_exposedentity", "designer_rowruleentry", "designer_rowruleentry_roles"})
_ISSUERS = frozenset({"designer_issuer", "designer_rolerule"})
_PROPERTIES = frozenset({"designer_userproperty", "designer_relatedcolumn"})
_PROTECTIONS = "designer_protection"
_TABLES = {_MODULES, _ROLES, _CALLER_TYPES, _PROTECTIONS, *_ENTITIES, *_ISSUERS, *_PROPERTIES}
# Beginnings of the names of rows that endpoints refer to. If such a row is unreadable, its endpoints must be
# read again.
_NAMED = ("module ", "entity ", "role ")

T = TypeVar("T")


def with_parts(previous: Configuration, revision: Revision, parts: Collection[str]) -> Configuration | None:
    """Return `previous` with the present content of the tables `parts`, and the endpoints that follow from
    it.

    None: the change cannot be worked out in memory, and everything must be read again.
    """
    ids = previous.ids
    if ids is None or not _TABLES.issuperset(parts):
        return None
    parts = frozenset(parts)
    unreadable: rows.Unreadable = {}
    # Fields of the configuration that are read again, with their present values.
    fields_read: dict[str, Any] = {}
    has_modules, has_roles = _MODULES in parts, _ROLES in parts
    # A definition has the names of what its row refers to by id: exposed entities name their module, and
    # their row rules name roles. They are read again with what they name, which may have been renamed.
    if has_modules:
        ids = replace(ids, modules=_with_same_objects(ids.modules, rows.modules(unreadable)))
        fields_read["modules"] = tuple(ids.modules.values())
    if has_modules or has_roles or parts & _ENTITIES:
        entities, closed = rows.entities(unreadable)
        ids = replace(ids, entities=_with_same_objects(ids.entities, entities))
        fields_read["entities"], fields_read["closed_entities"] = tuple(ids.entities.values()), closed
    if has_roles:
        ids = replace(ids, roles=_with_same_objects(ids.roles, rows.roles(unreadable)))
        fields_read["roles"] = tuple(ids.roles.values())
    if _CALLER_TYPES in parts:
        fields_read["caller_types"] = rows.caller_types(unreadable)
    if _CALLER_TYPES in parts or parts & _PROPERTIES:
        fields_read["user_properties"] = rows.user_properties(unreadable)
    if has_roles or _CALLER_TYPES in parts or parts & _ISSUERS:
        fields_read["issuers"] = rows.issuers(unreadable)
    if _PROTECTIONS in parts:
        fields_read["protections"] = rows.protections()
    if any(row.startswith(_NAMED) for row in (*unreadable, *previous.unreadable)):
        return None
    # What was read again has new reasons; those of other rows stay.
    reread = tuple(_ROW_PREFIXES[name] for name in fields_read if name in _ROW_PREFIXES)
    other_reasons = {row: why for row, why in previous.unreadable.items() if not row.startswith(reread)}
    after = replace(
        previous,
        revision=revision,
        ids=ids,
        unreadable=MappingProxyType({**other_reasons, **unreadable}),
        **fields_read,
    )
    endpoints = _following_endpoints(previous, after)
    return None if endpoints is None else replace(after, endpoints=endpoints)


# Beginnings of the names of unreadable rows, by the field of the configuration that they would be in.
_ROW_PREFIXES: Mapping[str, str] = {
    "caller_types": "caller type ",
    "user_properties": "user property ",
    "issuers": "issuer ",
}


def _with_same_objects(before: Mapping[int, T], now: Mapping[int, T]) -> Mapping[int, T]:
    """Return `now` with the objects of `before` for all parts that have not changed. Keys are ids of rows.

    Python compares an object with itself at once, so later comparisons look only into what has changed.
    """
    return MappingProxyType(
        {id: before[id] if id in before and before[id] == part else part for id, part in now.items()}
    )


@dataclass(frozen=True, slots=True)
class _NewNames:
    """The new names of renamed rows, by their old names: modules, places of exposed entities, and roles."""

    modules: Mapping[str, str]
    places: Mapping[tuple[str, str], tuple[str, str]]
    roles: Mapping[str, str]
    # The renamed accesses by their old content: many endpoints have the same.
    accesses: dict[Any, AccessDefinition]

    @classmethod
    def between(cls, before: RowIds, after: RowIds) -> _NewNames:
        """Return the new names of all rows that both states have."""

        def renamed(before_by_id: Mapping[int, T], after_by_id: Mapping[int, T], name: Any) -> dict[Any, Any]:
            """Return the new names by the old ones, of parts whose name has changed. `name` gives the name of
            a part.
            """
            pairs = (
                (name(before_by_id[id]), name(after_by_id[id]))
                for id in before_by_id.keys() & after_by_id.keys()
            )
            return {old: new for old, new in pairs if old != new}

        return cls(
            renamed(before.modules, after.modules, lambda part: part.segment),
            renamed(before.entities, after.entities, lambda part: (part.module, part.segment)),
            renamed(before.roles, after.roles, lambda part: part.name),
            {},
        )

    def __bool__(self) -> bool:
        """Whether anything was renamed."""
        return bool(self.modules or self.places or self.roles)

    def place(self, definition: EndpointDefinition) -> tuple[str, str]:
        """Return the present segments of the endpoint's module and of its exposed entity."""
        if definition.exposure:
            place = (definition.module, definition.exposure)
            return self.places.get(place, place)
        return self.modules.get(definition.module, definition.module), ""

    def applied(self, definition: EndpointDefinition) -> EndpointDefinition:
        """Return the definition with the new names; the same object when nothing in it was renamed."""
        changes: dict[str, Any] = {}
        now = self.place(definition)
        if now != (definition.module, definition.exposure):
            changes["module"], changes["exposure"] = now
        access = definition.access
        if self.roles and not self.roles.keys().isdisjoint(access.roles):
            key = (access.roles, access.caller_types, access.authentication_required)
            if key not in self.accesses:
                names = sorted(self.roles.get(role, role) for role in access.roles)
                self.accesses[key] = access.model_copy(update={"roles": tuple(names)})
            changes["access"] = self.accesses[key]
        return _copy_with(definition, changes) if changes else definition


def _copy_with(definition: EndpointDefinition, changes: Mapping[str, Any]) -> EndpointDefinition:
    """Copy the definition as `model_copy` would, in a third of its time: thousands of copies are made."""
    copy = EndpointDefinition.__new__(EndpointDefinition)
    values = {**definition.__dict__, **changes}
    # `key` is a cached property; its value comes from what has just changed.
    values.pop("key", None)
    object.__setattr__(copy, "__dict__", values)
    object.__setattr__(copy, "__pydantic_fields_set__", definition.__pydantic_fields_set__ | changes.keys())
    object.__setattr__(copy, "__pydantic_extra__", None)
    object.__setattr__(copy, "__pydantic_private__", None)
    return copy


def _following_endpoints(before: Configuration, after: Configuration) -> Mapping[int, Endpoint] | None:
    """Return the endpoints of `before` as they follow from the shared parts of `after`.

    Endpoints that do not change stay the same objects. None: only the rows tell what has become of them.
    """
    if after.ids is before.ids or before.ids is None or after.ids is None:
        return before.endpoints
    names = _NewNames.between(before.ids, after.ids)
    new_surroundings = Surroundings.of(after.entities, after.closed_entities)
    if not names and after.entities == before.entities and after.closed_entities == before.closed_entities:
        return before.endpoints
    old_surroundings = Surroundings.of(before.entities, before.closed_entities)
    # Modules whose exposed entities have changed. They are compared once, and not for each endpoint.
    changed_modules = {
        module
        for module in {*old_surroundings.by_module, *new_surroundings.by_module}
        if old_surroundings.exposures(module) != new_surroundings.exposures(module)
    }
    if names and any(endpoint.problem is not None for endpoint in before.endpoints.values()):
        # Another name may end the problem: only its rows tell.
        return None

    def follow(endpoint: Endpoint) -> Endpoint:
        """Return the endpoint after the edit; the same object when nothing in it has changed."""
        definition = names.applied(endpoint.definition) if names else endpoint.definition
        module = definition.module
        if definition is endpoint.definition and module not in changed_modules:
            return endpoint
        entity = new_surroundings.entity(module, definition.exposure)
        return Endpoint(definition, entity, endpoint.problem, new_surroundings.exposures(module))

    def path_of(endpoint: Endpoint) -> str:
        """Return the path of the endpoint after the edit, without making the endpoint."""
        module, exposure = names.place(endpoint.definition)
        entity = new_surroundings.entity(module, exposure)
        segment = endpoint.definition.segment or (entity.segment if entity else "")
        return endpoint.kind.path_of(module=module, segment=segment, name=endpoint.definition.name)

    return FollowingEndpoints(before.endpoints, follow, path_of if names.modules or names.places else None)
