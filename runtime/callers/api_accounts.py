"""Accounts of the API. Those of the studio are users with `is_staff`, and none of these."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


class ApiAccount(models.Model):
    """A user who may get tokens: with roles, and a system user on the platform. It never opens the studio."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_account"
    )
    roles = models.ManyToManyField(
        "designer.Role",
        blank=True,
        related_name="+",
        help_text=_("What endpoints ask for. An account without roles reaches endpoints that ask for none."),
    )
    platform_user = models.UUIDField(
        _("platform user"),
        null=True,
        blank=True,
        help_text=_(
            "Whom the account stands for on the platform: user context and “@user” values are theirs."
        ),
    )

    class Meta:
        verbose_name = _("API account")
        ordering = ("user__username",)

    def __str__(self) -> str:
        return self.user.get_username()

    def clean(self) -> None:
        if self.user_id and (self.user.is_staff or self.user.is_superuser):
            raise ValidationError(_("A studio account gets no API access: make an account of its own."))
