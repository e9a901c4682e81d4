"""Which studio accounts belong to people of an identity provider."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ProviderAccount(models.Model):
    """Links a studio account to the `subject` of an identity provider. The account has no password."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="provider_account"
    )
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("issuer", "subject"), name="one_account_for_a_subject"),
        )

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"
