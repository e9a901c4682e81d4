"""Edits through the ORM: what they change is described as soon as they are committed.

Edits past it are found by the next reader.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save

from designer.triggers.tables import WATCHED
from runtime.describe.fragment_maker import make_after_a_save


def watch() -> None:
    """Begin to follow edits of the configuration."""
    for signal in (post_save, post_delete, m2m_changed):
        signal.connect(_edited, dispatch_uid="runtime.introspection")


_noted: Any = None


def _edited(sender: Any, **_: Any) -> None:
    global _noted
    if sender._meta.db_table not in WATCHED:
        return
    # A transaction has a list of its own, and an import saves thousands of rows in one.
    if connection.in_atomic_block and _noted is connection.run_on_commit:
        return
    transaction.on_commit(make_after_a_save)
    _noted = connection.run_on_commit
