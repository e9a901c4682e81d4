"""The studio's groups, made when the permissions that they hold exist."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import DEFAULT_DB_ALIAS, connections

DESIGNER = "Designer"


def make_groups(using: str = DEFAULT_DB_ALIAS, **signal: Any) -> None:
    """Make the group of those who design. Once it is there, what it may do is the administrators' choice."""
    if Group._meta.db_table not in connections[using].introspection.table_names():
        return  # `migrate` was asked for other apps alone
    group, made = Group.objects.using(using).get_or_create(name=DESIGNER)
    if made:
        group.permissions.set(Permission.objects.using(using).filter(content_type__app_label="designer"))
