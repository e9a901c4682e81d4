"""The table of write generations, which tell an entity's records before a write from those after it."""

from __future__ import annotations

from django.db import models


class WriteGeneration(models.Model):
    """The latest write to an entity's records (`*`: to those of any entity), by a token that is its alone.

    A number would come back with a restored backup, and with it answers that later writes have ended.
    """

    entity = models.CharField(max_length=128, primary_key=True)
    token = models.CharField(max_length=32)

    class Meta:
        app_label = "runtime"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.entity}: {self.token}"
