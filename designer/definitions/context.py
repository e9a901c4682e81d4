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
    """An application role. `platform_roles` says which security roles correspond; nothing enforces it.

    `rate` is how many requests a minute each caller may send who has it, in the place of the service's own
    limit; 0: none of its own. Of several roles the highest counts.
    """

    name: str
    title: str = ""
    description: str = ""
    platform_roles: SetOf[str] = ()
    rate: int = Field(0, ge=0, le=MOST)


class CallerTypeDefinition(Definition):
    """Which entity a caller's record is in (its logical name); empty: callers of this type have none.

    Of the type `user`, it is empty, and the records are the platform's users, whatever their entity.
    """

    name: str
    entity: str = ""
    title: str = ""
    description: str = ""

    @property
    def is_built_in(self) -> bool:
        return self.name in _BUILT_IN

    @property
    def is_of_users(self) -> bool:
        return self.name == USER_TYPE

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
    """One property of callers of the type `caller_type`.

    `field`: `attribute` of the caller's record on the platform. `related`: `columns` of the records reached
    by `relationship` (its schema name): an object where one is associated, an array where several are.
    `custom`: `expression` over `user` (field properties, `type`, `roles`, `claims`) and the related data.
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
