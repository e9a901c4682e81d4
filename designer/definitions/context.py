"""The user context: roles, and what `/api/context` says of the caller."""

from __future__ import annotations

from typing import Literal, TypeAlias

from designer.definitions.base import Definition

UserPropertyKind: TypeAlias = Literal["field", "related", "custom"]


class RoleDefinition(Definition):
    """An application role. `platform_roles` says which security roles correspond; nothing enforces it."""

    name: str
    title: str = ""
    description: str = ""
    platform_roles: tuple[str, ...] = ()


class RelatedColumn(Definition):
    """An attribute of a related record, under its output name (empty: the attribute's logical name)."""

    attribute: str
    name: str = ""


class UserPropertyDefinition(Definition):
    """One property of the caller.

    `field`: `attribute` of the caller's systemuser record. `related`: `columns` of the records reached by
    `relationship` (a relationship's schema name): an object where one is associated, an array where several
    are. `custom`: `expression` over `user` (field properties, `roles`) and the related data.
    """

    name: str
    kind: UserPropertyKind = "field"
    attribute: str = ""
    relationship: str = ""
    columns: tuple[RelatedColumn, ...] = ()
    expression: str = ""
    description: str = ""
