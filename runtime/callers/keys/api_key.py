"""API keys. The database keeps a name and a hash of each; the key itself is shown once, when it is made."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import ipaddress
import re
import secrets

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.rates import rate_column
from designer.names import SERVICE_TYPE

# Programs that look for secrets where none belong know them by this beginning.
_BEGINNING = "portico"
_SPLIT = re.compile(r"[\s,]+")
_PREFIX_BYTES, _SECRET_BYTES = 10, 32


def validate_networks(text: str) -> None:
    for part in _parts(text):
        try:
            ipaddress.ip_network(part)
        except ValueError:
            raise ValidationError(
                _("“%(part)s” is not a network. Write an address or a network, such as 192.0.2.0/24."),
                params={"part": part[:60]},
            ) from None


class ApiKey(models.Model):
    """A key is `<prefix>_<secret>`. `digest` is the SHA-256 of the whole: of 256 random bits no guessing
    finds the key, so that nothing slower is needed.
    """

    name = models.CharField(
        _("name"), max_length=100, unique=True, help_text=_("What the key is for, such as “Nightly import”.")
    )
    prefix = models.CharField(_("prefix"), max_length=40, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
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
    networks = models.TextField(
        _("addresses"),
        blank=True,
        max_length=4000,
        validators=[validate_networks],
        help_text=_(
            "The addresses and networks that the key may be sent from, one a line, such as 192.0.2.0/24. "
            "Leave the list empty to allow every address."
        ),
    )
    expires_at = models.DateTimeField(
        _("expires at"),
        null=True,
        blank=True,
        help_text=_(
            "In UTC. The dashboard announces it 14 days before. Leave it empty for a key without an end."
        ),
    )
    active = models.BooleanField(
        _("active"), default=True, help_text=_("A key that is not active loses access within a minute.")
    )
    made_at = models.DateTimeField(_("made at"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    rate = rate_column(
        _(
            "How many requests a minute it may send, instead of what its roles and the service allow. "
            "0: it has no limit of its own."
        )
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"

    def make(self) -> str:
        """Give this row a new prefix and the hash of a new key; the key, which nobody can tell later."""
        random = base64.b32encode(secrets.token_bytes(_PREFIX_BYTES)).decode().lower()
        self.prefix = f"{_BEGINNING}{random}"
        key = f"{self.prefix}_{secrets.token_hex(_SECRET_BYTES)}"
        self.digest = _digest(key)
        return key

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= dt.datetime.now(dt.UTC)

    @property
    def allowed_networks(self) -> tuple[str, ...]:
        """None means every address."""
        return _parts(self.networks)


def is_key(found: ApiKey | None, prefix: str, secret: str) -> bool:
    """Whether `secret` is the one of `found`, in the same time whatever is right of it."""
    expected = _NOBODYS if found is None else found.digest
    return hmac.compare_digest(expected, _digest(f"{prefix}_{secret}"))


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in _SPLIT.split(text) if part)


_NOBODYS = _digest(secrets.token_hex(_SECRET_BYTES))
