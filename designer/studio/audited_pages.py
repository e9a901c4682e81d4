"""What is added, changed and deleted through the admin's pages goes into the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import override

from designer.audit import note
from designer.models import AuditEntry

_Action = AuditEntry.Action

# A fact about a row: a yes or no, a text, or the names that belong to it.
State: TypeAlias = "bool | str | frozenset[str]"


class Audited:
    """Notes in the audit log what a ModelAdmin adds, changes and deletes. Mixed in before it."""

    def audited_state(self, obj: Any) -> Mapping[str, State]:
        """Return what the log says of `obj` before and after a change, by name. Nothing secret belongs here.

        Rows of the configuration have none: their versions hold it.
        """
        return {}

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        obj = super().get_object(request, *args, **kwargs)  # type: ignore[misc]  # the admin's
        if obj is not None and request.method == "POST":
            # The form changes this object before `log_change` is called.
            request.audited_before = self.audited_state(obj)  # type: ignore[attr-defined]
        return obj

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        note(request, _Action.ADD, name_of(obj), "; ".join(differences({}, self.audited_state(obj))))
        return super().log_addition(request, obj, message)  # type: ignore[misc]  # the admin's

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        entry = super().log_change(request, obj, message)  # type: ignore[misc]  # the admin's
        before = getattr(request, "audited_before", {})
        # Django's message names the changed fields. Their values are only noted as `audited_state` says.
        with override("en"):
            fields = entry.get_change_message()
        changed = "; ".join(differences(before, self._state_now(obj))) if before else ""
        note(request, _Action.CHANGE, name_of(obj), f"{fields} {changed}".strip())
        return entry

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for obj in queryset:
            note(request, _Action.DELETE, name_of(obj), "; ".join(differences(self.audited_state(obj), {})))
        return super().log_deletions(request, queryset)  # type: ignore[misc]  # the admin's

    def _state_now(self, obj: Model) -> Mapping[str, State]:
        # Read anew: the object may have cached its relations as they were before the change.
        return self.audited_state(type(obj)._default_manager.get(pk=obj.pk))


def differences(before: Mapping[str, State], after: Mapping[str, State]) -> Iterator[str]:
    """Yield a text for each fact that differs, such as “active: yes → no”.

    Of names, the text lists those that were added (with a plus) and removed (with a minus).
    """
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if isinstance(old, frozenset) or isinstance(new, frozenset):
            # A row that was added had no names: `old` is None then.
            old_names, new_names = _names(old), _names(new)
            if old_names == new_names:
                continue
            changes = [
                *(f"+{text}" for text in sorted(new_names - old_names)),
                *(f"−{text}" for text in sorted(old_names - new_names)),
            ]
            yield f"{name}: {', '.join(changes)}"
        else:
            yield f"{name}: {_text(old)} → {_text(new)}"


def _names(state: State | None) -> frozenset[str]:
    return state if isinstance(state, frozenset) else frozenset()


def _text(state: State | None) -> str:
    if isinstance(state, bool):
        return "yes" if state else "no"
    return "–" if state is None else str(state)


def name_of(obj: Model) -> str:
    """Return the name of a row in the audit log, such as “studio account: nora”."""
    # The log is in one language, whoever reads it.
    with override("en"):
        # Users who may not enter the studio, such as those of API accounts, are no studio accounts.
        is_outside = isinstance(obj, User) and not obj.is_staff
        return f"{'user' if is_outside else obj._meta.verbose_name}: {obj}"
