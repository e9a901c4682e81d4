"""Releases: named copies of the whole configuration."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Release(models.Model):
    """A named copy of the whole configuration.

    `document` is the exported configuration. It is served only when it is restored.
    """

    major = models.PositiveIntegerField(_("major"))
    minor = models.PositiveIntegerField(_("minor"))
    name = models.CharField(_("name"), max_length=100, blank=True, help_text=_("The name that people read."))
    changelog = models.TextField(
        _("changelog"), blank=True, help_text=_("What callers should know about the release.")
    )
    document = models.TextField(editable=False)
    made_at = models.DateTimeField(_("made at"), auto_now_add=True)
    account = models.CharField(_("account"), max_length=150, blank=True, editable=False)

    class Meta:
        verbose_name = _("release")
        verbose_name_plural = _("releases")
        ordering = ("-major", "-minor")
        default_permissions = ("view", "add")
        constraints = [
            models.UniqueConstraint(
                fields=("major", "minor"),
                name="designer_release_number",
                violation_error_message=_("There is a release with this number already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.name}".strip()

    @property
    def number(self) -> str:
        """The number as people write it, such as 1.4."""
        return f"{self.major}.{self.minor}"
