"""What is added, changed and deleted through the admin's pages goes into the audit log.

A page that was opened before somebody else has changed the same row saves nothing: it would give rights back
that were just taken away. Pages of the configuration merge both changes instead (`saving/edit_conflicts.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlencode

from django import forms
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core import signing
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from designer.audit import note
from designer.models import AuditEntry

_Action = AuditEntry.Action

# A fact about a row: a yes or no, a text, or the names that belong to it.
State: TypeAlias = "bool | str | frozenset[str]"

# The field with the state of the row that its page was opened with, signed.
_SHOWN = "_shown"
_SALT = "designer.audited-page"


class Audited:
    """Notes in the audit log what a ModelAdmin adds, changes and deletes. Mixed in before it."""

    def audited_state(self, obj: Any) -> Mapping[str, State]:
        """Return what the log says of `obj` before and after a change, by name. Nothing secret belongs here.

        Rows of the configuration have none: their versions hold it.
        """
        return {}

    def unlogged_state(self, obj: Any) -> Mapping[str, State]:
        """Return what else the page of `obj` edits, by name: the log need not keep it.

        Like what the log says, it must not have changed since the page was opened.
        """
        return {}

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        obj = super().get_object(request, *args, **kwargs)  # type: ignore[misc]  # the admin's
        if obj is not None and request.method == "POST":
            # The form changes this object before `log_change` is called.
            state = self.audited_state(obj)
            if state and connection.in_atomic_block:
                # Others who save the row at this moment come first or wait: whoever is second is told what
                # the first one has changed, instead of writing over it.
                _lock(obj)
                obj = super().get_object(request, *args, **kwargs)  # type: ignore[misc]  # the admin's
                if obj is None:
                    return None
                state = self.audited_state(obj)
            request.audited_before = state  # type: ignore[attr-defined]
            request.compared_before = {**state, **self.unlogged_state(obj)}  # type: ignore[attr-defined]
        return obj

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form class. It refuses a save over what somebody else has changed meanwhile."""
        form = super().get_form(request, obj, change=change, **kwargs)  # type: ignore[misc]  # the admin's
        changed = "; ".join(_changed_meanwhile(request)) if change else ""
        return _refusing(form, changed) if changed else form

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **kwargs: Any) -> Any:
        """Show the page, with the state of the row for the form to send back."""
        row = kwargs.get("obj")
        if row is not None and self.has_change_permission(request, row):  # type: ignore[attr-defined]
            # A form that was sent has written into the row.
            state = getattr(request, "compared_before", None)
            state = state or {**self.audited_state(row), **self.unlogged_state(row)}
            context["shown_state"] = _sealed(state) if state else ""
        return super().render_change_form(request, context, **kwargs)  # type: ignore[misc]  # the admin's

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Redirect to what the audit log has about the row. Accounts without a right to the log get Django's
        own page, which knows only what was done on the pages of the row.
        """
        row = self.get_object(request, unquote(object_id))
        may_look = row is not None and self.has_view_or_change_permission(request, row)  # type: ignore[attr-defined]
        if may_look and request.user.has_perm("designer.view_auditentry"):
            return HttpResponseRedirect(f"{reverse('studio:audit')}?{urlencode({'about': name_of(row)})}")
        return super().history_view(request, object_id, extra_context)  # type: ignore[misc]  # the admin's

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        note(request, _Action.ADD, name_of(obj), "; ".join(differences({}, self.audited_state(obj))))
        return super().log_addition(request, obj, message)  # type: ignore[misc]  # the admin's

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        entry = super().log_change(request, obj, message)  # type: ignore[misc]  # the admin's
        before = getattr(request, "audited_before", {})
        # Django's message names the changed fields. Their values are only noted as `audited_state` says.
        with override("en"):
            fields = entry.get_change_message()
        changed = "; ".join(differences(before, self._state_now(obj, before))) if before else ""
        note(request, _Action.CHANGE, name_of(obj), f"{fields} {changed}".strip())
        return entry

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for obj in queryset:
            note(request, _Action.DELETE, name_of(obj), "; ".join(differences(self.audited_state(obj), {})))
        return super().log_deletions(request, queryset)  # type: ignore[misc]  # the admin's

    def _state_now(self, obj: Model, before: Mapping[str, State]) -> Mapping[str, State]:
        # Read anew: the object may have cached its relations as they were before the change.
        now = type(obj)._default_manager.filter(pk=obj.pk).first()
        # Somebody else may have deleted it at this moment, which their entry says.
        return before if now is None else self.audited_state(now)


def _lock(obj: Model) -> None:
    """Let others who write the row wait until the present transaction ends."""
    rows = type(obj)._base_manager.select_for_update().filter(pk=obj.pk)
    list(rows.values_list("pk"))


def _sealed(state: Mapping[str, State]) -> str:
    """Return a state as a signed text, for `_changed_meanwhile` to read."""
    plain = {name: sorted(fact) if isinstance(fact, frozenset) else fact for name, fact in state.items()}
    return signing.dumps(plain, salt=_SALT, compress=True)


def _changed_meanwhile(request: HttpRequest) -> Iterator[str]:
    """Yield a text for each fact that has changed since the page was opened whose form is sent.

    There is none for a form without the state that its page was opened with.
    """
    sent = request.POST.get(_SHOWN)
    if not sent:
        return
    try:
        plain = signing.loads(sent, salt=_SALT)
    except signing.BadSignature:
        return
    shown = {name: frozenset(fact) if isinstance(fact, list) else fact for name, fact in plain.items()}
    yield from differences(shown, getattr(request, "compared_before", {}))


def _refusing(form: type[forms.BaseForm], changed: str) -> type[forms.BaseForm]:
    """Return the form as one that is never valid. `changed` says what has changed meanwhile."""

    class Overtaken(form):  # type: ignore[misc, valid-type]  # which form it is is known here alone
        def clean(self) -> Any:
            cleaned = super().clean()
            text = _(
                "Not saved: this was changed since you opened the page: %(changes)s. Look at what is chosen "
                "below, then save again."
            )
            self.add_error(None, text % {"changes": changed})
            return cleaned

    return Overtaken


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
    return str(state) if state else "–"


def name_of(obj: Model) -> str:
    """Return the name of a row in the audit log, such as “studio account: nora”."""
    # The log is in one language, whoever reads it.
    with override("en"):
        # Users who may not enter the studio, such as those of API accounts, are no studio accounts.
        is_outside = isinstance(obj, User) and not obj.is_staff
        return f"{'user' if is_outside else obj._meta.verbose_name}: {obj}"
