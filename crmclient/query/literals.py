"""Values as texts, as people and FetchXML write them, read by the type of an attribute.

Everything raises ValueError with a message for people, and TypeError for a value of another type.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from crmclient import value_checks
from crmclient.limits import decimal_places
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query.calendar import Calendar
from crmclient.sentences import Sentence
from crmclient.values import Value, parse_guid

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,19}").fullmatch
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})").fullmatch
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?"
).fullmatch
_FLOAT: Final = re.compile(
    r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?"
).fullmatch
_BOOLEANS: Final = {"1": True, "true": True, "0": False, "false": False}


def read(text: str, attribute: Attribute) -> Value | dt.datetime | dt.date:
    """Return the value that `text` means. For a DateTime attribute, it is the day or time as written: see
    `stored`.
    """
    reader = _READERS.get(attribute.type)
    if reader is None:
        raise ValueError(Sentence("a %(type)s cannot be compared with a value", type=attribute.type.value))
    return reader(text)


def stored(value: dt.date, attribute: Attribute, calendar: Calendar) -> dt.date:
    """Return a day or time as the attribute stores it: a date, or an instant in UTC.

    A day means its beginning. A time without an offset is in the calendar's zone. An attribute that is
    independent of time zones holds what the clock shows. Raises ValueError for a time of day where the
    attribute holds days, for an offset where it knows no time zone, and for an instant that leaves the
    calendar.
    """
    if attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return _whole_day(value)
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time.min)
    if attribute.behavior is DateTimeBehavior.TIME_ZONE_INDEPENDENT:
        if value.utcoffset():
            raise ValueError(
                Sentence(
                    "%(value)s has an offset, but the attribute knows no time zone", value=value.isoformat()
                )
            )
        return value.replace(tzinfo=dt.UTC)
    return shifted(value if value.tzinfo is not None else value.replace(tzinfo=calendar.zone), dt.UTC)


def day_of(value: object, calendar: Calendar) -> dt.date:
    """Return the day of a text, a date or a time. A time with an offset counts in the calendar's zone.

    Raises TypeError for any other value, ValueError for a text that is no date.
    """
    if isinstance(value, str):
        value = read_date(value)
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo is None else shifted(value, calendar.zone)).date()
    if isinstance(value, dt.date):
        return value
    raise TypeError(Sentence("a date is needed, such as 2026-01-31"))


def shifted(value: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """Return an instant in another time zone. Raises ValueError where that leaves the calendar."""
    try:
        return value.astimezone(zone)
    except OverflowError:
        raise ValueError(value_checks.OUT_OF_RANGE) from None


def check_fits(value: Value, attribute: Attribute) -> None:
    """Raise ValueError or TypeError for a value that no record can have: platforms refuse to compare with
    it.
    """
    if attribute.type is AttributeType.DATETIME:
        holds_days = attribute.behavior is DateTimeBehavior.DATE_ONLY
        check = value_checks.day if holds_days else value_checks.moment
        check(value)
    elif attribute.type in _CHECKS:
        _CHECKS[attribute.type](value)


def read_date(text: str) -> dt.date:
    """Return the date in a text, or a datetime if it has a time. Raises ValueError."""
    text = text.strip()
    if _DATE(text):
        return dt.date.fromisoformat(text)
    if _TIME(text):
        return dt.datetime.fromisoformat(text)
    raise ValueError(
        Sentence("%(text)s is not a date; write 2026-01-31 or 2026-01-31T13:30:00Z", text=repr(text))
    )


def read_whole(text: str) -> int:
    """Return the whole number in a text. Raises ValueError."""
    text = text.strip()
    if not _WHOLE(text):
        raise ValueError(Sentence("%(text)s is not a whole number", text=repr(text)))
    return int(text)


def read_text(text: str) -> str:
    if not text:
        raise ValueError(Sentence("the value is empty; use null or not-null for empty attributes"))
    return text


def _whole_day(value: dt.date) -> dt.date:
    """Return the day of a date, or of a time at midnight. Raises ValueError for another time of day."""
    if not isinstance(value, dt.datetime):
        return value
    if value.time() != dt.time.min:
        raise ValueError(
            Sentence("%(value)s has a time of day, but the attribute holds days", value=value.isoformat())
        )
    return value.date()


def _read_decimal(text: str) -> Decimal:
    """Return the number in a text: digits, at most 60 on each side of the point, and no exponent. Raises
    ValueError.
    """
    text = text.strip()
    if not _NUMBER(text):
        raise ValueError(
            Sentence("%(text)s is not a number; write digits and a point, such as -1250.50", text=repr(text))
        )
    return Decimal(text)


def _read_double(text: str) -> float:
    """Return the number in a text, which may have an exponent. Raises ValueError."""
    text = text.strip()
    # What is no floating-point number is no decimal either: `_read_decimal` raises the error that says so.
    return float(text) if _FLOAT(text) else float(_read_decimal(text))


def _read_boolean(text: str) -> bool:
    """Return what `1`, `true`, `0` or `false` in a text means. Raises ValueError for anything else."""
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise ValueError(Sentence("%(text)s is neither 1 or true nor 0 or false", text=repr(text)))
    return value


def _read_guid(text: str) -> str:
    return parse_guid(text.strip())


def _read_options(text: str) -> tuple[int, ...]:
    return (read_whole(text),)


def _exact_number_check(places: int, most: Decimal) -> Callable[[object], Decimal]:
    """Return the check of a number up to `most`, or down to -`most`, with at most `places` decimal places."""

    def check(value: object) -> Decimal:
        number = value_checks.exact_number(value)
        if abs(number) > most:
            raise ValueError(
                Sentence("the number must lie between %(least)s and %(most)s", least=-most, most=most)
            )
        if decimal_places(number) > places:
            raise ValueError(Sentence("at most %(places)s decimal places are kept", places=places))
        return number

    return check


_CHECKS: Final[dict[AttributeType, Callable[[object], object]]] = {
    AttributeType.STRING: value_checks.text,
    AttributeType.MEMO: value_checks.text,
    AttributeType.BOOLEAN: value_checks.boolean,
    AttributeType.UNIQUEIDENTIFIER: value_checks.guid,
    AttributeType.LOOKUP: value_checks.guid,
    AttributeType.CUSTOMER: value_checks.guid,
    AttributeType.OWNER: value_checks.guid,
    AttributeType.INTEGER: value_checks.integer,
    AttributeType.PICKLIST: value_checks.integer,
    AttributeType.STATE: value_checks.integer,
    AttributeType.STATUS: value_checks.integer,
    AttributeType.BIGINT: value_checks.bigint,
    AttributeType.DOUBLE: value_checks.double,
    AttributeType.DECIMAL: _exact_number_check(10, Decimal("9999999999999.9999999999")),
    AttributeType.MONEY: _exact_number_check(4, Decimal("922337203685477.5807")),
}

_READERS: Final[dict[AttributeType, Callable[[str], Value]]] = {
    AttributeType.STRING: read_text,
    AttributeType.MEMO: read_text,
    AttributeType.INTEGER: read_whole,
    AttributeType.BIGINT: read_whole,
    AttributeType.PICKLIST: read_whole,
    AttributeType.STATE: read_whole,
    AttributeType.STATUS: read_whole,
    AttributeType.DECIMAL: _read_decimal,
    AttributeType.MONEY: _read_decimal,
    AttributeType.DOUBLE: _read_double,
    AttributeType.BOOLEAN: _read_boolean,
    AttributeType.DATETIME: read_date,
    AttributeType.UNIQUEIDENTIFIER: _read_guid,
    AttributeType.LOOKUP: _read_guid,
    AttributeType.CUSTOMER: _read_guid,
    AttributeType.OWNER: _read_guid,
    AttributeType.MULTISELECT: _read_options,
}
