"""What is added, changed and deleted through the admin's pages goes into the audit log."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import override

from designer.audit import note
from designer.models import AuditEntry

_Action = AuditEntry.Action


class Audited:
    """Mixed in before a ModelAdmin."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        note(request, _Action.ADD, _name(obj))
        return super().log_addition(request, obj, message)  # type: ignore[misc]  # the admin's

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        entry = super().log_change(request, obj, message)  # type: ignore[misc]  # the admin's
        # The names of the fields, never what is in them.
        with override("en"):
            note(request, _Action.CHANGE, _name(obj), entry.get_change_message())
        return entry

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for obj in queryset:
            note(request, _Action.DELETE, _name(obj))
        return super().log_deletions(request, queryset)  # type: ignore[misc]  # the admin's


def _name(obj: Model) -> str:
    # The log is in one language, whoever reads it.
    with override("en"):
        return f"{obj._meta.verbose_name}: {obj}"
