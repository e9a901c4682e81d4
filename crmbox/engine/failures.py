"""The database's errors as the platform's. No text of the database's own leaves the engine, only the
chained cause.
"""

from __future__ import annotations

from django.db import DatabaseError, InterfaceError, OperationalError

from crmbox.engine.dialects.base import Dialect, UniqueViolation
from crmclient.errors import Unavailable, UnexpectedAnswer

RETRY_AFTER = 1.0


class NotUnique(Exception):
    """A unique index refused a row; whoever wrote it knows which key that is."""

    def __init__(self, violation: UniqueViolation) -> None:
        super().__init__(f"not unique: {violation.index or violation.columns}")
        self.violation = violation


def translated(error: Exception, dialect: Dialect) -> Exception:
    """`error` itself, unless it is the database's."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return error
    cause = error.__cause__ or error
    violation = dialect.unique_violation(cause)
    if violation is not None:
        return NotUnique(violation)
    if dialect.is_busy(cause):
        return Unavailable("The store is busy with other writers.", retry_after=RETRY_AFTER)
    if isinstance(error, OperationalError | InterfaceError):
        return Unavailable("The store's database does not answer.", retry_after=RETRY_AFTER)
    return UnexpectedAnswer(f"The store's database refused a statement ({type(cause).__name__}).")
