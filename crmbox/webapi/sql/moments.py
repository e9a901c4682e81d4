"""Functions that mean a moment: GETUTCDATE() and its kin, and DATEADD."""

from __future__ import annotations

import datetime as dt
from typing import Final

from sqlglot import exp

from crmbox.webapi.errors import bad_url
from crmbox.webapi.sql.statement import refused, text_of
from crmclient.query.calendar import later_by_months

_NOW: Final = frozenset({"GETUTCDATE", "GETDATE", "SYSUTCDATETIME"})
_MONTHS: Final = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_LENGTHS: Final = {
    "WEEK": dt.timedelta(weeks=1),
    "DAY": dt.timedelta(days=1),
    "HOUR": dt.timedelta(hours=1),
    "MINUTE": dt.timedelta(minutes=1),
    "SECOND": dt.timedelta(seconds=1),
}


def read(node: exp.Expr, now: dt.datetime) -> dt.datetime | None:
    """None for what is no such function. Raises WebApiError."""
    match node:
        case exp.CurrentTimestamp():
            return now
        case exp.Anonymous() if node.name.upper() in _NOW and not node.expressions:
            return now
        case exp.DateAdd():
            since = read(node.this, now)
            count = text_of(node.expression)
            if since is None or not count.removeprefix("-").isdigit() or len(count) > 6:
                raise refused(node)
            return _later(node, since, int(count))
    return None


def _later(node: exp.DateAdd, since: dt.datetime, count: int) -> dt.datetime:
    unit = node.text("unit").upper()
    try:
        if unit in _MONTHS:
            day = later_by_months(since.date(), count * _MONTHS[unit])
            return dt.datetime.combine(day, since.timetz())
        if unit in _LENGTHS:
            return since + count * _LENGTHS[unit]
    except (OverflowError, ValueError):
        raise bad_url("DATEADD leads to no date that there is.") from None
    raise refused(node)
