"""Row rules of exposed entities: which callers reach which records."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from designer.models.context import Role
from designer.models.modules import ExposedEntity


class RowRuleEntry(models.Model):
    """An entry of the row rule of an exposed entity: the records that callers with one of the roles reach.

    Without roles: everyone.
    """

    exposed = models.ForeignKey(ExposedEntity, on_delete=models.CASCADE, related_name="row_rule")
    roles = models.ManyToManyField(
        Role,
        through="RowRuleRole",
        blank=True,
        related_name="+",
        help_text=_(
            "The entry is for callers with any one of these roles. If you choose no role, it "
            "is for everyone, also for callers without a token."
        ),
    )
    filter = models.TextField(blank=True, help_text=_("Which records these callers reach."))
    all_records = models.BooleanField(
        default=False, help_text=_("These callers reach every record. Leave the filter empty then.")
    )

    class Meta:
        default_permissions = ()
        ordering = ("id",)

    def __str__(self) -> str:
        """Return whom the entry is for."""
        # A row that is not saved has no roles to ask for.
        roles = [str(role) for role in self.roles.all()] if self.pk else []
        return ", ".join(roles) or gettext("Everyone")

    def clean(self) -> None:
        """Raise ValidationError for an entry with neither a filter nor all records, and for one with both."""
        has_filter = bool(self.filter.strip())
        if self.all_records and has_filter:
            raise ValidationError({"filter": _("Empty the filter, or switch “All records” off.")})
        if not self.all_records and not has_filter:
            raise ValidationError({"filter": _("Write a filter, or switch “All records” on.")})


class RowRuleRole(models.Model):
    """One role of an entry. A role in use cannot be deleted: the entry would become everyone's."""

    entry = models.ForeignKey(RowRuleEntry, on_delete=models.CASCADE, related_name="+")
    role = models.ForeignKey(Role, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "designer_rowruleentry_roles"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=("entry", "role"), name="designer_row_rule_role")]

    def __str__(self) -> str:
        return str(self.entry)
