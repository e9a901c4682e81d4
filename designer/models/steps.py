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
        help_text=_("The name of the data fetcher: “owner” gives @fetch.owner.…"),
    )
    query = models.TextField(blank=True, help_text=_("FetchXML that finds one row."))
    first = models.BooleanField(
        default=False,
        help_text=_(
            "If the query finds several rows, take the first row. If this is switched off, "
            "several rows are a conflict, and the call is refused."
        ),
    )
    apply_row_rules = models.BooleanField(
        default=False, help_text=_("Find only records that the entity's row rule lets callers reach.")
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
    """What must be true before a call is carried out."""

    STATUSES = (
        (400, "400 Bad request"),
        (403, "403 Forbidden"),
        (404, "404 Not found"),
        (409, "409 Conflict"),
        (422, "422 Unprocessable"),
    )

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="preconditions")
    position = models.PositiveIntegerField(default=0)
    expression = models.TextField(
        help_text=_("A CEL expression that must be true, such as input.amount <= fetch.account.limit")
    )
    status = models.PositiveSmallIntegerField(
        choices=STATUSES,
        default=422,
        help_text=_("The status that callers get when the expression is not true."),
    )
    message = models.CharField(
        max_length=500,
        blank=True,
        help_text=_("The message that callers get when the expression is not true."),
    )
    translations = models.JSONField(default=dict, db_default={}, blank=True, editable=False)

    class Meta:
        verbose_name = _("pre-condition")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.message or self.expression
