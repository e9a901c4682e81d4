"""The configuration's revision and its log of changes. Database triggers write both; nothing else does."""

from __future__ import annotations

from django.db import models


class RevisionRow(models.Model):
    """The one row: a number that grows with every change, and a token that no other state shares."""

    number = models.BigIntegerField(default=0)
    token = models.CharField(max_length=40, default="")

    class Meta:
        db_table = "designer_revision"
        default_permissions = ()

    def __str__(self) -> str:
        return f"revision {self.number}"


class Change(models.Model):
    """One endpoint that a revision concerns, or the table in `part`; neither: it may concern everything.

    `endpoint` refers loosely, since the endpoint may be gone.
    """

    number = models.BigIntegerField(db_index=True)
    token = models.CharField(max_length=40)
    endpoint = models.BigIntegerField(null=True)
    # NULL, not empty: triggers of the release before write rows without it while a migration runs.
    part = models.CharField(max_length=63, null=True)  # noqa: DJ001

    class Meta:
        db_table = "designer_change"
        default_permissions = ()

    def __str__(self) -> str:
        return f"revision {self.number}: {self.endpoint or self.part or 'all'}"
