"""A database that takes no writes, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def read_only() -> Iterator[None]:
    """The test's connection refuses to write. What is written all the same is undone."""
    with transaction.atomic():
        sqlite = connection.vendor == "sqlite"
        with connection.cursor() as cursor:
            # PostgreSQL forgets it with the savepoint.
            cursor.execute("PRAGMA query_only = 1" if sqlite else "SET LOCAL transaction_read_only = on")
        try:
            yield
        finally:
            transaction.set_rollback(True)
            if sqlite:
                connection.connection.execute("PRAGMA query_only = 0")
