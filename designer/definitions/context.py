"""The user context: roles, and what `/api/context` says of the caller."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from designer.definition import Definition, SetOf
from designer.definitions.endpoints import ColumnDefinition
from designer.kinds.call_limits import MOST
from designer.names import SERVICE_TYPE, USER_TYPE, property_key

UserPropertyKind: TypeAlias = Literal["field", "related", "custom"]


class RoleDefinition(Definition):
    """An application role.

    `platform_roles` names the platform's security roles that correspond: a note for people, which nothing
    enforces. `rate` is how many requests a minute each caller with the role may send, instead of the
    service's own limit; 0: the role sets no limit. A caller with several roles has the highest of their
    rates.
    """

    name: str
    title: str = ""
    description: str = ""
    platform_roles: SetOf[str] = ()
    rate: int = Field(0, ge=0, le=MOST)


class CallerTypeDefinition(Definition):
    """A type of caller. `entity` is the logical name of the entity that has the callers' records.

    It is empty for a type whose callers have no record, and for the type `user`, whose callers' records are
    the platform's users, whatever the platform calls that entity.
    """

    name: str
    entity: str = ""
    title: str = ""
    description: str = ""

    @property
    def is_built_in(self) -> bool:
        """Whether the type is there from the start, so that nobody can remove it."""
        return self.name in _BUILT_IN

    @property
    def is_of_users(self) -> bool:
        """Whether the callers are users of the platform."""
        return self.name == USER_TYPE

    @property
    def has_records(self) -> bool:
        """Whether the callers have records."""
        return self.is_of_users or bool(self.entity)

    def records(self, users: str) -> str:
        """Return the entity of the records of such callers, empty when they have none. `users` is the entity
        of the platform's users.
        """
        return users if self.is_of_users else self.entity


# There from the start. They can be described, and not removed.
CALLER_TYPES = (
    CallerTypeDefinition(name="contact", entity="contact", title="Contact"),
    CallerTypeDefinition(name=SERVICE_TYPE, title="Service"),
    CallerTypeDefinition(name=USER_TYPE, title="User"),
)
_BUILT_IN = frozenset(caller_type.name for caller_type in CALLER_TYPES)


class UserPropertyDefinition(Definition):
    """One property of callers of the type `caller_type`. `kind` says where its value comes from:

    `field`: from the attribute `attribute` of the caller's record. `related`: from the attributes `columns`
    of the records that `relationship` (a schema name) leads to: an object if it leads to one record, else an
    array. `custom`: from the CEL `expression` over `user`: its field properties, `type`, `roles`, `claims`,
    and related records.
    """

    name: str
    caller_type: str = USER_TYPE
    kind: UserPropertyKind = "field"
    attribute: str = ""
    relationship: str = ""
    columns: tuple[ColumnDefinition, ...] = ()
    expression: str = ""
    description: str = ""

    @property
    def key(self) -> str:
        """The key of the property in the document; for the caller type `user`, its name."""
        return property_key(self.caller_type, self.name)
