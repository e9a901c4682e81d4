"""How often endpoints are called, and what is asked beside them. The runtime counts; the studio shows it."""

from __future__ import annotations

from django.db import models


class EndpointCalls(models.Model):
    """Calls of one endpoint, by its key, within one hour (UTC).

    `refused` were answered with 4xx, `failed` with 5xx; both are among `calls`. `platform_calls` is what they
    asked of the platform, and `throttled` how many were refused because its budget was used up. `cached` were
    answered without asking, from what is kept.
    """

    endpoint = models.CharField(max_length=400)
    hour = models.DateTimeField(db_index=True)
    calls = models.BigIntegerField(default=0)
    refused = models.BigIntegerField(default=0)
    failed = models.BigIntegerField(default=0)
    platform_calls = models.BigIntegerField(default=0, db_default=0)
    throttled = models.BigIntegerField(default=0, db_default=0)
    cached = models.BigIntegerField(default=0, db_default=0)
    last_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=("endpoint", "hour"), name="designer_calls_hour")]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.hour:%Y-%m-%d %H}: {self.calls}"


class TrackedEntity(models.Model):
    """An entity of the platform that cached answers are read from, and that is asked for its changes.

    `platform` is the address that is asked. `mark` is what it is asked with the next time; empty: it is not
    known yet, or the platform could not tell it. `calls` is how often it has answered since `since`, and
    `changes` how often it said that something has changed.
    """

    entity = models.CharField(max_length=128, primary_key=True)
    platform = models.TextField(blank=True)
    mark = models.TextField(blank=True)
    since = models.DateTimeField()
    asked_at = models.DateTimeField()
    calls = models.BigIntegerField(default=0)
    changes = models.BigIntegerField(default=0)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.entity
