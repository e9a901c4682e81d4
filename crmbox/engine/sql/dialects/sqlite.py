"""SQLite: patterns as GLOB, dates cut from ISO text, sums in halves that cannot overflow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from crmbox.engine import money
from crmbox.engine.dialects.base import Storage
from crmbox.engine.sql.dialects.base import Phrases, Sum
from crmbox.engine.sql.patterns import AnyText, Characters, OneCharacter, Token
from crmclient.query.ast import DateGrouping

_LOW: Final = 2**32 - 1
_HALF: Final = money.ORDERED_WIDTH // 2


class SQLitePhrases(Phrases):
    descending_nulls = ""

    def like(self, compared: str) -> str:
        return f"{compared} GLOB ?"

    def like_parameter(self, pattern: Iterable[Token]) -> str:
        return "".join(_glob(token) for token in pattern)

    def contains_any(self, value: str) -> str:
        holds = f"instr({value}, '|' || wanted.value || '|')"
        return f"EXISTS (SELECT 1 FROM json_each(?) AS wanted WHERE {holds})"

    def options_parameter(self, options: Sequence[int]) -> str:
        return json.dumps(list(options))

    def date_part(self, value: str, grouping: DateGrouping, storage: Storage) -> str:
        month = f"CAST(substr({value}, 6, 2) AS INTEGER)"
        match grouping:
            case DateGrouping.YEAR:
                return f"CAST(substr({value}, 1, 4) AS INTEGER)"
            case DateGrouping.QUARTER:
                return f"({month} + 2) / 3"
            case DateGrouping.MONTH:
                return month
            case DateGrouping.DAY:
                return f"CAST(substr({value}, 9, 2) AS INTEGER)"
            case DateGrouping.WEEK:
                return _week(value)

    def sum(self, value: str, storage: Storage) -> Sum:
        if storage is Storage.DOUBLE:
            return Sum((f"SUM({value})",), lambda parts: float(parts[0] or 0))
        if storage is Storage.DECIMAL:
            return _decimal_sum(value)
        pieces = (f"SUM({value} >> 32)", f"SUM({value} & {_LOW})")
        places = money.MONEY_PLACES if storage is Storage.MONEY else None
        return Sum(pieces, _recombined(places))


def _glob(token: Token) -> str:
    match token:
        case AnyText():
            return "*"
        case OneCharacter():
            return "?"
        case Characters(ranges, negated):
            return _glob_characters(ranges, negated=negated)
    return "".join(f"[{character}]" if character in "*?[" else character for character in token)


def _glob_characters(ranges: Sequence[tuple[str, str]], *, negated: bool) -> str:
    if not negated and all(range == ("^", "^") for range in ranges):
        return "^"
    # A caret in the first place would negate.
    ordered = sorted(ranges, key=lambda range: range[0] == "^")
    inner = "".join(f"{first}-{last}" for first, last in ordered)
    return f"[{'^' if negated else ''}{inner}]"


def _week(value: str) -> str:
    day = f"julianday(substr({value}, 1, 10))"
    new_year = f"julianday(substr({value}, 1, 4) || '-01-01')"
    # Julian days begin at noon, on a Monday: with a day and a half more, Sundays are the multiples of seven.
    weekday = f"(CAST({new_year} + 1.5 AS INTEGER) - 7 * (CAST({new_year} + 1.5 AS INTEGER) / 7))"
    return f"(CAST({day} - {new_year} AS INTEGER) + {weekday}) / 7 + 1"


def _recombined(places: int | None) -> Callable[[Sequence[Any]], Decimal | int]:
    def combine(parts: Sequence[Any]) -> Decimal | int:
        high, low = parts
        total = ((high or 0) << 32) + (low or 0)
        return total if places is None else money.unscaled(total, places)

    return combine


def _decimal_sum(value: str) -> Sum:
    def combine(parts: Sequence[Any]) -> Decimal:
        high, low, negative = (part or 0 for part in parts)
        total = high * 10**_HALF + low - negative * money.ORDERED_NINES
        return money.unscaled(total, money.DECIMAL_PLACES)

    return Sum(
        (
            f"SUM(CAST(substr({value}, 2, {_HALF}) AS INTEGER))",
            f"SUM(CAST(substr({value}, {2 + _HALF}) AS INTEGER))",
            f"SUM({value} < '1')",
        ),
        combine,
    )
