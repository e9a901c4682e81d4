"""Keys of which the database keeps a name and a hash. The key itself is shown once, when it is made."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import ipaddress
import re
import secrets
from functools import cache
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

_SPLIT = re.compile(r"[\s,]+")
_PREFIX_BYTES, _SECRET_BYTES = 10, 32


def validate_networks(text: str) -> None:
    """Raise ValidationError unless every line of `text` is an address or a network."""
    for part in _networks_in(text):
        try:
            ipaddress.ip_network(part)
        except ValueError:
            raise ValidationError(
                _("“%(part)s” is not a network. Write an address or a network, such as 192.0.2.0/24."),
                params={"part": part[:60]},
            ) from None


class HashedKey(models.Model):
    """A key is `<prefix>_<secret>`. `digest` is the SHA-256 of the whole: of 256 random bits no guessing
    finds the key, so that nothing slower is needed.
    """

    # What every prefix of the model begins with. No two models share it.
    BEGINNING: ClassVar[str]

    name = models.CharField(
        _("name"), max_length=100, unique=True, help_text=_("What the key is for, such as “Nightly import”.")
    )
    prefix = models.CharField(_("prefix"), max_length=40, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
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

    class Meta:
        abstract = True
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"

    def make(self) -> str:
        """Give this row a new prefix and the hash of a new key. Return the key, which is not stored
        anywhere.
        """
        random = base64.b32encode(secrets.token_bytes(_PREFIX_BYTES)).decode().lower()
        self.prefix = f"{self.BEGINNING}{random}"
        key = f"{self.prefix}_{secrets.token_hex(_SECRET_BYTES)}"
        self.digest = _digest(key)
        return key

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= dt.datetime.now(dt.UTC)

    @property
    def allowed_networks(self) -> tuple[str, ...]:
        """The networks that the key may be used from; empty means every address."""
        return _networks_in(self.networks)


@cache
def prefix_pattern(beginning: str) -> re.Pattern[str]:
    """Return a pattern for the prefixes of a model whose `BEGINNING` is `beginning`."""
    return re.compile(rf"{beginning}[a-z2-7]{{16}}")


@cache
def bearer_pattern(beginning: str) -> re.Pattern[str]:
    """Return a pattern for an `Authorization` header with such a key. Its groups are the prefix and the
    secret.
    """
    return re.compile(rf"(?i:bearer) +({beginning}[a-z2-7]{{16}})_([0-9a-f]{{64}})")


def is_key(key: HashedKey | None, prefix: str, secret: str) -> bool:
    """Whether `secret` is the secret of `key`, whose prefix is `prefix`; False if `key` is None. The
    comparison takes the same time for every wrong secret, and without a key.
    """
    expected = _DIGEST_OF_NO_KEY if key is None else key.digest
    return hmac.compare_digest(expected, _digest(f"{prefix}_{secret}"))


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _networks_in(text: str) -> tuple[str, ...]:
    """Return the addresses and networks in a text, which are separated by white space or commas."""
    return tuple(part for part in _SPLIT.split(text) if part)


# What is compared where there is no key, so that it takes as long.
_DIGEST_OF_NO_KEY = _digest(secrets.token_hex(_SECRET_BYTES))
