"""What a value must be, whichever platform it goes to: its Python type, and what that type can hold at all.

Each function answers the value, in the one form that it has. TypeError for a wrong type, ValueError for a
value that does not fit, both with a message for people. A text that is no GUID is of a wrong type, too: JSON
has no type for GUIDs, and callers are told the same of a number and of any other text.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from crmclient.sentences import Sentence
from crmclient.text import is_storable
from crmclient.values import Guid, Party, parse_guid

# The first and the last day that Dataverse can hold.
_EARLIEST, _LATEST = dt.date(1753, 1, 1), dt.date(9999, 12, 30)
_EARLIEST_TIME = dt.datetime(1753, 1, 1, tzinfo=dt.UTC)
_LATEST_TIME = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)

OUT_OF_RANGE: Final = Sentence("the date must lie between 1753-01-01 and 9999-12-30")


def text(value: object) -> str:
    """Return a text that can be stored. Raises TypeError, and ValueError for one that no database takes."""
    if not isinstance(value, str):
        raise TypeError("text is needed")
    if not is_storable(value):
        raise ValueError("the text holds a character that cannot be stored")
    return value


def whole_number(value: object) -> int:
    # Not `isinstance`: to Python, True and False are whole numbers.
    if type(value) is not int:
        raise TypeError("a whole number is needed")
    return value


def _whole_number_of(bits: int) -> Callable[[object], int]:
    """Return a check for whole numbers of `bits` bits, with a sign."""
    limit = 2 ** (bits - 1)

    def check(value: object) -> int:
        """Return the number. Raises TypeError, and ValueError for one outside of the range."""
        number = whole_number(value)
        if not -limit <= number < limit:
            raise ValueError(
                Sentence("the number must lie between %(least)s and %(most)s", least=-limit, most=limit - 1)
            )
        return number

    return check


integer: Final = _whole_number_of(32)
bigint: Final = _whole_number_of(64)


def exact_number(value: object) -> Decimal:
    """Return a whole number or a Decimal as a Decimal. Raises TypeError, ValueError."""
    if type(value) is int:
        return Decimal(value)
    if not isinstance(value, Decimal):
        raise TypeError("an exact number is needed")
    if not value.is_finite():
        raise ValueError("a finite number is needed")
    # Far more digits than any attribute has. A larger exponent would be costly to write out. Zero may have
    # any exponent.
    if abs(value.adjusted()) > 40 and value:
        raise ValueError("the number is out of range")
    return value


def double(value: object) -> float:
    """Return a finite number as a float. Raises TypeError, ValueError."""
    # To Python, True and False are whole numbers.
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise TypeError("a number is needed")
    try:
        number = float(value)
    except OverflowError:
        # A whole number beyond every float.
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a finite number is needed")
    return number


def boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false is needed")
    return value


def moment(value: object) -> dt.datetime:
    """Return a date and time in UTC, of a day from 1753-01-01 to 9999-12-30. Raises TypeError, ValueError."""
    if not isinstance(value, dt.datetime):
        raise TypeError("a date and time is needed")
    if value.tzinfo is None:
        raise TypeError("a date and time needs its offset from UTC")
    if not _EARLIEST_TIME <= value < _LATEST_TIME:
        raise ValueError(OUT_OF_RANGE)
    return value.astimezone(dt.UTC)


def day(value: object) -> dt.date:
    """Return a date without a time. Raises TypeError, ValueError."""
    # To Python, a datetime is a date, too.
    if isinstance(value, dt.datetime) or not isinstance(value, dt.date):
        raise TypeError("a date is needed")
    if not _EARLIEST <= value <= _LATEST:
        raise ValueError(OUT_OF_RANGE)
    return value


def guid(value: object) -> Guid:
    """Return the canonical form of a GUID in any form that people paste. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError("a GUID is needed")
    try:
        return parse_guid(value)
    except ValueError as error:
        # With the Sentence of the error, which can be translated.
        raise TypeError(*error.args) from None


def options(value: object) -> list[int]:
    """Return the values of a multi-select choice, ascending, each once. Raises TypeError."""
    if not isinstance(value, tuple | list | set | frozenset):
        raise TypeError("a list of option values is needed")
    return sorted({whole_number(item) for item in value})


def parties(value: object) -> tuple[Party, ...]:
    """Return the parties of a list in their order. Raises TypeError."""
    if not isinstance(value, tuple | list) or not all(isinstance(item, Party) for item in value):
        raise TypeError("a list of parties is needed")
    return tuple(value)
