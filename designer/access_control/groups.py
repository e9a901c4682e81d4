"""The studio's groups, made when the permissions that they hold exist."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Q, QuerySet

VIEWER = "Viewer"
DESIGNER = "Designer"
PUBLISHER = "Publisher"
ADMINISTRATOR = "Administrator"

# The right to try endpoints and run queries for real is given to people, not to a group of designers.
FOR_REAL = "call_for_real"

_WRITES = ("add", "change", "delete")
# Who callers are.
_ADMINISTERED = ("callertype", "issuer", "rolerule")
_ADMINISTRATION = [f"{verb}_{model}" for verb in _WRITES for model in _ADMINISTERED]
_VIEWED = Q(content_type__app_label="designer", codename__startswith="view_")
# Not the audit log: it tells of people. Who callers are is the administrators'.
_LOOK = _VIEWED & ~Q(codename__in=("view_auditentry", *(f"view_{model}" for model in _ADMINISTERED)))
_DESIGNED = (
    *("module", "exposedentity", "endpoint", "optionset", "role", "userproperty", "relatedcolumn"),
    *("input", "binding", "column", "fetcher", "precondition"),
)
_DESIGN = Q(
    content_type__app_label="designer",
    codename__in=[
        "refresh_metadata",
        "add_proposal",
        *(f"{verb}_{model}" for verb in _WRITES for model in _DESIGNED),
    ],
)
_PUBLISH = Q(
    content_type__app_label="designer",
    codename__in=(
        *("add_release", "restore", "import_configuration", "change_write_access"),
        *("approve_proposal", "publish_proposal"),
    ),
)
_ADMINISTER = (
    Q(content_type__app_label__in=("auth", "runtime"))
    | Q(content_type__app_label="designer", codename__in=(FOR_REAL, "change_protection"))
    | Q(content_type__app_label="designer", codename__in=_ADMINISTRATION)
    | _VIEWED
)
_GROUPS = {
    VIEWER: _LOOK,
    DESIGNER: _LOOK | _DESIGN,
    PUBLISHER: _LOOK | _DESIGN | _PUBLISH,
    ADMINISTRATOR: _LOOK | _DESIGN | _PUBLISH | _ADMINISTER,
}


def make_groups(using: str = DEFAULT_DB_ALIAS, **signal: Any) -> None:
    """Make each group that is missing. What an existing group may do is the administrators' choice."""
    if Group._meta.db_table not in connections[using].introspection.table_names():
        return  # `migrate` was asked for other apps alone
    if Group.objects.using(using).filter(name__in=_GROUPS).count() < len(_GROUPS):
        _make_permissions(using)
    for name, permissions in _GROUPS.items():
        group, is_new = Group.objects.using(using).get_or_create(name=name)
        if is_new:
            group.permissions.set(Permission.objects.using(using).filter(permissions))


def _make_permissions(using: str) -> None:
    """Make the permissions of all apps now. Django makes those of some apps only later."""
    for app in apps.get_app_configs():
        create_permissions(app, verbosity=0, interactive=False, using=using)


def for_real() -> QuerySet[Permission]:
    """Return the permission to try endpoints and run queries for real; nothing before migrations have made
    it.
    """
    return Permission.objects.filter(content_type__app_label="designer", codename=FOR_REAL)
