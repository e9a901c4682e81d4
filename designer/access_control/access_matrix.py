"""Who may call what: endpoints by anonymous callers, authenticated ones, and roles."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache

from designer.configuration import Configuration
from designer.definitions import AccessDefinition, CallerTypeDefinition
from designer.names import SERVICE_TYPE, USER_TYPE
from designer.sentences import Sentence, listed

# Neither can be a role's name: those begin with a letter or digit.
ANONYMOUS = "*anonymous"
AUTHENTICATED = "*authenticated"
_USUAL_TYPES = frozenset({SERVICE_TYPE, USER_TYPE})


@dataclass(frozen=True, slots=True)
class Row:
    """An endpoint as a row of the permission matrix. `id` is the id of its database row; `state` is “served”
    or “draft”.
    """

    id: int
    module: str
    methods: str
    path: str
    title: str
    state: str
    writes: bool
    access: AccessDefinition
    # The exposed entity that it belongs to, by its key; empty where there is none.
    exposure: str = ""

    @property
    def is_anonymous_write(self) -> bool:
        """Whether callers without a token may write by the endpoint."""
        return self.writes and not self.access.authentication_required

    @property
    def caller_types(self) -> str:
        """Return the admitted caller types, separated by commas; “any” when no token is needed."""
        return ", ".join(self.access.caller_types) if self.access.authentication_required else "any"

    def allows(self, column: str) -> bool:
        """Whether the callers of `column` may call the endpoint.

        `column` is ANONYMOUS, AUTHENTICATED (callers with a token and without any role), or the name of a
        role.
        """
        if not self.access.authentication_required:
            return True
        if column == ANONYMOUS:
            return False
        return not self.access.roles or column in self.access.roles

    def is_chosen(self, column: str) -> bool:
        """Whether `column` itself is chosen, and not only covered by another."""
        if column == ANONYMOUS:
            return not self.access.authentication_required
        if column == AUTHENTICATED:
            return self.access.authentication_required and not self.access.roles
        return column in self.access.roles


@lru_cache(maxsize=4096)
def digest_of_access(access: AccessDefinition) -> str:
    """Return a short digest of `access`. A cell of the matrix sends it with a click, to tell whether the
    access is still the one that the page showed.
    """
    return hashlib.sha256(json.dumps(access.to_json()).encode()).hexdigest()[:12]


def rows_of(configuration: Configuration) -> list[Row]:
    """Return a row for every endpoint that can be read, sorted by path and methods."""
    rows = [
        Row(
            id=id,
            module=endpoint.definition.module,
            methods=", ".join(endpoint.methods),
            path=endpoint.path,
            title=endpoint.definition.title,
            state="served" if endpoint.definition.enabled else "draft",
            writes=endpoint.kind.writes,
            access=endpoint.definition.access,
            exposure=endpoint.entity.key if endpoint.entity else "",
        )
        for id, endpoint in configuration.endpoints.items()
        if endpoint.problem is None
    ]
    return sorted(rows, key=lambda row: (row.path, row.methods))


def callers_in_words(access: AccessDefinition, beside: AccessDefinition | None = None) -> Sentence:
    """Return who may call, in words. `beside` is the access that a reader compares it with, if any.

    Caller types are named when they are not the usual ones, or not those of `beside`.
    """
    if not access.authentication_required:
        return Sentence("anyone, even without a token")
    roles = listed(access.roles, ", ") if access.roles else Sentence("every caller with a token")
    compared = beside if beside is not None and beside.authentication_required else access
    if has_usual_types(access) and set(compared.caller_types) == set(access.caller_types):
        return roles
    return Sentence("%(roles)s (types: %(types)s)", roles=roles, types=", ".join(access.caller_types))


def has_usual_types(access: AccessDefinition) -> bool:
    """Whether `access` admits no caller types but users and services, the only ones that there once were."""
    return _USUAL_TYPES.issuperset(access.caller_types)


def admitted_types(
    access: AccessDefinition, configuration: Configuration
) -> tuple[CallerTypeDefinition, ...]:
    """Return the caller types that an endpoint admits, users first.

    When anyone may call, or when none of its caller types exists, return the types in use.
    """
    names = set(access.caller_types) if access.authentication_required else set()
    admitted = tuple(type for type in _users_first(configuration) if type.name in names)
    return admitted or types_in_use(configuration)


def types_in_use(configuration: Configuration) -> tuple[CallerTypeDefinition, ...]:
    """Return the type of users, and then the other caller types that any endpoint admits."""
    accesses = (endpoint.definition.access for endpoint in configuration.endpoints.values())
    admitted = (access.caller_types for access in accesses if access.authentication_required)
    names = {USER_TYPE}.union(*admitted)
    return tuple(type for type in _users_first(configuration) if type.name in names)


def _users_first(configuration: Configuration) -> list[CallerTypeDefinition]:
    """Return the caller types in their order, with the type of users in front."""
    return sorted(configuration.caller_types, key=lambda type: not type.is_of_users)


def access_after_click(
    access: AccessDefinition, column: str, last: tuple[AccessDefinition, AccessDefinition] | None
) -> AccessDefinition:
    """Return the access after a click on `column`.

    `last` is the last change of the endpoint's access: before and after. When that change was a click on the
    same column, this click takes it back: Anonymous, which removed the roles, restores them.
    """
    if last is not None:
        before, after = last
        if is_same_access(after, access) and is_same_access(with_column_switched(before, column), access):
            return before
    return with_column_switched(access, column)


def with_column_switched(access: AccessDefinition, column: str) -> AccessDefinition:
    """Return the access with `column` switched, whatever was before.

    Switching Anonymous on removes the roles; switching it off admits every authenticated caller.
    Authenticated removes the roles, too. The last role stays: without it, the endpoint would be open to
    everyone with a token.
    """
    if column == ANONYMOUS:
        return _with_roles(access, required=not access.authentication_required)
    if column == AUTHENTICATED:
        return _with_roles(access)
    if column not in access.roles:
        return _with_roles(access, roles=tuple(sorted((*access.roles, column))))
    remaining_roles = tuple(role for role in access.roles if role != column)
    return _with_roles(access, roles=remaining_roles or access.roles)


def is_same_access(one: AccessDefinition, other: AccessDefinition) -> bool:
    """Whether both let the same callers in. Databases order roles in their own ways."""
    return (
        one.authentication_required == other.authentication_required
        and set(one.roles) == set(other.roles)
        and set(one.caller_types) == set(other.caller_types)
    )


def widens(before: AccessDefinition, after: AccessDefinition) -> bool:
    """Whether `after` lets in somebody whom `before` did not."""
    if not before.authentication_required:
        return False
    if not after.authentication_required or not set(after.caller_types) <= set(before.caller_types):
        return True
    return bool(before.roles) and not (after.roles and set(after.roles) <= set(before.roles))


def _with_roles(
    access: AccessDefinition, *, required: bool = True, roles: tuple[str, ...] = ()
) -> AccessDefinition:
    """Return `access` with other roles, and the same caller types."""
    return access.model_copy(update={"authentication_required": required, "roles": roles})
