"""Modules, and the platform's entities that they expose."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models import names


class Module(models.Model):
    """A group of endpoints. `translations` are as in its definition, here and on all other rows."""

    segment = models.CharField(
        max_length=63,
        unique=True,
        validators=[names.segment],
        help_text=_("Part of every path of the module: “sales” gives /api/sales/…"),
    )
    title = models.CharField(max_length=200, blank=True, help_text=_("The name that the API docs show."))
    description = models.TextField(
        blank=True, help_text=_("What the module is for, for readers of the API docs.")
    )
    translations = models.JSONField(default=dict, db_default={}, blank=True, editable=False)

    class Meta:
        ordering = ("segment",)

    def __str__(self) -> str:
        return self.title or self.segment


class ExposedEntity(models.Model):
    """An entity of the platform, exposed in a module."""

    module = models.ForeignKey(Module, on_delete=models.PROTECT, related_name="entities")
    entity = models.CharField(max_length=128, help_text=_("The entity of the platform that is exposed."))
    segment = models.CharField(
        max_length=63,
        validators=[names.segment],
        help_text=_("Part of the paths of the entity's endpoints: “accounts” gives /api/sales/accounts"),
    )
    title = models.CharField(max_length=200, blank=True, help_text=_("The name that the API docs show."))
    description = models.TextField(
        blank=True, help_text=_("What the records are, for readers of the API docs.")
    )

    class Meta:
        verbose_name = _("entity")
        verbose_name_plural = _("entities")
        ordering = ("module__segment", "segment")
        constraints = [
            models.UniqueConstraint(
                fields=("module", "segment"),
                name="designer_entity_segment",
                violation_error_message=_("The module has an entity with this segment already."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.module.segment}/{self.segment} ({self.entity})"
