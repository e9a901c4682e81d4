"""Who held a role before it was deleted or renamed: a way back in the history gives the role back to them.

API accounts and keys are no part of the configuration, so no version knows them. Without this, a role would
be as before after *Undo*, and nobody would hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models.signals import pre_delete, pre_save

from designer.audit import note_account
from designer.history.recording import version_recorded
from designer.models import AuditEntry, ItemChange, Role, Version
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.keys.api_key import ApiKey


class FormerRole(models.Model):
    """A name that no role has any more, with the callers who held the role when it was deleted or renamed.

    `role` is the id of the role's row; a role that was renamed has a row here for each of its earlier names.
    `accounts` and `keys` are ids, also of accounts and keys that are gone by now.
    """

    name = models.CharField(max_length=100, unique=True)
    role = models.BigIntegerField(db_index=True)
    accounts = models.JSONField(default=list)
    keys = models.JSONField(default=list)
    left_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


def remember_from_now_on() -> None:
    """Remember who holds roles that are deleted or renamed, and give back what a way back brings back."""
    uid = "runtime.former_roles"
    pre_delete.connect(_remember_deleted, sender=Role, dispatch_uid=uid)
    pre_save.connect(_remember_renamed, sender=Role, dispatch_uid=uid)
    version_recorded.connect(_follow_version, dispatch_uid=uid)


def _remember_deleted(instance: Role, **_: Any) -> None:
    _remember(instance.pk, Role.objects.filter(pk=instance.pk).values_list("name", flat=True).first())


def _remember_renamed(instance: Role, *, raw: bool, **_: Any) -> None:
    if raw or instance.pk is None:
        return
    saved = Role.objects.filter(pk=instance.pk).exclude(name=instance.name)
    _remember(instance.pk, saved.values_list("name", flat=True).first())


def _remember(role: int, name: str | None) -> None:
    """Remember the callers who hold the role with this row id, under its name in the database."""
    if name is not None:
        holders = {
            "accounts": list(
                ApiAccount.objects.filter(roles=role).order_by("pk").values_list("pk", flat=True)
            ),
            "keys": list(ApiKey.objects.filter(roles=role).order_by("pk").values_list("pk", flat=True)),
        }
        FormerRole.objects.update_or_create(name=name, defaults={"role": role, **holders})


def _follow_version(version: Version, changes: Sequence[ItemChange], **_: Any) -> None:
    """Give back the roles that a way back has brought back; note who has lost and regained which.

    A new role begins with nobody, also where an earlier one had its name: who made it does not know of those
    who held the other.
    """
    for change in changes:
        if change.collection != "roles":
            continue
        if change.after is None:
            _note_loss(version, change.key)
        elif change.before is None and version.origin == Version.Origin.RESTORE:
            _give_back(version, change.key)
        elif change.before is None:
            FormerRole.objects.filter(name=change.key).delete()


def _note_loss(version: Version, name: str) -> None:
    """Note who has lost the role `name`; nobody where it has only been renamed."""
    former = FormerRole.objects.filter(name=name).first()
    if former is not None and not Role.objects.filter(pk=former.role).exists():
        _note(version, name, "taken, because the role is gone, from", *_holders(former))


def _give_back(version: Version, name: str) -> None:
    """Give the role `name`, which has come back, to those who held it last, under whichever name."""
    former = FormerRole.objects.filter(name=name).first()
    role = Role.objects.filter(name=name).first()
    if former is None or role is None:
        return
    last = FormerRole.objects.filter(role=former.role).latest("left_at", "pk")
    accounts, keys = _holders(last)
    for account in accounts:
        account.roles.add(role)
    for key in keys:
        key.roles.add(role)
    # The new row goes on where the old one ended: what is undone next finds its earlier names here.
    FormerRole.objects.filter(role=former.role).update(role=role.pk)
    _note(version, name, "given back to", accounts, keys)


def _holders(former: FormerRole) -> tuple[Sequence[ApiAccount], Sequence[ApiKey]]:
    """Return those of the former holders who still exist."""
    accounts = ApiAccount.objects.filter(pk__in=former.accounts).select_related("user")
    return list(accounts), list(ApiKey.objects.filter(pk__in=former.keys))


def _note(
    version: Version, name: str, what: str, accounts: Sequence[ApiAccount], keys: Sequence[ApiKey]
) -> None:
    names = [*(f"API account {account}" for account in accounts), *(f"API key {key}" for key in keys)]
    if names:
        detail = f"{what} {', '.join(names)}"
        note_account(version.account, AuditEntry.Action.ACCESS, f"role {name}", detail)
