"""Which application user sends a request, and when: by the budget, and by the pauses the platform asks for.

After a 429 nothing is sent as that user before its `Retry-After` has passed, in every thread, and in every
process that shares a memory with this one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from crmclient.dataverse.http.budget import Admission, Budget, Reason, Refusal, Said
from crmclient.dataverse.http.bulkhead import LONGEST_WAIT
from crmclient.dataverse.http.observer import Observer
from crmclient.dataverse.http.retrying import LONGEST_RETRY_AFTER
from crmclient.errors import Throttled
from crmclient.platform import Call, Share

REQUESTS_LEFT: Final = "x-ms-ratelimit-burst-remaining-xrm-requests"
WORK_LEFT: Final = "x-ms-ratelimit-time-remaining-xrm-requests"

_NEWS: Final = 1.0
"""Seconds by which a pause must end later than the one that is known to be worth telling."""

_ASKED_AGAIN: Final = 1.0
"""Seconds for which the refusal of one request stands for all of its group: they cost the budget nothing."""

_NEXT_LOOK: Final = 0.05
"""Seconds after which a place is looked for again that another process may have given back."""


@dataclass(slots=True)
class Spending:
    """One request that is sent as application user number `user`: whoever sends it says when it `began`, in
    seconds of `time.monotonic()`, and with which headers it was answered."""

    admission: Admission
    said: Said = field(default_factory=Said)
    began: float | None = None

    @property
    def user(self) -> int:
        return self.admission.user

    def answered(self, headers: Mapping[str, str], call: Call) -> None:
        """Take the platform's word for what is left. Of an impersonated user it says nothing about ours."""
        if call.caller is None:
            self.said = Said(_number(headers.get(REQUESTS_LEFT)), _number(headers.get(WORK_LEFT)))


class Account:
    """Safe to share between threads."""

    def __init__(self, budget: Budget, observer: Observer) -> None:
        self._budget = budget
        self._observer = observer
        # By group: the refusal that stands, and the second until when.
        self._refused: dict[Share, tuple[Refusal, float]] = {}

    def refuse(self, call: Call, only: int | None = None) -> None:
        """Raise Throttled where this process knows that waiting in a queue would be in vain."""
        paused = self._budget.paused(only)
        if paused > LONGEST_WAIT:
            raise self._throttled(Refusal(paused, Reason.PAUSE), call)
        refusal = self._standing_refusal(call.share)
        if only is None and refusal is not None and refusal.seconds > LONGEST_WAIT:
            raise self._throttled(refusal, call)

    @contextmanager
    def spending(self, call: Call, ends: float, only: int | None = None) -> Iterator[Spending]:
        """Leave to send one request. Raises Throttled where that would take more than two seconds, or not be
        before `ends` (a `time.monotonic()` second)."""
        spending = Spending(self._admitted(call, ends, only))
        try:
            yield spending
        finally:
            seconds = 0.0 if spending.began is None else time.monotonic() - spending.began
            self._budget.settle(spending.admission, seconds, spending.said)

    def rest(self, user: int, asked: float) -> float:
        """Send nothing as this user for the `asked` seconds, an hour at most.

        The seconds until another request may be sent: none, while another user may.
        """
        seconds = min(asked, LONGEST_RETRY_AFTER)
        longer, left = self._budget.rest(user, seconds)
        # Many requests may be under way when the platform refuses the first: one line tells of them all.
        if longer > _NEWS:
            self._observer.throttled(seconds, asked=asked)
        return left

    def _admitted(self, call: Call, ends: float, only: int | None) -> Admission:
        found = self._budget.take(call.share, only)
        if isinstance(found, Refusal):
            began = time.monotonic()
            found = self._awaited(found, call, min(ends, began + LONGEST_WAIT), only)
            admitted = isinstance(found, Admission)
            self._observer.waited(time.monotonic() - began, admitted=admitted)
        if isinstance(found, Refusal):
            raise self._throttled(found, call)
        self._observer.spent(call)
        return found

    def _awaited(self, found: Refusal, call: Call, ends: float, only: int | None) -> Admission | Refusal:
        """What became of a request that had to wait, by `ends` at the latest."""
        again: Admission | Refusal = found
        while isinstance(again, Refusal):
            now = time.monotonic()
            if again.reason is Reason.PLACES and now < ends:
                time.sleep(_NEXT_LOOK * random.uniform(0.5, 1.0))  # noqa: S311
            elif now + again.seconds >= ends:
                if only is None and again.reason is not Reason.PLACES:
                    self._refused[call.share] = again, now
                return again
            else:
                time.sleep(again.seconds)
            again = self._budget.take(call.share, only)
        return again

    def _standing_refusal(self, share: Share) -> Refusal | None:
        refusal, since = self._refused.get(share, (None, 0.0))
        age = time.monotonic() - since
        if refusal is None or age >= min(refusal.seconds, _ASKED_AGAIN):
            return None
        return Refusal(refusal.seconds - age, refusal.reason)

    def _throttled(self, refusal: Refusal, call: Call) -> Throttled:
        self._observer.refused(call)
        return Throttled(_SENTENCES[refusal.reason], retry_after=refusal.seconds)


_SENTENCES: Final = {
    Reason.PAUSE: "The platform asked for a pause that is not over.",
    Reason.REQUESTS: "The platform's budget of requests is used up.",
    Reason.WORK: "The platform's budget of work is used up.",
    Reason.PLACES: "Too many requests to the platform are under way in all processes.",
}


def _number(text: str | None) -> float | None:
    """The figure in a header; None for one that is missing, or is none."""
    try:
        number = -1.0 if text is None else float(text)
    except ValueError:
        return None
    return number if 0 <= number < 1e12 else None
