"""Fragments in the database, for all processes."""

from __future__ import annotations

from django.db import models


class DescriptionFragment(models.Model):
    """`digest` stands for a definition, the metadata and the program that described it."""

    digest = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()
    made = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        app_label = "runtime"

    def __str__(self) -> str:
        return f"{self.digest[:12]}…"
