"""What management commands do to accounts, groups and keys goes into the audit log, as if done in the studio.

Django's signals tell of it, because commands of Django and of packages write, too. Rows of the configuration
are left out: their pages have no `audited_state`, and versions record them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save
from django.dispatch import receiver

from designer.audit import note_account
from designer.models import AuditEntry
from designer.running_command import running_command
from designer.studio.audited_pages import Audited, State, differences, name_of

_STATE_BEFORE = "_audited_before_command"
_PASSWORD = "password"  # noqa: S105  a field's name


@receiver(pre_save)
def about_to_save(sender: type[Model], instance: Model, **signal: Any) -> None:
    if page := _page(sender):
        stored = sender._default_manager.filter(pk=instance.pk).first() if instance.pk else None
        setattr(instance, _STATE_BEFORE, _state(page, stored) if stored is not None else {})


@receiver(post_save)
def saved(sender: type[Model], instance: Model, created: bool, **signal: Any) -> None:
    if page := _page(sender):
        action = AuditEntry.Action.ADD if created else AuditEntry.Action.CHANGE
        _note(action, instance, getattr(instance, _STATE_BEFORE, {}), _state(page, instance))


@receiver(pre_delete)
def about_to_delete(sender: type[Model], instance: Model, **signal: Any) -> None:
    if page := _page(sender):
        _note(AuditEntry.Action.DELETE, instance, _state(page, instance), {})


@receiver(m2m_changed)
def members_changed(
    instance: Model, action: str, reverse: bool, model: type[Model], pk_set: set[Any] | None, **signal: Any
) -> None:
    """Note a change of a many-to-many relation that a command makes. Django's signal comes before and after
    it.
    """
    if not running_command():
        return
    # `group.user_set.add(user)` says the same as `user.groups.add(group)`.
    owners: Iterable[Model] = model._default_manager.filter(pk__in=pk_set or ()) if reverse else [instance]
    for owner in owners:
        if page := _page(type(owner)):
            # The states before the change, by owner, stay at an object that both signals have: in a reversed
            # change, the owners are read anew each time.
            changed_row = instance if reverse else owner
            states_before: dict[Any, Mapping[str, State]] = changed_row.__dict__.setdefault(
                f"{_STATE_BEFORE}_members", {}
            )
            if action.startswith("pre_"):
                states_before[owner.pk] = _state(page, owner)
            else:
                _note(
                    AuditEntry.Action.CHANGE,
                    owner,
                    states_before.pop(owner.pk, {}),
                    _state(page, owner),
                )


def _page(model: type[Model]) -> Audited | None:
    """Return the studio's page of a model, which gives the state of a row for the log.

    None: nothing is to be noted, because no command runs or the model has no such page.
    """
    if not running_command() or not admin.site.is_registered(model):
        return None
    page = admin.site.get_model_admin(model)
    # A page that does not define `audited_state` is one of the configuration. Imports write thousands of its
    # rows: asking here, before any row is read, saves their queries.
    defines_state = isinstance(page, Audited) and type(page).audited_state is not Audited.audited_state
    return page if defines_state else None  # type: ignore[return-value]  # an Audited


def _state(page: Audited, row: Model) -> Mapping[str, State]:
    """Return the state of a row for the log and, to notice a change, the hash of its password."""
    state = page.audited_state(row)
    # `_note` takes the hash out again: it never stands in the log.
    return {**state, _PASSWORD: getattr(row, _PASSWORD)} if hasattr(row, _PASSWORD) else state


def _note(
    action: AuditEntry.Action, row: Model, before: Mapping[str, State], after: Mapping[str, State]
) -> None:
    """Note what a command has changed in a row; nothing if it changed nothing. Of a password it is only noted
    that it changed.
    """
    # One of the two is missing where the row was added or deleted.
    hash_before, hash_after = before.get(_PASSWORD), after.get(_PASSWORD)
    lines = list(differences(_without_password(before), _without_password(after)))
    if hash_before is not None and hash_after is not None and hash_before != hash_after:
        lines.append("password: changed")
    if lines:
        note_account(f"manage.py {running_command()}", action, name_of(row), "; ".join(lines))


def _without_password(state: Mapping[str, State]) -> dict[str, State]:
    return {name: value for name, value in state.items() if name != _PASSWORD}
