"""What an endpoint answers with."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models.endpoints import Endpoint


class Column(models.Model):
    """An attribute of the record, or an output of the process, that callers get."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="columns")
    position = models.PositiveIntegerField(default=0)
    attribute = models.CharField(
        max_length=200, blank=True, help_text=_("What callers get. Empty for a calculated column.")
    )
    name = models.CharField(
        max_length=100, blank=True, help_text=_("Its name in the answer. Empty: the attribute's.")
    )
    expression = models.TextField(
        blank=True, help_text=_("CEL over record, input, user and now: calculates the column.")
    )

    class Meta:
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.name or self.attribute
