"""The user context: roles, and what `/api/context` says of the caller."""

from __future__ import annotations

from typing import Literal, TypeAlias

from designer.definition import Definition, SetOf
from designer.definitions.columns import ColumnDefinition

UserPropertyKind: TypeAlias = Literal["field", "related", "custom"]


class RoleDefinition(Definition):
    """An application role. `platform_roles` says which security roles correspond; nothing enforces it."""

    name: str
    title: str = ""
    description: str = ""
    platform_roles: SetOf[str] = ()


class UserPropertyDefinition(Definition):
    """One property of the caller.

    `field`: `attribute` of the caller's record on the platform. `related`: `columns` of the records reached
    by `relationship` (its schema name): an object where one is associated, an array where several are.
    `custom`: `expression` over `user` (field properties, `roles`) and the related data.
    """

    name: str
    kind: UserPropertyKind = "field"
    attribute: str = ""
    relationship: str = ""
    columns: tuple[ColumnDefinition, ...] = ()
    expression: str = ""
    description: str = ""
