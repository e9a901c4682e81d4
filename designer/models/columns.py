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
        max_length=200,
        blank=True,
        help_text=_("The attribute that callers get. Leave it empty for a calculated column."),
    )
    name = models.CharField(
        max_length=100,
        blank=True,
        help_text=_(
            "The name of the column in the answer. If it is empty, the answer has the name of the attribute."
        ),
    )
    expression = models.TextField(
        blank=True, help_text=_("Calculates the column: a CEL expression over record, input, user and now.")
    )

    class Meta:
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.name or self.attribute
