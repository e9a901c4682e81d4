"""The part of a row rule that a column of the permission matrix shows, on a page of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.definitions import ExposedEntityDefinition
from designer.models import ExposedEntity, Role, RowRuleEntry

# Of callers with this role the page shows entries; of everyone where it is empty. Other pages lack it.
_ATTRIBUTE = "row_rule_role"


def narrow(request: HttpRequest, role: str) -> None:
    """Say that the page of the request is about the entries of `role` alone; empty: those of everyone.

    Raises Http404 for a role that there is none of.
    """
    if role and not Role.objects.filter(name=role).exists():
        raise Http404
    setattr(request, _ATTRIBUTE, role)


def role_of(request: HttpRequest) -> str | None:
    """The role that the page was narrowed to, empty for everyone; None where it shows the whole rule."""
    role: str | None = getattr(request, _ATTRIBUTE, None)
    return role


def entries_of(request: HttpRequest, entries: QuerySet[RowRuleEntry]) -> QuerySet[RowRuleEntry]:
    role = role_of(request)
    if role is None:
        return entries
    return entries.filter(roles__name=role) if role else entries.filter(roles=None)


def page_of_column(row: ExposedEntity, exposed: ExposedEntityDefinition | None, role: str) -> dict[str, Any]:
    """Return what the narrowed page says beside the entries. `exposed` is the saved exposed entity; None: it
    cannot be read.

    `is_first`: there is no row rule yet. `others` are entries that let these callers reach records as well.
    """
    rule = exposed.row_rule if exposed is not None else ()
    name = f"{row.module.segment}/{row.segment}"
    return {
        "title": _("Row rule of %(entity)s: %(callers)s")
        % {"entity": name, "callers": role or _("everyone")},
        "is_first": not rule,
        "others": [entry for entry in rule if not entry.roles] if role else [],
    }


def column_addresses() -> Callable[[int, str], str]:
    """The address of the page of an exposed entity's id and a column of the matrix."""
    # Asked for once: there may be thousands of cells.
    page = reverse("admin:designer_exposedentity_row_rule", args=[0])
    everyone: Mapping[str, str] = {ANONYMOUS: "", AUTHENTICATED: ""}

    def address(id: int, column: str) -> str:
        role = everyone.get(column, column)
        return page.replace("/0/", f"/{id}/") + (f"{quote(role)}/" if role else "")

    return address
