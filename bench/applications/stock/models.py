"""The storage of all hand-written applications: they use these tables, each in a database of its own."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from bench.applications.surroundings import MONEY_UNITS


class MoneyField(models.BigIntegerField):
    """Exact money: SQLite would keep a DecimalField as a float."""

    def from_db_value(self, value: int | None, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else Decimal(value).scaleb(-4)

    def get_prep_value(self, value: Decimal | None) -> int | None:
        return None if value is None else int(value * MONEY_UNITS)


class Contact(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    full_name = models.CharField(max_length=160)

    class Meta:
        db_table = "contact"

    def __str__(self) -> str:
        return self.full_name


class Account(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=160, db_index=True)
    phone = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001 - absent is null, as on the platform
    revenue = MoneyField(null=True, blank=True)
    industry = models.IntegerField(null=True, blank=True)
    primary_contact = models.ForeignKey(Contact, models.RESTRICT, null=True, blank=True)
    created_on = models.DateTimeField(default=timezone.now)
    modified_on = models.DateTimeField(auto_now=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.RESTRICT, related_name="+")
    modified_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.RESTRICT, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.RESTRICT, related_name="+")
    state = models.IntegerField(default=0)
    status = models.IntegerField(default=1)
    version = models.BigIntegerField(default=1)

    class Meta:
        db_table = "account"

    def __str__(self) -> str:
        return self.name


class Option(models.Model):
    option_set = models.CharField(max_length=100)
    value = models.IntegerField()
    position = models.IntegerField()
    hidden = models.BooleanField(default=False)

    class Meta:
        db_table = "option"
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["option_set", "value"], name="option_value")]

    def __str__(self) -> str:
        return f"{self.option_set} {self.value}"


class OptionLabel(models.Model):
    option = models.ForeignKey(Option, models.CASCADE, related_name="labels")
    lcid = models.IntegerField()
    label = models.CharField(max_length=200)

    class Meta:
        db_table = "option_label"
        constraints = [models.UniqueConstraint(fields=["option", "lcid"], name="label_lcid")]

    def __str__(self) -> str:
        return self.label
