"""What an endpoint does between its inputs and its call of the platform."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from designer.models import names
from designer.models.endpoints import Endpoint


class Fetcher(models.Model):
    """A query that runs first, for a row that bindings, rules and pre-conditions use."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="fetchers")
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(
        max_length=63,
        validators=[names.input_name],
        help_text=_("What it is called: “owner” gives @fetch.owner.…"),
    )
    query = models.TextField(blank=True, help_text=_("FetchXML that finds one row."))
    first = models.BooleanField(
        default=False, help_text=_("Where several rows are found, take the first; else that is a conflict.")
    )
    apply_row_rules = models.BooleanField(
        default=False, help_text=_("Find only what the row rule of its entity lets callers reach.")
    )

    class Meta:
        verbose_name = _("data fetcher")
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                fields=("endpoint", "name"),
                name="designer_fetcher_name",
                violation_error_message=_("The endpoint has a data fetcher with this name already."),
            )
        ]

    def __str__(self) -> str:
        return self.name


class Precondition(models.Model):
    """What must be true for the operation to be done."""

    STATUSES = (
        (400, "400 Bad request"),
        (403, "403 Forbidden"),
        (404, "404 Not found"),
        (409, "409 Conflict"),
        (422, "422 Unprocessable"),
    )

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="preconditions")
    position = models.PositiveIntegerField(default=0)
    expression = models.TextField(help_text=_("CEL that must be true: input.amount <= fetch.account.limit"))
    status = models.PositiveSmallIntegerField(
        choices=STATUSES, default=422, help_text=_("What callers get when it is not.")
    )
    message = models.CharField(max_length=500, blank=True, help_text=_("What callers read then."))
    translations = models.JSONField(default=dict, db_default={}, blank=True, editable=False)

    class Meta:
        verbose_name = _("pre-condition")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.message or self.expression
