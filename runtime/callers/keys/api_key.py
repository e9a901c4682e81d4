"""API keys: what machines call the API with."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.rates import rate_column
from designer.names import SERVICE_TYPE
from runtime.callers.keys.hashed_key import HashedKey


class ApiKey(HashedKey):
    # Programs that look for secrets where none belong know them by this beginning.
    BEGINNING = "portico"

    roles = models.ManyToManyField(
        "designer.Role",
        blank=True,
        related_name="+",
        help_text=_("What endpoints ask for. A key without roles reaches endpoints that ask for none."),
    )
    caller_type = models.ForeignKey(
        "designer.CallerType",
        to_field="name",
        on_delete=models.PROTECT,
        default=SERVICE_TYPE,
        related_name="+",
        verbose_name=_("caller type"),
        help_text=_("Which entity the record is in, and which endpoints admit the key."),
    )
    record = models.UUIDField(
        _("record"),
        null=True,
        blank=True,
        help_text=_("The record that calls with the key stand for."),
    )
    rate = rate_column(
        _(
            "How many requests a minute may be sent, instead of what the roles and the service "
            "allow. 0 means no limit of its own."
        )
    )
