"""PostgreSQL: patterns as regular expressions, dates in UTC, numeric sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from crmbox.engine import money
from crmbox.engine.dialects.base import Storage
from crmbox.engine.sql.dialects.base import Phrases, Sum
from crmbox.engine.sql.patterns import AnyText, Characters, OneCharacter, Token
from crmclient.query.ast import DateGrouping

_PLACES: Final = {Storage.MONEY: money.MONEY_PLACES, Storage.DECIMAL: money.DECIMAL_PLACES}


class PostgreSQLPhrases(Phrases):
    descending_nulls = " NULLS LAST"

    def like(self, compared: str) -> str:
        return f"{compared} ~ %s"

    def like_parameter(self, pattern: Iterable[Token]) -> str:
        # `***:` says that an ordinary regular expression follows, whatever it begins with.
        return "***:^" + "".join(_regex(token) for token in pattern) + "$"

    def contains_any(self, value: str) -> str:
        return f"string_to_array({value}, '|') && %s::text[]"

    def options_parameter(self, options: Sequence[int]) -> list[str]:
        return [str(option) for option in options]

    def date_part(self, value: str, grouping: DateGrouping, storage: Storage) -> str:
        day = value if storage is Storage.DATE else f"({value} AT TIME ZONE 'UTC')"
        if grouping is DateGrouping.WEEK:
            new_year_weekday = f"extract(dow from date_trunc('year', {day}))"
            return f"((extract(doy from {day}) - 1 + {new_year_weekday})::integer / 7 + 1)"
        return f"extract({grouping.value} from {day})::integer"

    def sum(self, value: str, storage: Storage) -> Sum:
        def combine(parts: Sequence[Any]) -> Decimal | int | float:
            total = parts[0] or 0
            if storage is Storage.DOUBLE:
                return float(total)
            if storage in _PLACES:
                return money.unscaled(money.scaled(Decimal(total), _PLACES[storage]), _PLACES[storage])
            return int(total)

        return Sum((f"SUM({value})",), combine)


def _regex(token: Token) -> str:
    match token:
        case AnyText():
            return ".*"
        case OneCharacter():
            return "."
        case Characters(ranges, negated):
            inner = "".join(f"{re.escape(first)}-{re.escape(last)}" for first, last in ranges)
            return f"[{'^' if negated else ''}{inner}]"
    return re.escape(token)
