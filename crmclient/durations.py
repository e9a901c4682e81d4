"""How long something lasts, as people say it: “17 seconds”, “5 minutes”, “1 hour”."""

from __future__ import annotations

from math import ceil
from typing import Final

from crmclient.sentences import Counted, Sentence

_LONGEST_IN_SECONDS: Final = 90
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE


def duration(seconds: float) -> Sentence:
    """Return a number of seconds in words, for a place within a sentence.

    It is never shorter than it was: what is left of a second counts as one and, beyond a minute and a half,
    what is left of a minute, too.
    """
    whole = ceil(seconds)
    if whole <= _LONGEST_IN_SECONDS:
        return Counted("%(number)s second", "%(number)s seconds", whole)
    minutes = ceil(whole / _MINUTE)
    if minutes * _MINUTE < _HOUR:
        return _minutes(minutes)
    hours, rest = divmod(minutes, _HOUR // _MINUTE)
    if not rest:
        return _hours(hours)
    return Sentence("%(hours)s and %(minutes)s", hours=_hours(hours), minutes=_minutes(rest))


def _minutes(number: int) -> Sentence:
    return Counted("%(number)s minute", "%(number)s minutes", number)


def _hours(number: int) -> Sentence:
    return Counted("%(number)s hour", "%(number)s hours", number)
