"""Accounts of the studio: Django's own pages, in the studio's look."""

from __future__ import annotations

from axes.utils import reset
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from designer.audit import note
from designer.models import AuditEntry
from designer.studio.look import AdminPasswordChangeForm, ModelAdmin, UserChangeForm, UserCreationForm

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class StudioAccountAdmin(UserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]  # no generic at run time
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    actions = ("end_two_factor", "lift_lock_out")

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:
        if not change:
            # What else is it made here for?
            obj.is_staff = True
        super().save_model(request, obj, form, change)

    @admin.action(description=_("Switch two-factor login off"), permissions=["change"])
    def end_two_factor(self, request: HttpRequest, accounts: QuerySet[User]) -> None:
        for account in accounts:
            if TOTPDevice.objects.filter(user=account).delete()[0]:
                note(request, AuditEntry.Action.TWO_FACTOR, account.get_username(), "off")
        self.message_user(request, _("They log in with name and password alone now."), messages.SUCCESS)

    @admin.action(description=_("Lift the lock-out after failed logins"), permissions=["change"])
    def lift_lock_out(self, request: HttpRequest, accounts: QuerySet[User]) -> None:
        for account in accounts:
            reset(username=account.get_username())
        self.message_user(request, _("They may log in again at once."), messages.SUCCESS)


@admin.register(Group)
class StudioGroupAdmin(GroupAdmin, ModelAdmin):  # type: ignore[misc]
    pass
