"""What Dataverse lets an application user do in five minutes, and how that is shared out.

A `Budget` keeps the account: of this process (`ProcessBudget`), or of all processes where they have a memory
in common. Each group of calls has a share, of which the first third is kept free for it until it has used
that much: nobody else gets it. All else is for whoever asks. A group that has used its share already gets no
more unless another third stays free for each group that has not: so what grows old goes to those first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import floor
from typing import Final, Protocol, runtime_checkable

from crmclient.platform import Share

SHARES: Final = tuple(Share)
BUCKETS: Final = 60
"""So many parts of the window are counted apart."""

SPAN: Final = BUCKETS + 2
"""Parts that count: the one that goes on, and one for requests that are a while on their way."""

KEPT: Final = 3
"""One part in so many of its share is kept free for a group that has not used it."""

LEASE: Final = 150.0
"""Seconds after which a request that nobody has settled is over: its process has died."""


BOUNDLESS: Final = 10**9
"""A limit that is none: what the platform says is left is not compared with it."""


class Reason(Enum):
    """Why a request may not be sent now."""

    PAUSE = "pause"
    REQUESTS = "requests"
    WORK = "work"
    PLACES = "places"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one application user: requests and seconds of work in a sliding window, and requests at
    once.

    `window` is in seconds. `shares` has the part of each group; together they are at most one. Without them,
    every group takes from the whole. `processes` is the number that `part` was given: these are then the
    limits of one of so many processes.
    """

    requests: int = 6_000
    work: float = 1_200.0
    places: int = 40
    window: float = 300.0
    shares: Mapping[Share, float] = field(default_factory=dict)
    processes: int = 1

    def part(self, processes: int) -> Limits:
        """Return the limits for one of `processes` processes that do not know of each other."""
        if processes == 1:
            return self
        return Limits(
            requests=self.requests if self.requests >= BOUNDLESS else max(1, self.requests // processes),
            work=self.work if self.work >= BOUNDLESS else self.work / processes,
            places=max(1, self.places // processes),
            window=self.window,
            shares=self.shares,
            processes=processes,
        )

    @property
    def bucket(self) -> float:
        """The length in seconds of an interval whose requests are counted together."""
        return self.window / BUCKETS


def left(limit: float, used: Sequence[float], others: float, share: Share, limits: Limits) -> float:
    """Return how much of `limit` is left for a group, without the part that is kept free for other groups.

    `used` is in the order of SHARES; `others` is what somebody else has used with the same user.
    """
    if limit >= BOUNDLESS:
        return limit
    kept_free = 0
    # The first third of a share is kept free until its group has used it. From a group that has used its
    # whole share, another third is kept free for each of the others that has not.
    satisfied = used[SHARES.index(share)] >= limit * limits.shares.get(share, 0.0)
    for group, spent in zip(SHARES, used, strict=True):
        if group is not share:
            entitled = limit * limits.shares.get(group, 0.0)
            third = entitled / KEPT
            unspent = min(third, entitled - spent) if satisfied else third - spent
            kept_free += floor(max(0.0, unspent))
    return limit - sum(used) - others - kept_free


@dataclass(frozen=True, slots=True)
class Admission:
    """A request that may be sent, as application user number `user`.

    `requests` and `work` are what the service itself had used then, this request included; requests that are
    under way are left out, since they may not have arrived yet.
    """

    id: str
    user: int
    share: Share
    requests: float
    work: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """No application user can take the request: the first one may be able to in `seconds`."""

    seconds: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class ReportedBudget:
    """The requests and the seconds of work that the platform says are left in its window."""

    requests: float | None = None
    work: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How one application user stands now. `requests` and `work` are what each group has used, `others` what
    somebody else has; `running` is how many requests are under way. `pause` is in seconds from now.
    """

    requests: Mapping[Share, int]
    work: Mapping[Share, float]
    others: float
    running: int
    pause: float

    @property
    def used_requests(self) -> float:
        """How many requests are used, those that somebody else has sent included."""
        # Below 0 where the platform counts fewer requests than the service has sent.
        return sum(self.requests.values()) + max(0.0, self.others)


class Budget(Protocol):
    """The account of all application users. Called from any thread; quick, and never raises.

    Times are in seconds from now, so that the clocks of several machines need not agree.
    """

    limits: Limits

    def take(self, share: Share, only_user: int | None = None) -> Admission | Refusal:
        """Count one request of the application user who has most left, or of user `only_user`. Return the
        admission or a refusal.
        """
        ...

    def settle(self, admission: Admission, seconds: float, reported: ReportedBudget) -> None:
        """Note that a request is over. It took `seconds` of work; `reported` is what the platform says is
        left.
        """
        ...

    def pause(self, user: int, seconds: float) -> tuple[float, float]:
        """Send nothing as this user for `seconds`. A longer pause that is known already stays.

        Return by how many seconds the pause became longer, and the seconds until any user may send.
        """
        ...

    def paused(self, only_user: int | None = None) -> float:
        """Return the seconds until any user, or user `only_user`, may send, as far as this process knows.
        Asks nobody.
        """
        ...

    def use_of_users(self) -> Sequence[BudgetUse]:
        """Return how much each application user has left, as far as this budget knows."""
        ...


@runtime_checkable
class SpendsBudget(Protocol):
    """A platform that has a budget, and keeps account of it."""

    budget: Budget


@runtime_checkable
class ReportsBudget(SpendsBudget, Protocol):
    """A platform with a budget that also says itself what is left of its limits."""

    def last_reported_budget(self, user: int) -> ReportedBudget:
        """Return what the platform last told this process is left for application user number `user`."""
        ...
