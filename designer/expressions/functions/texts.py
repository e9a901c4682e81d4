"""Texts. Positions count characters from 0."""

from __future__ import annotations

from typing import Any

from designer.expressions.functions.arguments import shown, text, whole
from designer.expressions.limits import MOST_TEXT, bounded, too_long
from designer.expressions.text import as_text
from designer.sentences import Sentence as _

_WIDEST = 200


def upper(value: Any) -> str:
    return text("upper", value).upper()


def lower(value: Any) -> str:
    return text("lower", value).lower()


def trim(value: Any) -> str:
    """Without white space at both ends."""
    return text("trim", value).strip()


def substring(value: Any, start: Any, end: Any = MOST_TEXT) -> str:
    """The characters from `start` up to, not including, `end`; as many of them as there are."""
    first = whole("substring", _("a start"), start, 0, MOST_TEXT)
    return text("substring", value)[first : whole("substring", _("an end"), end, 0, MOST_TEXT)]


def replace(value: Any, old: Any, new: Any) -> str:
    """With every `old` replaced."""
    given, wanted = text("replace", value), text("replace", old)
    if not wanted:
        raise ValueError(_("replace takes a text to look for, which is empty here"))
    by = text("replace", new)
    # Reckoned before it is made: that many characters may be too many.
    grown = len(given) + given.count(wanted) * (len(by) - len(wanted))
    if grown > max(MOST_TEXT, len(given)):
        raise too_long("replace")
    return given.replace(wanted, by)


def pad_left(value: Any, width: Any, fill: Any = " ") -> str:
    """At least `width` characters, filled up on the left with `fill`."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(_("padLeft takes text or a whole number, not %(given)s", given=shown(value)))
    wide = whole("padLeft", _("a width"), width, 0, _WIDEST)
    filler = text("padLeft", fill)
    if len(filler) != 1:
        raise ValueError(_("padLeft fills with one character"))
    return bounded("padLeft", as_text(value).rjust(wide, filler), as_text(value))
