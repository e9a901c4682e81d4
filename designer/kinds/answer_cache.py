"""Cached answers: for how long an endpoint's answers are kept and shared."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.definition import Definition
from designer.kinds.effects import Effect

# Together they are no more than a day, which is as long as a cursor in an answer is of use.
LONGEST = 43_200
LONGEST_STALE = 43_200


class AnswerCache(Definition):
    """Answers are kept for `seconds`; 0: never. While the platform is throttled or away, one whose time is
    over is served for up to `stale_seconds` more. `fresh`: callers may ask for one that is read for them.
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
    """Return what a changed cache setting means to callers, in words. None stands for no cache."""
    before, after = AnswerCache.model_validate(old or {}), AnswerCache.model_validate(new or {})
    if not after.is_on:
        return gettext("answers are no longer cached"), Effect.ADDITIVE
    if not after.stale_seconds:
        text = gettext("answers are cached for %(seconds)s seconds") % {"seconds": after.seconds}
    else:
        text = gettext(
            "answers are cached for %(seconds)s seconds, and %(stale)s more while the platform is away"
        ) % {"seconds": after.seconds, "stale": after.stale_seconds}
    same = (after.seconds, after.stale_seconds) == (before.seconds, before.stale_seconds)
    if same and after.downstream != before.downstream:
        if after.downstream:
            return gettext("browsers and proxies keep answers, too"), Effect.BEHAVIOUR
        return gettext("browsers and proxies no longer keep answers"), Effect.ADDITIVE
    if same and after.fresh != before.fresh:
        if after.fresh:
            return gettext("callers may ask for answers that are not cached"), Effect.ADDITIVE
        return gettext("callers may no longer ask for answers that are not cached"), Effect.BEHAVIOUR
    fresher = before.is_on and (after.seconds, after.stale_seconds) <= (before.seconds, before.stale_seconds)
    return text, Effect.ADDITIVE if fresher else Effect.BEHAVIOUR
