"""The studio's list of refused callers: the last refusals by reason, and what callers have registered."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.studio.look import ModelAdmin
from runtime.callers.issuers.registration import Registration
from runtime.callers.refusal_counts import RefusalCount, refusal_counts

# The reasons of refusals in words; docs/settings.md says of each what to look at.
REASONS: dict[str, str | Promise] = {
    "account_closed": _("the account is closed"),
    "account_unknown": _("unknown account"),
    "address": _("an address that the API key is not good from"),
    "algorithm": _("signed by an algorithm that is not accepted"),
    "audience": _("for another audience"),
    "caller_type": _("a caller type that the endpoint does not admit"),
    "caller_type_unknown": _("unknown caller type"),
    "expired": _("expired"),
    "expiry": _("the expiry is not a number"),
    "issued_at": _("the time of issue is not a number"),
    "issuer_unavailable": _("the issuer's keys cannot be read"),
    "key_inactive": _("the API key is revoked or has expired"),
    "malformed": _("not a token"),
    "missing_claim": _("a claim that every token has is missing"),
    "no_entity": _("the caller type has no record"),
    "no_kid": _("does not name its key"),
    "no_platform_user": _("no platform user"),
    "no_record": _("no record"),
    "no_claim": _("the claim that names the record is missing"),
    "no_such_value": _("a value that the attribute cannot have"),
    "not_verified": _("the claim is not verified"),
    "no_role": _("none of the endpoint's roles"),
    "not_yet_valid": _("not valid yet"),
    "own_key": _("brings its own key"),
    "record_gone": _("the registered record was deleted"),
    "record_inactive": _("the record is not active"),
    "record_taken": _("the record belongs to another caller"),
    "record_unknown": _("the platform does not have the record"),
    "registration_failed": _("the record could not be made"),
    "registration_limit": _("too many registrations within an hour"),
    "required_claim": _("a required claim is missing"),
    "reused": _("a refresh token was used again"),
    "several_records": _("several records"),
    "signature": _("wrong signature"),
    "subject": _("the subject is not a text"),
    "unknown_issuer": _("unknown issuer"),
    "unknown_kid": _("unknown key"),
    "used_or_revoked": _("the refresh token is used up or revoked"),
    "user_disabled": _("the platform user is disabled"),
    "user_unknown": _("unknown platform user"),
    "wrong_credentials": _("wrong user name or password"),
    "wrong_key": _("wrong API key"),
}


class _ReadOnly(ModelAdmin):
    """A list that nobody may add to or change. Rows can be deleted."""

    list_display_links = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(RefusalCount)
class RefusalCountAdmin(_ReadOnly):
    when_empty = _("No caller has been refused in the last 30 days.")
    list_display = ("last_at", "whose", "why", "count", "day")
    list_filter = ("day",)
    search_fields = ("issuer", "reason")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show the list, with the refusals of this process up to now."""
        # Whoever has just tried a token looks for it here.
        refusal_counts.flush()
        response: HttpResponseBase = super().changelist_view(request, extra_context)
        return response

    @admin.display(description=_("Issuer"), ordering="issuer")
    def whose(self, row: RefusalCount) -> Any:
        """Return the issuer for the list; a sentence for an issuer that is not set up here, and a dash where
        no issuer is involved, as with passwords.
        """
        return row.issuer or (_("an issuer that is not set up") if row.reason == "unknown_issuer" else "–")

    @admin.display(description=_("Reason"), ordering="reason")
    def why(self, row: RefusalCount) -> Any:
        """Return the reason in words, followed by its code."""
        reason = REASONS.get(row.reason)
        return f"{reason} ({row.reason})" if reason else row.reason


@admin.register(Registration)
class RegistrationAdmin(_ReadOnly):
    when_empty = _("No caller has registered yet.")
    list_display = ("made_at", "issuer", "subject", "entity", "record", "linked", "done")
    search_fields = ("subject", "record")
    list_filter = ("done", "linked")
