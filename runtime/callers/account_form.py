"""The form of an API account: its Django user and its own fields on one page."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from designer.models import Role
from designer.studio.look import dress
from designer.studio.sent_numbers import RowsField
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.own_tokens import revoke_all
from runtime.callers.record_form import RecordForm


class AccountForm(RecordForm):
    """The form of an API account, which saves its user, too.

    A new password or a closed account ends all tokens that were issued with the old password.
    """

    username = dress(
        forms.CharField(
            label=_("User name"),
            max_length=150,
            validators=[User.username_validator],
            help_text=_("The name that POST /api/token takes. Use letters, digits and @ . + - _"),
        )
    )
    password = dress(
        forms.CharField(
            required=False,
            strip=False,
            max_length=1000,
            label=_("Password"),
            widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
            help_text=_("Leave the field empty to keep the present password."),
        )
    )
    active = dress(
        forms.BooleanField(
            required=False,
            initial=True,
            label=_("Active"),
            help_text=_("Inactive accounts lose access within a minute."),
        )
    )
    roles = dress(
        RowsField(
            Role.objects.all(),
            required=False,
            label=_("Roles"),
            widget=forms.CheckboxSelectMultiple,
            help_text=ApiAccount._meta.get_field("roles").help_text,
        )
    )

    class Meta:
        model = ApiAccount
        fields = ("roles", "caller_type", "record", "rate")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._is_new:
            self.fields["password"].required = True
            self.fields["password"].help_text = ""
        else:
            self.initial.update(username=self.instance.user.username, active=self.instance.user.is_active)

    @property
    def _is_new(self) -> bool:
        return self.instance.pk is None

    def clean_username(self) -> str:
        """Return the user name. Raises ValidationError when another account of the API or of the studio has
        it.
        """
        username = cast(str, self.cleaned_data["username"])
        other_users = User.objects.filter(username=username).exclude(pk=self.instance.user_id)
        if other_users.exists():
            raise ValidationError(
                _("An account of the API or of the studio has this name. Choose another one.")
            )
        return username

    def clean_password(self) -> str:
        """Return the password; empty to keep the present one. Raises ValidationError for a weak password."""
        password = cast(str, self.cleaned_data["password"])
        if password:
            user = None if self._is_new else self.instance.user
            validate_password(password, user)
        return password

    @transaction.atomic
    def save(self, commit: bool = True) -> ApiAccount:
        """Save the user and the account. Return the account."""
        user = User() if self._is_new else self.instance.user
        user.username = self.cleaned_data["username"]
        user.is_active = self.cleaned_data["active"]
        if password := self.cleaned_data["password"]:
            user.set_password(password)
        # The time of the last login is another request's to write.
        written = ["username", "is_active", *(["password"] if password else [])]
        user.save(update_fields=None if self._is_new else written)
        if password or not user.is_active:
            revoke_all(user)
        self.instance.user = user
        return cast(ApiAccount, super().save(commit))
