"""The user context: roles, and what `/api/context` says of a caller."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models import names
from designer.models.rates import rate_column
from designer.names import USER_TYPE, property_key


class Role(models.Model):
    """An application role. The platform's security roles beside it describe, and enforce nothing."""

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[names.role_name],
        help_text=_("The name of the role in tokens and accounts."),
    )
    title = models.CharField(max_length=200, blank=True, help_text=_("The name that people read."))
    description = models.TextField(blank=True, help_text=_("Who has the role, and what they may do."))
    platform_roles = models.JSONField(
        default=list,
        blank=True,
        help_text=_(
            "The security roles of the platform that correspond to this role. They only "
            "describe the role: nothing is enforced."
        ),
    )
    rate = rate_column(
        _(
            "How many requests a minute a caller with this role may send, instead of the "
            "service's own limit. If a caller has several roles, the highest number counts. 0 "
            "means that the role has no limit of its own."
        )
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.title} ({self.name})" if self.title else self.name


class CallerType(models.Model):
    """A kind of caller: which entity the caller's record is in. Its name never changes: endpoints hold it."""

    name = models.CharField(
        max_length=63,
        unique=True,
        validators=[names.caller_type_name],
        help_text=_("The name that expressions read in user.type."),
    )
    entity = models.CharField(
        max_length=128,
        blank=True,
        help_text=_(
            "The entity of the callers' records. If it is empty, callers of this type have no record."
        ),
    )
    title = models.CharField(max_length=200, blank=True, help_text=_("The name that people read."))
    description = models.TextField(blank=True, help_text=_("Who these callers are."))

    class Meta:
        verbose_name = _("caller type")
        verbose_name_plural = _("caller types")
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.title} ({self.name})" if self.title else self.name

    @property
    def is_of_users(self) -> bool:
        """Whether its records are the platform's users, whatever their entity is called."""
        return self.name == USER_TYPE


class UserProperty(models.Model):
    """One property of the caller: a field of their record, related data, or an expression."""

    position = models.PositiveIntegerField(default=0)
    caller_type = models.ForeignKey(
        CallerType,
        to_field="name",
        on_delete=models.PROTECT,
        default=USER_TYPE,
        db_default=USER_TYPE,
        related_name="properties",
        verbose_name=_("caller type"),
        help_text=_("Which callers have the property."),
    )
    name = models.CharField(
        max_length=100,
        help_text=_("The name of the property. A property “name” is “@user.name” in endpoints."),
    )
    kind = models.CharField(
        max_length=20, default="field", help_text=_("Where the value of the property comes from.")
    )
    attribute = models.CharField(
        max_length=128,
        blank=True,
        help_text=_("Only needed for a field: the attribute of the caller's record."),
    )
    relationship = models.CharField(
        max_length=128,
        blank=True,
        help_text=_("Only needed for related data: the relationship that leads to the data."),
    )
    expression = models.TextField(
        blank=True,
        help_text=_(
            "Only needed for a custom property: a CEL expression over “user”, such as 'support' in user.roles"
        ),
    )
    description = models.TextField(
        blank=True, help_text=_("What the property tells about a caller, for readers of the API docs.")
    )

    class Meta:
        verbose_name = _("user property")
        verbose_name_plural = _("user properties")
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                fields=("caller_type", "name"),
                name="designer_userproperty_name",
                violation_error_message=_("The caller type has a user property with this name already."),
            )
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        """The key of the user property, as in its definition."""
        # The column holds the name: this asks nothing of the database.
        return property_key(str(self.caller_type_id), self.name)


class RelatedColumn(models.Model):
    """An attribute of related records, for a user property of related data."""

    user_property = models.ForeignKey(UserProperty, on_delete=models.CASCADE, related_name="columns")
    position = models.PositiveIntegerField(default=0)
    attribute = models.CharField(max_length=128, help_text=_("An attribute of the related entity."))
    name = models.CharField(
        max_length=100,
        blank=True,
        help_text=_(
            "The name of the column in the answer. If it is empty, the answer has the name of the attribute."
        ),
    )

    class Meta:
        verbose_name = _("column")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.name or self.attribute
