"""Texts. Positions count characters from 0."""

from __future__ import annotations

from typing import Any

from designer.expressions.functions.arguments import argument_in_words, text, whole
from designer.expressions.limits import MOST_TEXT, bounded, too_long
from designer.expressions.values import as_text
from designer.sentences import Sentence as _

_WIDEST = 200


def upper(value: Any) -> str:
    return text("upper", value).upper()


def lower(value: Any) -> str:
    return text("lower", value).lower()


def trim(value: Any) -> str:
    """Return the text without white space at both ends."""
    return text("trim", value).strip()


def substring(value: Any, start: Any, end: Any = MOST_TEXT) -> str:
    """Return the characters from `start` up to, not including, `end`, or as many of them as there are."""
    first = whole("substring", _("a start"), start, 0, MOST_TEXT)
    return text("substring", value)[first : whole("substring", _("an end"), end, 0, MOST_TEXT)]


def replace(value: Any, old: Any, new: Any) -> str:
    """Return the text with `new` in place of every `old`."""
    original, searched = text("replace", value), text("replace", old)
    if not searched:
        raise ValueError(_("replace takes a text to look for, which is empty here"))
    replacement = text("replace", new)
    # Calculated beforehand: the new text may be too long to make. One that gets no longer is never refused.
    new_length = len(original) + original.count(searched) * (len(replacement) - len(searched))
    if new_length > max(MOST_TEXT, len(original)):
        raise too_long("replace")
    return original.replace(searched, replacement)


def pad_left(value: Any, width: Any, fill: Any = " ") -> str:
    """Return the value as text of at least `width` characters, filled up on the left with `fill`."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(
            _("padLeft takes text or a whole number, not %(given)s", given=argument_in_words(value))
        )
    least_length = whole("padLeft", _("a width"), width, 0, _WIDEST)
    filler = text("padLeft", fill)
    if len(filler) != 1:
        raise ValueError(_("padLeft fills with one character"))
    return bounded("padLeft", as_text(value).rjust(least_length, filler), as_text(value))
