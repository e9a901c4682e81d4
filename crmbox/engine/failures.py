"""Errors of the database as errors of the platform. The database's own text is only in the chained cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import DatabaseError, InterfaceError, OperationalError

from crmbox.engine.dialects.base import Dialect, UniqueViolation
from crmclient.database_errors import Trouble, trouble_of
from crmclient.errors import DeadlineExceeded, OutOfSpace, PlatformFailure, Unavailable, UnexpectedAnswer

RETRY_AFTER = 1.0
"""Seconds."""


class NotUnique(Exception):
    """A unique index refused a row. The code that wrote it knows which key that is."""

    def __init__(self, violation: UniqueViolation) -> None:
        super().__init__(f"not unique: {violation.index or violation.columns}")
        self.violation = violation


def as_platform_error(error: Exception, dialect: Dialect) -> Exception:
    """Return the platform's error for an error of the database, and any other error itself."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return error
    # Django wraps the driver's error, which says more.
    cause = error.__cause__ or error
    violation = dialect.unique_violation(cause)
    if violation is not None:
        return NotUnique(violation)
    trouble = trouble_of(cause)
    if trouble is not None and trouble in _FAILURES:
        return _FAILURES[trouble]()
    if isinstance(error, OperationalError | InterfaceError):
        return Unavailable("The store's database does not answer.", retry_after=RETRY_AFTER)
    return UnexpectedAnswer(f"The store's database refused a statement ({type(cause).__name__}).")


_FAILURES: Mapping[Trouble, Callable[[], PlatformFailure]] = {
    Trouble.ENDED: lambda: DeadlineExceeded("The store's database took too long."),
    Trouble.BUSY: lambda: Unavailable("The store is busy with other writers.", retry_after=RETRY_AFTER),
    Trouble.FULL: lambda: OutOfSpace("The store's database has no room left."),
    Trouble.READ_ONLY: lambda: Unavailable("The store's database takes no writes.", retry_after=RETRY_AFTER),
    Trouble.UNPREPARED: lambda: Unavailable(
        "The store's database lacks a table or a column. Run `manage.py prepare`.", retry_after=RETRY_AFTER
    ),
}
