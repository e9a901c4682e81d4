"""The studio's pages of API accounts, and of its own accounts without these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from designer.audit import note
from designer.models import AuditEntry
from designer.studio.audited_pages import State
from designer.studio.look import ModelAdmin
from designer.studio.studio_accounts import StudioAccountAdmin, lift_lock_outs
from runtime.callers import (  # they register themselves
    caller_notices,  # noqa: F401
    failed_logins_page,  # noqa: F401
    refusals_page,  # noqa: F401
)
from runtime.callers.account_form import AccountForm
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.keys import key_pages  # noqa: F401  registers itself
from runtime.callers.own_tokens import revoke_all
from runtime.callers.recordless_callers import finding_of
from runtime.proposals.proposal_key import ProposalKey
from runtime.proposals.proposal_key_pages import ProposalKeyAdmin

# Rows of the machinery, which nobody can do anything sensible with by hand.
for _model in (BlacklistedToken, OutstandingToken, TOTPDevice):
    admin.site.unregister(_model)
admin.site.unregister(User)
if settings.PORTICO["PROPOSALS_API"]:
    admin.site.register(ProposalKey, ProposalKeyAdmin)

# What those read who may look but not change.
_SEEN = ((None, {"fields": ("username", "is_open", "role_names", "caller_type", "record", "rate")}),)


@admin.register(User)
class WithoutApiAccounts(StudioAccountAdmin):
    """The page of studio accounts. API accounts are Django users, too, but have a page of their own."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        accounts: QuerySet[User] = super().get_queryset(request)
        return accounts.filter(api_account=None)


@admin.register(ApiAccount)
class ApiAccountAdmin(ModelAdmin):
    form = AccountForm
    change_form_template = "runtime/caller.html"
    when_empty = _("No API account yet. Programs get tokens with one: a name, a password, roles, a record.")
    fieldsets = (
        (None, {"fields": ("username", "password", "active")}),
        (_("Access"), {"fields": ("roles", "caller_type", "platform_user", "record", "rate")}),
    )
    list_display = ("username", "role_names", "is_open", "last_token")
    list_filter = ("user__is_active", "roles")
    search_fields = ("user__username",)
    list_select_related = ("user",)
    actions = ("revoke_tokens", "lift_lock_out")

    def get_fieldsets(self, request: HttpRequest, obj: ApiAccount | None = None) -> Any:
        return super().get_fieldsets(request, obj) if self._may_write(request, obj) else _SEEN

    def get_form(
        self, request: HttpRequest, obj: ApiAccount | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:  # type: ignore[type-arg]  # no generic at run time
        """Return the form of the page; a plain one for people who may not change the account."""
        if not self._may_write(request, obj):
            # Django then leaves all fields out of the form, and AccountForm would look for them.
            kwargs["form"] = forms.ModelForm
        form: type[forms.ModelForm] = super().get_form(request, obj, change, **kwargs)  # type: ignore[type-arg]
        return form

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **kwargs: Any) -> Any:
        """Show the page with the finding about the account, and with a link to try what it may do."""
        row = kwargs.get("obj")
        if row is not None:
            context |= {"finding": finding_of(row), "caller_source": "account", "caller_name": str(row)}
        return super().render_change_form(request, context, **kwargs)

    def save_model(self, request: HttpRequest, obj: ApiAccount, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if finding := finding_of(obj):
            self.message_user(request, finding, messages.WARNING)

    def _may_write(self, request: HttpRequest, account: ApiAccount | None) -> bool:
        """Whether the person may make this account (None: a new one) or change it."""
        if account is None:
            return bool(self.has_add_permission(request))
        return bool(self.has_change_permission(request, account))

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiAccount]:
        accounts: QuerySet[ApiAccount] = super().get_queryset(request)
        return accounts.prefetch_related("roles")

    @admin.display(description=_("User name"), ordering="user__username")
    def username(self, account: ApiAccount) -> str:
        return account.user.get_username()

    @admin.display(description=_("Roles"))
    def role_names(self, account: ApiAccount) -> str:
        return ", ".join(role.name for role in account.roles.all()) or "–"

    @admin.display(description=_("Active"), boolean=True, ordering="user__is_active")
    def is_open(self, account: ApiAccount) -> bool:
        return account.user.is_active

    @admin.display(description=_("Last login"), ordering="user__last_login")
    def last_token(self, account: ApiAccount) -> object:
        return account.user.last_login

    @admin.action(description=_("Revoke refresh tokens"), permissions=["change"])
    def revoke_tokens(self, request: HttpRequest, accounts: QuerySet[ApiAccount]) -> None:
        """End all refresh tokens of the selected accounts, and note each account in the audit log."""
        total = 0
        for account in accounts:
            revoked = revoke_all(account.user)
            note(request, AuditEntry.Action.REVOKE, account, f"refresh tokens: {revoked} → 0")
            total += revoked
        sentence = _("%(count)s refresh tokens revoked; access tokens end within a minute.")
        self.message_user(request, sentence % {"count": total})

    @admin.action(description=_("Lift the lock-out after failed logins"), permissions=["change"])
    def lift_lock_out(self, request: HttpRequest, accounts: QuerySet[ApiAccount]) -> None:
        lift_lock_outs(request, [account.user for account in accounts])
        self.message_user(request, _("They may log in again at once."), messages.SUCCESS)

    def audited_state(self, account: ApiAccount) -> Mapping[str, State]:
        """Return what the audit log compares before and after a change. The password is not part of it."""
        return {
            "name": account.user.get_username(),
            "active": account.user.is_active,
            "roles": frozenset(role.name for role in account.roles.all()),
            "caller type": str(account.caller_type_id),
            "record": str(account.record or "none"),
            "rate": str(account.rate or "default"),
        }

    def delete_model(self, request: HttpRequest, account: ApiAccount) -> None:
        # The account goes with its user, and so does everything else that refers to the user.
        account.user.delete()

    def delete_queryset(self, request: HttpRequest, accounts: QuerySet[ApiAccount]) -> None:
        for account in accounts:
            account.user.delete()
