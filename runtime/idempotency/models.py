"""The table of POST requests with an `Idempotency-Key`."""

from __future__ import annotations

from django.db import models


class IdempotencyRecord(models.Model):
    """One request. `digest` stands for its caller, endpoint and key. While it has no `status`, it is in
    flight or abandoned.

    `record_id` was chosen before the platform was called, so that a request which takes over creates no
    second record.
    """

    digest = models.CharField(max_length=64, unique=True)
    body_digest = models.CharField(max_length=64)
    record_id = models.CharField(max_length=36)
    deadline = models.DateTimeField()
    expires = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    content = models.BinaryField(default=b"")

    class Meta:
        app_label = "runtime"

    def __str__(self) -> str:
        return f"{self.digest[:12]}… {self.status or 'in flight'}"
