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

from crmclient.dataverse.http.budget import Admission, Budget, Reason, Refusal, ReportedBudget
from crmclient.dataverse.http.bulkhead import LONGEST_WAIT
from crmclient.dataverse.http.observer import Observer
from crmclient.dataverse.http.retries import LONGEST_RETRY_AFTER
from crmclient.errors import Throttled
from crmclient.platform import Call, Share
from crmclient.sentences import Sentence

REQUESTS_LEFT: Final = "x-ms-ratelimit-burst-remaining-xrm-requests"
WORK_LEFT: Final = "x-ms-ratelimit-time-remaining-xrm-requests"

_WORTH_TELLING: Final = 1.0
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
    reported: ReportedBudget = field(default_factory=ReportedBudget)
    began: float | None = None

    @property
    def user(self) -> int:
        return self.admission.user

    def answered(self, headers: Mapping[str, str], call: Call) -> None:
        """Note what the platform says is left of its limits.

        For an impersonated user it speaks of that user's limits, which are not ours.
        """
        if call.caller is None:
            self.reported = ReportedBudget(
                _number(headers.get(REQUESTS_LEFT)), _number(headers.get(WORK_LEFT))
            )


class Account:
    """Spends the budget for requests, and waits for it if need be. Safe to share between threads."""

    def __init__(self, budget: Budget, observer: Observer) -> None:
        self._budget = budget
        self._observer = observer
        # By group: the refusal that stands, and when it was given (a `time.monotonic()` second).
        self._refused: dict[Share, tuple[Refusal, float]] = {}
        self._reported: dict[int, ReportedBudget] = {}

    def last_reported(self, user: int) -> ReportedBudget:
        """Return what the platform last told this process is left of the limits of an application user.

        It is empty as long as the platform has told nothing.
        """
        return self._reported.get(user, ReportedBudget())

    def refuse(self, call: Call, only_user: int | None = None) -> None:
        """Raise Throttled where this process knows that waiting in a queue would be in vain.

        `only_user` is the index of the one application user that may send the request; None: any may.
        """
        paused = self._budget.paused(only_user)
        if paused > LONGEST_WAIT:
            raise self._throttled(Refusal(paused, Reason.PAUSE), call)
        # It was given to a request that any user might have sent.
        refusal = self._standing_refusal(call.share)
        if only_user is None and refusal is not None and refusal.seconds > LONGEST_WAIT:
            raise self._throttled(refusal, call)

    @contextmanager
    def spending(self, call: Call, ends: float, only_user: int | None = None) -> Iterator[Spending]:
        """Wait until one request may be sent. When the block ends, tell the budget what the request took.

        Raises Throttled when the wait would take more than two seconds, or would not end before `ends` (a
        `time.monotonic()` second).
        """
        spending = Spending(self._admitted(call, ends, only_user))
        try:
            yield spending
        finally:
            seconds = 0.0 if spending.began is None else time.monotonic() - spending.began
            if spending.reported != ReportedBudget():
                self._reported[spending.user] = spending.reported
            self._budget.settle(spending.admission, seconds, spending.reported)

    def pause(self, user: int, asked_seconds: float) -> float:
        """Send nothing as this user for the `asked_seconds`, an hour at most.

        Return the seconds until the next request may be sent: 0 while another user may send.
        """
        seconds = min(asked_seconds, LONGEST_RETRY_AFTER)
        extension, seconds_left = self._budget.pause(user, seconds)
        # Many requests may be under way when the platform refuses the first: one line tells of them all.
        if extension > _WORTH_TELLING:
            self._observer.throttled(seconds, asked_seconds=asked_seconds)
        return seconds_left

    def _admitted(self, call: Call, ends: float, only_user: int | None) -> Admission:
        """Return the admission of a request, after a wait if need be. Raises Throttled."""
        decision = self._budget.take(call.share, only_user)
        if isinstance(decision, Refusal):
            began = time.monotonic()
            gives_up_at = min(ends, began + LONGEST_WAIT)
            decision = self._await_admission(decision, call, gives_up_at, only_user)
            admitted = isinstance(decision, Admission)
            self._observer.waited(time.monotonic() - began, admitted=admitted)
        if isinstance(decision, Refusal):
            raise self._throttled(decision, call)
        self._observer.spent(call)
        return decision

    def _await_admission(
        self, refusal: Refusal, call: Call, gives_up_at: float, only_user: int | None
    ) -> Admission | Refusal:
        """Wait until a refused request is admitted, up to `gives_up_at` (a `time.monotonic()` second).

        Return the admission or the last refusal. The seconds of a refusal for want of a place are a guess,
        and are not waited for.
        """
        decision: Admission | Refusal = refusal
        while isinstance(decision, Refusal):
            now = time.monotonic()
            # Nobody is told when another process gives a place back, so it is looked for again and again. The
            # pause is random: threads that wait do not all look at once.
            if decision.reason is Reason.PLACES and now < gives_up_at:
                pause = _NEXT_LOOK * random.uniform(0.5, 1.0)  # noqa: S311
                time.sleep(min(pause, gives_up_at - now))
            elif now + decision.seconds >= gives_up_at:
                # Not kept: that one user cannot take the request, and that no place is free, which may change
                # at any moment.
                if only_user is None and decision.reason is not Reason.PLACES:
                    self._refused[call.share] = decision, now
                return decision
            else:
                time.sleep(decision.seconds)
            decision = self._budget.take(call.share, only_user)
        return decision

    def _standing_refusal(self, share: Share) -> Refusal | None:
        """Return what is left of the last refusal of a group; None when there is none or it is too old."""
        refusal, since = self._refused.get(share, (None, 0.0))
        age = time.monotonic() - since
        if refusal is None or age >= min(refusal.seconds, _ASKED_AGAIN):
            return None
        return Refusal(refusal.seconds - age, refusal.reason)

    def _throttled(self, refusal: Refusal, call: Call) -> Throttled:
        """Tell the observer that the call is refused, and return the error for it."""
        self._observer.refused(call)
        return Throttled(_SENTENCES[refusal.reason], retry_after=refusal.seconds)


_SENTENCES: Final = {
    Reason.PAUSE: Sentence("The platform has asked the service to pause, and the pause is not over."),
    Reason.REQUESTS: Sentence("The platform's budget of requests is used up."),
    Reason.WORK: Sentence("The platform's budget of work is used up."),
    Reason.PLACES: Sentence("Too many requests to the platform are under way in all processes."),
}


def _number(text: str | None) -> float | None:
    """Return the number in a header; None for a missing header and for any other text."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    # Python also reads "nan" and "inf" as numbers: both fail this comparison.
    return number if 0 <= number < 1e12 else None
