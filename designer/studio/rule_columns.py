"""The part of a row rule that a column of the permission matrix shows, on a page of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.definitions import ExposedEntityDefinition
from designer.models import ExposedEntity, Role, RowRuleEntry
from designer.studio.navigation.row_addresses import row_addresses

# The attribute of a request with the role whose entries the page shows; empty: those for everyone. Requests
# for the page of a whole rule lack it.
_ROLE_ATTRIBUTE = "row_rule_role"


def show_only_entries_of(request: HttpRequest, role: str) -> None:
    """Mark the request: its page shows only the entries of `role`; empty: those for everyone.

    Raises Http404 for an unknown role.
    """
    if role and not Role.objects.filter(name=role).exists():
        raise Http404
    setattr(request, _ROLE_ATTRIBUTE, role)


def shown_role(request: HttpRequest) -> str | None:
    """Return the role that the page was narrowed to; empty: everyone; None: the page shows the whole rule."""
    role: str | None = getattr(request, _ROLE_ATTRIBUTE, None)
    return role


def shown_entries(request: HttpRequest, entries: QuerySet[RowRuleEntry]) -> QuerySet[RowRuleEntry]:
    """Return those of `entries` that the page of the request shows."""
    role = shown_role(request)
    if role is None:
        return entries
    return entries.filter(roles__name=role) if role else entries.filter(roles=None)


def context_of_column(
    row: ExposedEntity, exposed: ExposedEntityDefinition | None, role: str
) -> dict[str, Any]:
    """Return the context of a page that is narrowed to `role`: what it says beside the entries.

    `exposed` is the saved exposed entity of `row`; None: it cannot be read. In the result, `is_first` says
    that there is no row rule yet. `others` are the entries for everyone, which hold for the role as well.
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
    """Return a function that makes the address of the page of one column of a row rule.

    The function takes the row id of the exposed entity, and the name of the column of the matrix.
    """
    address_of_rule = row_addresses("admin:designer_exposedentity_row_rule")
    # Callers without roles reach what the entries for everyone say.
    everyone: Mapping[str, str] = {ANONYMOUS: "", AUTHENTICATED: ""}

    def address(id: int, column: str) -> str:
        role = everyone.get(column, column)
        return address_of_rule(id) + (f"{quote(role)}/" if role else "")

    return address
