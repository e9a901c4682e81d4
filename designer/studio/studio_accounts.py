"""Accounts of the studio: Django's own pages, in the studio's look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from axes.utils import reset
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import ManyToManyField, QuerySet
from django.forms import ModelForm, ModelMultipleChoiceField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from designer.audit import note
from designer.models import AuditEntry
from designer.proposals.publication import keep_authors_of_renamed
from designer.studio.audited_pages import State
from designer.studio.look import AdminPasswordChangeForm, ModelAdmin, UserChangeForm, UserCreationForm
from designer.studio.permission_choices import PermissionBoxes, PermissionForm, permissions_in_words

# What fields of an account mean in the studio. Django's words speak of any site.
_HELP: Mapping[str, Any] = {
    "username": _("Use at most 150 letters, digits and @ . + - _"),
    "is_active": _("Switch this off instead of deleting the account."),
    "is_staff": _("The account can log in to the studio."),
    "is_superuser": _("The account may do everything in the studio, without any group."),
    "groups": _("The account has the permissions of each of its groups."),
    "user_permissions": _("Permissions that the account has beside those of its groups."),
}

admin.site.unregister(User)
admin.site.unregister(Group)


def lift_lock_outs(request: HttpRequest, users: Iterable[User]) -> None:
    """Let the users log in again in spite of their failed logins, and note that in the audit log."""
    for user in users:
        failures = reset(username=user.get_username())
        note(request, AuditEntry.Action.LIFT, user.get_username(), f"failed logins: {failures} → 0")


class _AccountForm(PermissionForm, UserChangeForm):  # type: ignore[misc]  # unfold is not typed
    permission_field = "user_permissions"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, help_text in _HELP.items():
            # People who may only look have no fields.
            if name in self.fields:
                self.fields[name].help_text = help_text


class _NewAccountForm(UserCreationForm):  # type: ignore[misc]  # unfold is not typed
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = _HELP["username"]


class _GroupForm(PermissionForm):
    permission_field = "permissions"


class _WithPermissions(ModelAdmin):
    """Pages on which somebody gives permissions: as check boxes with titles."""

    class Media:
        css: ClassVar[Any] = {"all": ["designer/studio.css"]}

    def formfield_for_manytomany(
        self, db_field: ManyToManyField[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelMultipleChoiceField[Any]:
        if db_field.remote_field.model is Permission:
            kwargs["widget"] = PermissionBoxes()
        field: ModelMultipleChoiceField[Any] = super().formfield_for_manytomany(db_field, request, **kwargs)
        return field


@admin.register(User)
class StudioAccountAdmin(UserAdmin, _WithPermissions):  # type: ignore[misc, type-arg]  # no generic at run time
    form = _AccountForm
    filter_horizontal = ("groups",)
    readonly_fields = ("last_login", "date_joined")
    add_form = _NewAccountForm
    change_password_form = AdminPasswordChangeForm
    actions = ("end_two_factor", "lift_lock_out")

    def audited_state(self, obj: User) -> Mapping[str, State]:
        return {
            "name": obj.get_username(),
            "active": obj.is_active,
            "staff": obj.is_staff,
            "superuser": obj.is_superuser,
            "groups": frozenset(obj.groups.values_list("name", flat=True)),
            "permissions": permissions_in_words(obj.user_permissions.all()),
        }

    def unlogged_state(self, obj: User) -> Mapping[str, State]:
        return {"first name": obj.first_name, "last name": obj.last_name, "e-mail address": obj.email}

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:
        if not change:
            # Django's form does not ask for it. Without it, an account that is made here could not log in.
            obj.is_staff = True
        super().save_model(request, obj, form, change)
        if change and "username" in form.changed_data:
            keep_authors_of_renamed(form.initial["username"], obj.get_username())

    @admin.action(description=_("Switch two-factor login off"), permissions=["change"])
    def end_two_factor(self, request: HttpRequest, accounts: QuerySet[User]) -> None:
        for account in accounts:
            # `delete` returns the number of deleted rows first.
            if TOTPDevice.objects.filter(user=account).delete()[0]:
                note(request, AuditEntry.Action.TWO_FACTOR, account.get_username(), "on → off")
        self.message_user(request, _("They log in with name and password alone now."), messages.SUCCESS)

    @admin.action(description=_("Lift the lock-out after failed logins"), permissions=["change"])
    def lift_lock_out(self, request: HttpRequest, accounts: QuerySet[User]) -> None:
        lift_lock_outs(request, accounts)
        self.message_user(request, _("They may log in again at once."), messages.SUCCESS)


@admin.register(Group)
class StudioGroupAdmin(GroupAdmin, _WithPermissions):  # type: ignore[misc]
    form = _GroupForm
    filter_horizontal = ()

    def audited_state(self, obj: Group) -> Mapping[str, State]:
        return {"name": obj.name, "permissions": permissions_in_words(obj.permissions.all())}
