"""The budget's bookkeeping in one process: what it has sent itself, and what the platform has reported."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from itertools import count

from crmclient.dataverse.http.budget import (
    BOUNDLESS,
    LEASE,
    SHARES,
    SPAN,
    Admission,
    Budget,
    BudgetUse,
    Limits,
    Reason,
    Refusal,
    ReportedBudget,
    left,
)
from crmclient.platform import Share

# The place of each group in a list of figures.
_PLACE = {share: place for place, share in enumerate(SHARES)}
_SIZE = len(SHARES)
_NEXT_PLACE = 1.0
"""Seconds after which a place may be free again: nobody knows when a request ends."""


class _User:
    """The budget's account of one application user. The budget's lock guards it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        # By the number of the interval: requests of each group, then seconds of work of each group. `sums` is
        # the total of all intervals.
        self.buckets: dict[int, list[float]] = {}
        self.sums = [0.0] * (2 * _SIZE)
        # The group of each request under way, by its id, and when it began.
        self.running: dict[str, tuple[Share, float]] = {}
        # When the pause of this user ends.
        self.paused_until = 0.0
        # The requests and the seconds of work that somebody else has used, and until when that counts.
        self.others = (0.0, 0.0)
        self.others_until = 0.0
        self._last_bucket = 0

    def advance(self, now: float) -> None:
        """Forget what is older than the window. `now` is in seconds of the budget's clock."""
        current_bucket = int(now / self.limits.bucket)
        if current_bucket != self._last_bucket:
            self._last_bucket = current_bucket
            self._forget(current_bucket - SPAN)
        # A request that has run for longer than a lease was lost, and would block its place for ever.
        for id in [id for id, (_, began) in self.running.items() if began <= now - LEASE]:
            del self.running[id]
        if now >= self.others_until:
            self.others = (0.0, 0.0)

    def _forget(self, last: int) -> None:
        """Forget the intervals up to number `last`."""
        for number in [number for number in self.buckets if number <= last]:
            for index, spent in enumerate(self.buckets.pop(number)):
                self.sums[index] -= spent
        if not self.buckets:
            # Clear the rounding errors of many additions.
            self.sums = [0.0] * (2 * _SIZE)

    def add(self, index: int, amount: float, now: float) -> None:
        """Add an amount to the present interval. `index` is the place in its list."""
        bucket = self.buckets.setdefault(int(now / self.limits.bucket), [0.0] * (2 * _SIZE))
        bucket[index] += amount
        self.sums[index] += amount

    def room(self, share: Share, now: float) -> tuple[float, Refusal | None]:
        """Return which part of the scarcest resource is left for a group, at most 1, and a refusal if that is
        too little for a request.
        """
        limits, pause = self.limits, self.paused_until - now
        if pause > 0:
            return 0.0, Refusal(pause, Reason.PAUSE)
        requests = left(limits.requests, self.sums[:_SIZE], self.others[0], share, limits)
        work = left(limits.work, self._work(now), self.others[1], share, limits)
        places = left(limits.places, self._running(), 0, share, limits)
        part_left = min(requests / limits.requests, work / limits.work, places / limits.places)
        if requests < 1:
            return part_left, Refusal(self._seconds_to_relief(now), Reason.REQUESTS)
        if work <= 0:
            return part_left, Refusal(self._seconds_to_relief(now), Reason.WORK)
        return part_left, Refusal(_NEXT_PLACE, Reason.PLACES) if places < 1 else None

    def spent(self) -> tuple[float, float]:
        """Return the requests and the seconds of work in the window. Running requests have no work yet."""
        return sum(self.sums[:_SIZE]), sum(self.sums[_SIZE:])

    def use(self, now: float) -> BudgetUse:
        """Return how the user stands: the use of each group in the window, and the rest of its pause."""
        work = self._work(now)
        return BudgetUse(
            requests={share: round(self.sums[place]) for share, place in _PLACE.items()},
            work={share: work[place] for share, place in _PLACE.items()},
            others=self.others[0],
            running=len(self.running),
            pause=max(0.0, self.paused_until - now),
        )

    def _work(self, now: float) -> list[float]:
        """Return the seconds of work by group. Running requests are included: the platform may count them
        already.
        """
        work = self.sums[_SIZE:]
        for share, began in self.running.values():
            work[_PLACE[share]] += now - began
        return work

    def _running(self) -> list[float]:
        """Return the number of requests under way, by group."""
        running = [0.0] * _SIZE
        for share, _ in self.running.values():
            running[_PLACE[share]] += 1
        return running

    def _seconds_to_relief(self, now: float) -> float:
        """Return the seconds until the oldest counted requests leave the window."""
        bucket = self.limits.bucket
        # An interval counts until SPAN intervals have begun after it.
        ends = [(number + SPAN) * bucket for number in self.buckets]
        if any(self.others):
            ends.append(self.others_until)
        # Never zero: whoever waits for so long and asks again has paused.
        return max(0.01, min(ends, default=now + bucket) - now)


class ProcessBudget(Budget):
    """A budget that this process keeps by itself. Safe to share between threads.

    `clock` counts seconds from any moment on.
    """

    def __init__(self, limits: Limits, users: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._users = [_User(limits) for _ in range(users)]
        self._clock = clock
        self._lock = threading.Lock()
        self._ids = count()

    def take(self, share: Share, only_user: int | None = None) -> Admission | Refusal:
        """Count one request of the user who has most left. Return a refusal if nobody has anything left."""
        with self._lock:
            now = self._clock()
            best, most, refusal = None, 0.0, None
            for number in self._numbers(only_user):
                user = self._users[number]
                user.advance(now)
                part_left, refused = user.room(share, now)
                if refused is None:
                    if best is None or part_left > most:
                        best, most = number, part_left
                elif refusal is None or refused.seconds < refusal.seconds:
                    refusal = refused
            if best is None:
                # There is at least one user, and each has room or a refusal.
                assert refusal is not None  # noqa: S101
                return refusal
            return self._note(best, share, str(next(self._ids)), now)

    def note(self, user: int, share: Share, id: str) -> None:
        """Count a request that the shared budget has admitted, so that this process's account is right while
        the shared one is away. `user` is the number of the application user, `id` the admission's.
        """
        with self._lock:
            now = self._clock()
            self._users[user].advance(now)
            self._note(user, share, id, now)

    def settle(self, admission: Admission, seconds: float, reported: ReportedBudget) -> None:
        """Note that a request is over after `seconds` of work, and what the platform reports is left."""
        with self._lock:
            now = self._clock()
            user = self._users[admission.user]
            user.advance(now)
            user.running.pop(admission.id, None)
            # In a list of figures, the seconds of work of all groups stand behind the requests of all groups.
            user.add(_SIZE + _PLACE[admission.share], seconds, now)
            if reported.requests is not None or reported.work is not None:
                self._correct(user, admission, reported)
                # What others have used leaves the platform's window at the latest then.
                user.others_until = now + user.limits.window

    def pause(self, user: int, seconds: float) -> tuple[float, float]:
        """Send nothing as this user for `seconds`.

        Return by how many seconds its pause became longer, and the seconds until any user may send.
        """
        with self._lock:
            now = self._clock()
            user_to_pause = self._users[user]
            extension = now + seconds - user_to_pause.paused_until
            user_to_pause.paused_until = max(user_to_pause.paused_until, now + seconds)
            return extension, round(max(0.0, min(other.paused_until for other in self._users) - now), 3)

    def paused(self, only_user: int | None = None) -> float:
        """Return the seconds until any user, or user `only_user`, may send."""
        until = min(self._users[number].paused_until for number in self._numbers(only_user))
        return max(0.0, until - self._clock())

    def use_of_users(self) -> Sequence[BudgetUse]:
        """Return how each application user stands now, in the order of their numbers."""
        with self._lock:
            now = self._clock()
            for user in self._users:
                user.advance(now)
            return [user.use(now) for user in self._users]

    def _correct(self, user: _User, admission: Admission, reported: ReportedBudget) -> None:
        """Set what others have used as this user: what the platform has counted, less our own use.

        Our use is that at the `admission` of the request which brought the report. The platform had not seen
        anything that we have sent since then.
        """
        limits = self.limits
        others_requests, others_work = user.others
        if reported.requests is not None and limits.requests < BOUNDLESS:
            counted = _counted_by_platform(limits.requests, reported.requests, limits.processes)
            own_requests_now, _ = user.spent()
            # The platform may count late: a figure that our own requests until now explain says nothing
            # about others.
            others_requests = counted - admission.requests if counted > own_requests_now else 0.0
        if reported.work is not None and limits.work < BOUNDLESS:
            counted = _counted_by_platform(limits.work, reported.work, limits.processes)
            # May be negative, which leaves us more: we count the seconds on the network as work, and the
            # platform does not.
            others_work = counted - admission.work
        user.others = others_requests, others_work

    def _numbers(self, only_user: int | None) -> Sequence[int]:
        """Return the numbers of the users that may send a request: all, or `only_user`."""
        return range(len(self._users)) if only_user is None else (only_user,)

    def _note(self, number: int, share: Share, id: str, now: float) -> Admission:
        """Count a request as sent by user `number`, and return its admission."""
        user = self._users[number]
        user.add(_PLACE[share], 1, now)
        requests, work = user.spent()
        # Those under way may not have arrived at the platform, so that its figures lack them (see Admission).
        requests -= len(user.running)
        user.running[id] = share, now
        return Admission(id=id, user=number, share=share, requests=requests, work=work)


def _counted_by_platform(limit: float, left_for_all: float, processes: int) -> float:
    """Return what the platform has counted of this process's `limit`, when it reports what is left for all.

    `limit` is one of `processes` equal parts of the platform's own, so each has as much left as the others.
    """
    return limit - left_for_all / processes
