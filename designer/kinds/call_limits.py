"""Limits by the minute: how often an endpoint may be called."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from pydantic import Field

from designer.definition import Definition
from designer.kinds.effects import Effect

MOST = 1_000_000


class CallLimits(Definition):
    """Requests a minute: of all callers together, and of each. 0: no limit of the endpoint's own."""

    rate: int = Field(
        0,
        ge=0,
        le=MOST,
        title=_("Requests a minute, of all callers together"),
        description=_(
            "How many requests all callers may send in total. Further requests get 429 with "
            "Retry-After. 0 means no limit."
        ),
    )
    caller_rate: int = Field(
        0,
        ge=0,
        le=MOST,
        title=_("Requests a minute, of each caller"),
        description=_(
            "How many requests one caller may send. Anonymous callers are counted by address. "
            "The limits of the service, of roles and of callers apply, too. 0 means no limit."
        ),
    )

    @property
    def are_set(self) -> bool:
        return bool(self.rate or self.caller_rate)


def limits_told(old: Any, new: Any) -> tuple[str, Effect]:
    """Return a sentence about changed limits, and what the change means to callers.

    `old` and `new` are the stored settings before and after; None stands for no limits.
    """
    before, after = CallLimits.model_validate(old or {}), CallLimits.model_validate(new or {})
    if not after.are_set:
        return gettext("the limit of requests a minute was removed"), Effect.ADDITIVE
    text = gettext("at most %(rate)s requests a minute of all callers, %(caller_rate)s of each") % {
        "rate": after.rate or "∞",
        "caller_rate": after.caller_rate or "∞",
    }
    stricter = _is_stricter(after.rate, before.rate) or _is_stricter(after.caller_rate, before.caller_rate)
    return text, Effect.BEHAVIOUR if stricter else Effect.ADDITIVE


def _is_stricter(rate: int, before: int) -> bool:
    """Whether a limit allows less than the one before it. 0 stands for no limit."""
    return bool(rate) and (not before or rate < before)
