"""Connections that a database ends while it is asked: what may be done twice is asked again on a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def ask_again_if_ended(database: Any, ask: Callable[[], T], failures: tuple[type[Exception], ...]) -> T:
    """Return the result of `ask`. Call it a second time if the database connection has ended.

    `database` is one of Django's connections. The second call is made when `ask` raises one of `failures` for
    that reason. Within a transaction it is not made, because what was done before is lost.
    """
    # Before: while `ask` runs, Django may put another one in its place.
    connection = database.connection
    try:
        return ask()
    except failures:
        if not _has_ended(connection, database):
            raise
    return ask()


def _has_ended(connection: Any, database: Any) -> bool:
    """Whether the connection that was asked has ended; False within a transaction.

    `connection` is the driver's, which `database` had when it was asked; None if it had none yet.
    An ended connection is closed, so that the next call opens another one. Django may have replaced it
    already.
    """
    if connection is None or database.in_atomic_block:
        return False
    if database.connection is connection:
        if database.is_usable():
            return False
        database.close()
    return True
