"""How the text of a setting becomes its value: one reader for each form that settings have.

A reader takes the text of an environment variable and returns the value. It raises ValueError with what to
write instead; `project/environment.py` puts the name of the setting before it.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from urllib.parse import urlsplit


def text(value: str) -> str:
    """Return the text as it is."""
    return value


def words(value: str) -> list[str]:
    """Return the words in a comma-separated list."""
    return [word.strip() for word in value.split(",") if word.strip()]


def between(smallest: int, greatest: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers from `smallest` to `greatest`, both included."""
    range_ = f"of {smallest} or more" if greatest is None else f"from {smallest} to {greatest}"

    def read(value: str) -> int:
        digits = value.strip()
        # No setting is that large, and `int` refuses thousands of digits in words of its own.
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise ValueError(f"write a whole number {range_}")
        number = int(digits)
        if number < smallest or (greatest is not None and number > greatest):
            raise ValueError(f"write a whole number {range_}")
        return number

    return read


whole, count, port = between(0), between(1), between(1, 65535)


def url(*schemes: str) -> Callable[[str], str]:
    """Return a reader of URLs with one of `schemes`. It accepts an empty value, too."""

    def read(value: str) -> str:
        try:
            # Both this and reading the port raise ValueError for what is no URL.
            parts = urlsplit(value)
            is_valid = parts.scheme in schemes and (parts.port is None or parts.port > 0)
        except ValueError:
            is_valid = False
        if value and not is_valid:
            raise ValueError(
                "write a URL that begins with " + " or ".join(f"{scheme}://" for scheme in schemes)
            )
        return value

    return read


def flag(value: str) -> bool:
    """Return whether a text says yes. An empty text says no."""
    if value.lower() in {"1", "true", "yes", "on"}:
        return True
    if value.lower() in {"0", "false", "no", "off", ""}:
        return False
    raise ValueError("write 1 or 0")


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a reader of texts that are among `choices`."""

    def read(value: str) -> str:
        if value not in choices:
            raise ValueError("write one of " + ", ".join(choices))
        return value

    return read


def month_and_day(value: str) -> str:
    """Return `value` if it is a day that every year has, as `MM-DD`. Raises ValueError."""
    try:
        day = dt.date.fromisoformat(f"2001-{value}")  # a year without a 29 February, which few years have
    except ValueError:
        day = None
    # The day of a week, such as W10-1, is an ISO date, too.
    if day is None or f"{day:%m-%d}" != value:
        raise ValueError("write a month and a day, such as 04-01")
    return value


def group_table(value: str) -> dict[str, tuple[str, ...]]:
    """Parse a JSON object: by claim value of the provider, the name of one studio group or an array of names.

    Return tuples of names. Raises ValueError.
    """
    table = json.loads(value)
    if not isinstance(table, dict):
        raise ValueError("write a JSON object of group names, or arrays of them, by claim value")  # noqa: TRY004
    groups = {key: [names] if isinstance(names, str) else names for key, names in table.items()}
    if not all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        for names in groups.values()
    ):
        raise ValueError("write a JSON object of group names, or arrays of them, by claim value")
    return {key: tuple(names) for key, names in groups.items()}


def objects(
    required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Callable[[str], list[dict[str, str]]]:
    """Return a reader of JSON arrays of objects. Their values are texts that are not empty.

    An object must have the members `required`, and may have those in `optional`.
    """

    def read(value: str) -> list[dict[str, str]]:
        sentence = "write a JSON array of objects with " + ", ".join(required)
        if optional:
            sentence += " and, where they are needed, " + ", ".join(optional)
        try:
            entries = json.loads(value or "[]")
        except ValueError:
            # The complaint of the parser would quote what may be a secret.
            raise ValueError(sentence) from None
        if not isinstance(entries, list) or not all(
            isinstance(entry, dict)
            and set(required) <= set(entry) <= {*required, *optional}
            and all(isinstance(text, str) and text for text in entry.values())
            for entry in entries
        ):
            raise ValueError(sentence)
        return entries

    return read


def numbers(*names: str, greatest: int | None = None) -> Callable[[str], list[int]]:
    """Return a reader of comma-separated whole numbers, one for each of `names`."""

    def read(value: str) -> list[int]:
        texts = words(value)
        if len(texts) != len(names):
            raise ValueError(f"write {len(names)} whole numbers: {', '.join(names)}")
        return [between(0, greatest)(number) for number in texts]

    return read


def percentages(*names: str) -> Callable[[str], list[int]]:
    """Return a reader of comma-separated whole numbers, one for each of `names`, which add up to 100 at
    most.
    """

    def read(value: str) -> list[int]:
        shares = numbers(*names)(value)
        if sum(shares) > 100:
            raise ValueError(f"write {len(names)} whole numbers that are 100 together at most")
        return shares

    return read
