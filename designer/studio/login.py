"""The studio's login: name and password and, for accounts with two-factor login, a code."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.auth.signals import user_login_failed
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django_otp import match_token, user_has_device

from designer.audit import note
from designer.models import AuditEntry
from designer.studio.look import AuthenticationForm, OwnPasswordChangeForm, dress
from designer.studio.sign_in.accounts import has_provider
from designer.studio.sign_in.provider import may_use_password


class LoginForm(AuthenticationForm):  # type: ignore[misc]  # unfold is not typed
    """The form of the login page: name, password, and a code for accounts with two-factor login."""

    code = dress(
        forms.CharField(
            label=_("Code"),
            required=False,
            max_length=10,
            help_text=_("The code of your authenticator app, if you have set up two-factor login."),
            widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
        )
    )

    def confirm_login_allowed(self, user: AbstractBaseUser) -> None:
        """Check what else a login needs. Django calls this once the password is right.

        Raises ValidationError for an account that may not use a password, and for a missing or wrong code.
        """
        super().confirm_login_allowed(user)
        # The error is that of a wrong password: nobody learns that the password is right.
        if not may_use_password(user.get_username()) or has_provider(user):
            self._count_failure(user)
            raise self.get_invalid_login_error()
        # This comes after the password: who does not know it does not learn who has a second factor.
        if not user_has_device(user):
            return
        code = str(self.data.get("code", "")).replace(" ", "")
        if not code:
            raise ValidationError(_("Write the code of your authenticator app too."), code="code_missing")
        # Codes that were used, and too many wrong ones, are refused by the device itself.
        if match_token(user, code) is None:
            self._count_failure(user)
            raise ValidationError(_("That is not the code that the app shows now."), code="code_wrong")

    def _count_failure(self, user: AbstractBaseUser) -> None:
        """Count a failed login. Django only sends the signal for wrong passwords."""
        credentials: dict[str, Any] = {"username": user.get_username()}
        user_login_failed.send(__name__, credentials=credentials, request=self.request)


def change_own_password(request: HttpRequest) -> HttpResponseBase:
    """Show the page for the own password, and note a change in the audit log.

    It is the admin's, with another form: the admin's own view takes none.
    """
    show_or_save = PasswordChangeView.as_view(
        form_class=OwnPasswordChangeForm,
        success_url=reverse("admin:password_change_done"),
        extra_context=admin.site.each_context(request),
    )
    response: HttpResponseBase = show_or_save(request)
    # The page redirects only after a change. With a wrong form it answers 200.
    if request.method == "POST" and response.status_code == 302:
        note(request, AuditEntry.Action.CHANGE, request.user.get_username(), "own password")
    return response


admin.site.login_form = LoginForm
admin.site.login_template = "designer/login.html"
