"""The user context: roles, and what `/api/context` says of a caller."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models import names


class Role(models.Model):
    """An application role. The platform's security roles beside it describe, and enforce nothing."""

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[names.role_name],
        help_text=_("As tokens and accounts name it."),
    )
    title = models.CharField(max_length=200, blank=True, help_text=_("What people call it."))
    description = models.TextField(blank=True, help_text=_("Who has it, and what it lets them do."))
    platform_roles = models.JSONField(
        default=list,
        blank=True,
        help_text=_(
            "Security roles of the platform that correspond. A description only: nothing is enforced."
        ),
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.title} ({self.name})" if self.title else self.name


class UserProperty(models.Model):
    """One property of the caller: a field of their user record, related data, or an expression."""

    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=100, unique=True, help_text=_("Its name; “@user.name” in endpoints."))
    kind = models.CharField(max_length=20, default="field", help_text=_("Where it comes from."))
    attribute = models.CharField(
        max_length=128, blank=True, help_text=_("For a field: the attribute of the user's record.")
    )
    relationship = models.CharField(
        max_length=128, blank=True, help_text=_("For related data: the relationship that leads there.")
    )
    expression = models.TextField(
        blank=True,
        help_text=_("For a custom property: a CEL expression over “user”, such as 'support' in user.roles"),
    )
    description = models.TextField(blank=True, help_text=_("What it says, for readers of the API docs."))

    class Meta:
        verbose_name = _("user property")
        verbose_name_plural = _("user properties")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.name


class RelatedColumn(models.Model):
    """An attribute of related records, for a user property of related data."""

    user_property = models.ForeignKey(UserProperty, on_delete=models.CASCADE, related_name="columns")
    position = models.PositiveIntegerField(default=0)
    attribute = models.CharField(max_length=128, help_text=_("An attribute of the related entity."))
    name = models.CharField(
        max_length=100, blank=True, help_text=_("Its name in the answer. Empty: the attribute's.")
    )

    class Meta:
        verbose_name = _("column")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.name or self.attribute
