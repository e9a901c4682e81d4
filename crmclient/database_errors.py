"""The meaning of a database driver's error where its class does not tell it, for SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
from enum import Enum
from typing import Final


class Trouble(Enum):
    """Why a statement was not carried out."""

    ENDED = "ended"
    """It was ended from outside, as one that runs too long is."""
    BUSY = "busy"
    """Others were faster: the same may work later."""
    FULL = "full"
    """There is no room left to write."""
    READ_ONLY = "read-only"
    """The database takes no writes at all."""
    UNPREPARED = "unprepared"
    """There is no such table or column: the database was made for another release of the service."""


_BY_SQLSTATE: Final = {
    "57014": Trouble.ENDED,
    "55P03": Trouble.BUSY,  # lock_not_available
    "40P01": Trouble.BUSY,  # deadlock_detected
    "40001": Trouble.BUSY,  # serialization_failure
    "53100": Trouble.FULL,
    "25006": Trouble.READ_ONLY,
    "42P01": Trouble.UNPREPARED,  # undefined_table
    "42703": Trouble.UNPREPARED,  # undefined_column
}
_BY_SQLITE_CODE: Final = {
    sqlite3.SQLITE_INTERRUPT: Trouble.ENDED,
    sqlite3.SQLITE_BUSY: Trouble.BUSY,
    sqlite3.SQLITE_LOCKED: Trouble.BUSY,
    sqlite3.SQLITE_FULL: Trouble.FULL,
    sqlite3.SQLITE_READONLY: Trouble.READ_ONLY,
}


def trouble_of(error: BaseException) -> Trouble | None:
    """Return the trouble that a driver's error, or its cause, stands for; None for any other error."""
    driver = error.__cause__ or error
    sqlstate = getattr(driver, "sqlstate", None)
    if sqlstate is not None:
        return _BY_SQLSTATE.get(sqlstate)
    # The lowest byte is the code, the others say more of it.
    code = getattr(driver, "sqlite_errorcode", 0) & 0xFF
    # SQLite has one code for these and for every statement that it cannot read.
    if code == sqlite3.SQLITE_ERROR and str(driver).startswith(("no such table:", "no such column:")):
        return Trouble.UNPREPARED
    return _BY_SQLITE_CODE.get(code)
