"""Texts with placeholders: `{0}`, or `{0:pattern}` with a pattern of a small set of its own.

A number's pattern shows its separators: `0`, `000`, `0.00`, `#,##0.00`, `#.##0,00`. A date's has `yyyy`,
`yy`, `MM`, `M`, `dd`, `d`, `HH`, `mm` and `ss`, in the moment's time zone, and any punctuation.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from crmclient.query.calendar import Moment
from designer.expressions.functions.arguments import argument_in_words, exact, text
from designer.expressions.functions.dates import local, read
from designer.expressions.functions.numbers import MOST_PLACES, half_up
from designer.expressions.limits import bounded
from designer.expressions.values import as_text
from designer.sentences import Sentence as _

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{0,2})(?::([^{}]*))?\}|[{}]")
_NUMBER = re.compile(
    rf"(?:#(?P<group>[,.' ’])##0|(?P<digits>0{{1,{MOST_PLACES}}}))"
    rf"(?:(?P<point>[.,])(?P<places>0{{1,{MOST_PLACES}}}))?"
)
_DATE_PART = re.compile(r"([A-Za-z])\1*")
_DAYS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "M": "%-m", "dd": "%d", "d": "%-d"}
_TIMES = {"HH": "%H", "mm": "%M", "ss": "%S"}


def filled(moment: Moment, template: Any, *values: Any) -> str:
    """Return the template with its placeholders filled in. null gives nothing; `{{` and `}}` are braces."""
    # One more than there are values: a `{}` too many is then reported below.
    unnumbered = iter(range(len(values) + 1))

    def fill(match: re.Match[str]) -> str:
        """Return the text for one brace or placeholder. Raises ValueError for a brace alone, and without a
        value.
        """
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[0] in ("{", "}"):
            raise ValueError(_("format takes {0} for a value, and {{ or }} for a brace itself"))
        index = int(match[1]) if match[1] else next(unnumbered)
        if index >= len(values):
            raise ValueError(_("format has no value for %(place)s: it counts from {0}", place=match[0]))
        return _value_in_pattern(moment, values[index], match[2] or "")

    return bounded("format", _PLACEHOLDER.sub(fill, text("format", template)), *map(as_text, values))


def _value_in_pattern(moment: Moment, value: Any, pattern: str) -> str:
    """Return a value in a pattern: of a number, of a date, or without one as text."""
    if value is None:
        return ""
    if isinstance(value, (list, dict)):
        raise TypeError(
            _(
                "format takes single values, not %(given)s: join makes a text of a list",
                given=argument_in_words(value),
            )
        )
    if number := _NUMBER.fullmatch(pattern):
        return _number_in_pattern(value, number)
    return _date_in_pattern(moment, value, pattern) if pattern else as_text(value)


def _number_in_pattern(value: Any, pattern: re.Match[str]) -> str:
    """Return a number in a pattern, whose signs for thousands and decimals it uses. Raises ValueError."""
    group, point = pattern["group"], pattern["point"]
    if group is not None and group == point:
        raise ValueError(_("format: %(pattern)s has one sign for thousands and decimals", pattern=pattern[0]))
    number = half_up(exact("format", value), len(pattern["places"] or ""))
    # abs() would round to the digits of the thread's own context.
    whole, _point, fraction = f"{number.copy_abs():f}".partition(".")
    whole = f"{int(whole):,}".replace(",", group) if group else whole.zfill(len(pattern["digits"]))
    return ("-" if number < 0 else "") + whole + (f"{point}{fraction}" if point else "")


def _date_in_pattern(moment: Moment, value: Any, pattern: str) -> str:
    """Return a date or an instant in the pattern, in the moment's time zone. Raises ValueError for a pattern
    that is none.
    """
    when = local(moment, read("format", value))

    def part(match: re.Match[str]) -> str:
        """Return one part of the date, such as the year for `yyyy`. Raises ValueError for an unknown one."""
        directives = _DAYS | _TIMES if isinstance(when, dt.datetime) else _DAYS
        if match[0] not in directives:
            raise ValueError(
                _(
                    "format: %(part)s is not a part of %(what)s; the parts are: %(known)s",
                    part=match[0],
                    what=_("a date and time") if isinstance(when, dt.datetime) else _("a date"),
                    known=", ".join(directives),
                )
            )
        # On Linux %Y does not fill up the years before 1000.
        return f"{when.year:04}" if match[0] == "yyyy" else when.strftime(directives[match[0]])

    return _DATE_PART.sub(part, pattern)
