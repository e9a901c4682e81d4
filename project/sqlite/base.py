"""Django's backend for SQLite, which also replaces connections that may only read."""

from __future__ import annotations

from django.db.backends.sqlite3 import base

from project.read_only_connections import ReadOnlyNoticed


class DatabaseWrapper(ReadOnlyNoticed, base.DatabaseWrapper):
    """A connection to a file that was opened for reading alone is not kept."""
