"""Accounts of the API. Accounts of the studio are users with `is_staff`, and are separate."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.rates import rate_column
from designer.names import USER_TYPE


class ApiAccount(models.Model):
    """A user who may get tokens: with roles, a caller type and a record. It never opens the studio."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_account"
    )
    roles = models.ManyToManyField(
        "designer.Role",
        blank=True,
        related_name="+",
        help_text=_("What endpoints ask for. An account without roles reaches endpoints that ask for none."),
    )
    caller_type = models.ForeignKey(
        "designer.CallerType",
        to_field="name",
        on_delete=models.PROTECT,
        default=USER_TYPE,
        db_default=USER_TYPE,
        related_name="+",
        verbose_name=_("caller type"),
        help_text=_("Which entity its record is in, and which endpoints admit it."),
    )
    record = models.UUIDField(
        _("record"),
        null=True,
        blank=True,
        # What release 0.2 calls it, which works on the same table while it is being replaced.
        db_column="platform_user",
        help_text=_(
            "The record that the account stands for: user context and “@user” values are those of it."
        ),
    )

    rate = rate_column(
        _(
            "How many requests a minute may be sent, instead of what the roles and the service "
            "allow. 0 means no limit of its own."
        )
    )

    class Meta:
        verbose_name = _("API account")
        ordering = ("user__username",)

    def __str__(self) -> str:
        return self.user.get_username()

    def clean(self) -> None:
        if self.user_id and (self.user.is_staff or self.user.is_superuser):
            raise ValidationError(_("A studio account gets no API access: make an account of its own."))
