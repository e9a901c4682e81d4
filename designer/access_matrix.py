"""Who may call what: endpoints by anonymous callers, authenticated ones, and roles."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from designer.configuration import Configuration
from designer.definitions import AccessDefinition
from designer.sentences import Sentence, listed

# Neither can be a role's name: those begin with a letter or digit.
ANONYMOUS = "*anonymous"
AUTHENTICATED = "*authenticated"


@dataclass(frozen=True, slots=True)
class Row:
    """One endpoint. `id` is its row's; `state` is “served” or “draft”."""

    id: int
    module: str
    methods: str
    path: str
    title: str
    state: str
    writes: bool
    access: AccessDefinition

    @property
    def is_anonymous_write(self) -> bool:
        return self.writes and not self.access.authentication_required

    def allows(self, column: str) -> bool:
        """Whether callers may call: ANONYMOUS, AUTHENTICATED ones without any role, or those of a role."""
        if not self.access.authentication_required:
            return True
        if column == ANONYMOUS:
            return False
        return not self.access.roles or column in self.access.roles

    def chosen(self, column: str) -> bool:
        """Whether `column` itself is chosen, and not only covered by another."""
        if column == ANONYMOUS:
            return not self.access.authentication_required
        if column == AUTHENTICATED:
            return self.access.authentication_required and not self.access.roles
        return column in self.access.roles


def rows_of(configuration: Configuration) -> list[Row]:
    """Every endpoint that can be read, by path and method."""
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
        )
        for id, endpoint in configuration.endpoints.items()
        if endpoint.problem is None
    ]
    return sorted(rows, key=lambda row: (row.path, row.methods))


def callers(authentication_required: bool, roles: Collection[str]) -> Sentence:
    """Who may call, in words."""
    if not authentication_required:
        return Sentence("anyone, even without a token")
    if not roles:
        return Sentence("every caller with a token")
    return listed(roles, ", ")


def clicked(
    access: AccessDefinition, column: str, last: tuple[AccessDefinition, AccessDefinition] | None
) -> AccessDefinition:
    """The access after a click on `column`.

    `last` is the endpoint's last change of access, before and after. Where that was a click on the same
    column, this one restores what was before it: Anonymous had taken the roles out, and puts them back.
    """
    if last is not None and is_same(last[1], access) and is_same(toggled(last[0], column), access):
        return last[0]
    return toggled(access, column)


def toggled(access: AccessDefinition, column: str) -> AccessDefinition:
    """The access with `column` switched, whatever was before.

    Anonymous on takes the roles out; off leaves every authenticated caller. Authenticated takes the roles out
    too. The last role stays: taking it away would open the endpoint to everyone with a token.
    """
    if column == ANONYMOUS:
        return _with(access, required=not access.authentication_required)
    if column == AUTHENTICATED:
        return _with(access)
    if column not in access.roles:
        return _with(access, roles=tuple(sorted((*access.roles, column))))
    left = tuple(role for role in access.roles if role != column)
    return _with(access, roles=left or access.roles)


def is_same(one: AccessDefinition, other: AccessDefinition) -> bool:
    """Whether both let the same callers in. Databases order roles in their own ways."""
    return one.authentication_required == other.authentication_required and set(one.roles) == set(other.roles)


def widens(before: AccessDefinition, after: AccessDefinition) -> bool:
    """Whether `after` lets in somebody whom `before` did not."""
    if not before.authentication_required:
        return False
    if not after.authentication_required:
        return True
    return bool(before.roles) and not (after.roles and set(after.roles) <= set(before.roles))


def _with(
    access: AccessDefinition, *, required: bool = True, roles: tuple[str, ...] = ()
) -> AccessDefinition:
    return access.model_copy(update={"authentication_required": required, "roles": roles})
