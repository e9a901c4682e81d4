"""Connections that a database ends while it is asked: what may be done twice is asked again on a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def asked_again(database: Any, ask: Callable[[], T], failures: tuple[type[Exception], ...]) -> T:
    """What `ask` returns. It is called once more where it failed with one of `failures` because the
    connection of `database`, one of Django's, ended. Within a transaction it is not: what was done is lost.
    """
    connection = database.connection
    try:
        return ask()
    except failures:
        if not _has_ended(connection, database):
            raise
    return ask()


def _has_ended(connection: Any, database: Any) -> bool:
    """Of the connection that was asked; Django may have replaced it already."""
    if connection is None or database.in_atomic_block:
        return False
    if database.connection is connection:
        if database.is_usable():
            return False
        database.close()
    return True
