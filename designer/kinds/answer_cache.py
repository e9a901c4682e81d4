"""Cached answers: for how long an endpoint's answers are kept and shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.definition import Definition
from designer.kinds.effects import Effect
from designer.sentences import listed

# In seconds. Together they are no more than a day, which is as long as a cursor in an answer is of use.
LONGEST = 43_200
LONGEST_STALE = 43_200


class AnswerCache(Definition):
    """How long an endpoint's answers are kept.

    Answers are kept for `seconds`; 0: never. While the platform is throttled or away, an answer whose time is
    over is served for up to `stale_seconds` more. `fresh`: callers may ask for an answer that is read anew.
    `downstream`: browsers and proxies keep answers, too, where all callers share them and need no token.
    """

    seconds: int = Field(
        0,
        ge=0,
        le=LONGEST,
        title=_("Cache answers for … seconds"),
        description=_(
            "How long the service keeps an answer for callers who may share it. 0 switches the "
            "cache off. When this service writes to an entity that an answer was read from, the "
            "service removes that answer at once."
        ),
    )
    stale_seconds: int = Field(
        0,
        ge=0,
        le=LONGEST_STALE,
        title=_("Serve old answers for up to … more seconds"),
        description=_(
            "How long an old answer may be given while the platform is throttled or does not "
            "answer. With 0, callers get 503 then."
        ),
    )

    fresh: bool = Field(
        False,
        title=_("Callers may ask for fresh data"),
        description=_(
            "A caller who sends “Cache-Control: no-cache” gets an answer that is read from the "
            "platform. Each such request costs a platform call."
        ),
    )

    downstream: bool = Field(
        False,
        title=_("Browsers and proxies keep answers, too"),
        description=_(
            "Browsers and proxies keep an answer for the same number of seconds, and a tenth "
            "longer while they refresh it. Edits and writes do not remove the answers that they "
            "keep, and the service does not count or limit the calls that they answer. This "
            "works only if callers need no token and all share one answer."
        ),
    )

    @property
    def is_on(self) -> bool:
        return self.seconds > 0


def cache_told(old: Any, new: Any) -> tuple[str, Effect]:
    """Return a sentence about a changed cache, and what the change means to callers.

    `old` and `new` are the stored settings before and after; None stands for no cache. The sentence tells of
    everything that changed: the times, and each switch.
    """
    before, after = AnswerCache.model_validate(old or {}), AnswerCache.model_validate(new or {})
    if not after.is_on:
        text = gettext("answers are no longer cached") if before.is_on else gettext("answers are not cached")
        return text, Effect.ADDITIVE
    changes = [*_switches_told(before, after)]
    # There is always a sentence, also where the stored forms differ and mean the same.
    if not changes or (after.seconds, after.stale_seconds) != (before.seconds, before.stale_seconds):
        changes.insert(0, _times_told(before, after))
    effects = [effect for _text, effect in changes]
    return listed([text for text, _effect in changes], "; "), max(effects, key=lambda effect: effect.rank)


def _times_told(before: AnswerCache, after: AnswerCache) -> tuple[str, Effect]:
    """Return a sentence about the times after a change, and what it means to callers."""
    if not after.stale_seconds:
        words = ngettext(
            "answers are cached for %(seconds)s second",
            "answers are cached for %(seconds)s seconds",
            after.seconds,
        )
    else:
        words = ngettext(
            "answers are cached for %(seconds)s second, and %(stale)s more while the platform is away",
            "answers are cached for %(seconds)s seconds, and %(stale)s more while the platform is away",
            after.seconds,
        )
    text = words % {"seconds": after.seconds, "stale": after.stale_seconds}
    is_never_older = after.seconds <= before.seconds and after.stale_seconds <= before.stale_seconds
    return text, Effect.ADDITIVE if before.is_on and is_never_older else Effect.BEHAVIOUR


def _switches_told(before: AnswerCache, after: AnswerCache) -> Iterator[tuple[str, Effect]]:
    """Yield a sentence about each switch that changed, and what the change means to callers."""
    if after.downstream != before.downstream:
        if after.downstream:
            yield gettext("browsers and proxies keep answers, too"), Effect.BEHAVIOUR
        else:
            yield gettext("browsers and proxies no longer keep answers"), Effect.ADDITIVE
    if after.fresh != before.fresh:
        if after.fresh:
            yield gettext("callers may ask for answers that are not cached"), Effect.ADDITIVE
        else:
            yield gettext("callers may no longer ask for answers that are not cached"), Effect.BEHAVIOUR
