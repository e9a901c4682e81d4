"""A call: circuit, place, budget, token, attempt; and more attempts where they can help and do no harm."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Final, TypeVar

import requests

from crmclient.dataverse.http.account import Account, Spending
from crmclient.dataverse.http.budget import Budget, ReportedBudget
from crmclient.dataverse.http.bulkhead import Bulkhead
from crmclient.dataverse.http.circuit import Circuit, Passage
from crmclient.dataverse.http.impersonation import Impersonation
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.http.observer import Observer
from crmclient.dataverse.http.retries import (
    THROTTLED,
    PassingFailure,
    passing_failure,
    passing_status,
    retry_after,
)
from crmclient.dataverse.http.tokens import Tokens
from crmclient.dataverse.http.transport import (
    AttemptFailed,
    TimedOut,
    Transport,
    answer_of,
    lower_case,
    read_bounded,
)
from crmclient.dataverse.options import MEGABYTE, Options
from crmclient.platform import Call
from crmclient.tally import current_tally

UNAUTHORIZED: Final = 401
_FAILING: Final = frozenset({502, 503, 504})
_FAIR_TRY: Final = 1.0
"""Seconds that an attempt must have had for its time-out to count against the platform."""

_HEADERS: Final = {
    "Accept": "application/json",
    "OData-MaxVersion": "4.0",
    "OData-Version": "4.0",
    # As Microsoft's documentation recommends: no cache on the way may answer.
    "If-None-Match": "null",
    "User-Agent": "portico",
}
CORRELATION: Final = "x-ms-client-request-id"
"""Dataverse keeps it beside the ids of its own, so that its support finds what a request of ours did."""

Received = TypeVar("Received", Answer, requests.Response)
Attempt = Callable[[Request, float], Received]
"""Sends a request once, until a `time.monotonic()` second, and returns what was received."""


class Client:
    """Sends requests to Dataverse, and repeats them if need be. Safe to share between threads.

    `impersonation` may be replaced before the first call for a caller. `tokens` has those of each application
    user, in the order in which the budget counts the users.
    """

    def __init__(
        self, options: Options, tokens: Sequence[Tokens], observer: Observer, budget: Budget
    ) -> None:
        self.options = options
        self.impersonation = Impersonation()
        self._tokens = tokens
        self._observer = observer
        self._transport = Transport(options)
        self._bulkhead = Bulkhead(options.concurrency, observer, budget.limits)
        self._circuit = Circuit(observer)
        self._account = Account(budget, observer)
        # The application user who sends every request; None for the one who has most left.
        self._only_user: int | None = None

    def as_user(self, user: int) -> Client:
        """Return a client that sends all requests as application user number `user`, and shares the rest with
        this one.
        """
        alone = copy(self)
        alone._only_user = user
        return alone

    def refuse(self, call: Call) -> None:
        """Raise Unavailable or Throttled where a request would not be sent now. Sends nothing."""
        self._circuit.refuse()
        self._account.refuse(call)

    def last_reported_budget(self, user: int) -> ReportedBudget:
        """Return what the platform last said is left of the limits of application user number `user`."""
        return self._account.last_reported(user)

    def send(self, request: Request, call: Call) -> Answer:
        """Send a request, and return the whole answer, also if it is an error.

        Raises Throttled, Unavailable, DeadlineExceeded, UnexpectedAnswer.
        """
        lost: list[str] = []
        answer = self._send_repeatedly(request, call, self._transport.send, lost)
        return replace(answer, after_loss=True) if lost else answer

    def open(self, request: Request, call: Call) -> Answer | requests.Response:
        """Send a request as `send` does, but return a success as an open response. The caller reads and
        closes it.

        An open response holds no place in the bulkhead, because the reader may be slower than the platform.
        """
        response = self._send_repeatedly(request, call, self._transport.open, [])
        if response.ok:
            return response
        with response:
            return answer_of(response, read_bounded(response, MEGABYTE, self.ends(call)))

    def ends(self, call: Call) -> float:
        """Return the `time.monotonic()` second at which the call must have ended."""
        return time.monotonic() + self.options.timeout if call.deadline is None else call.deadline

    def _send_repeatedly(
        self, request: Request, call: Call, attempt: Attempt[Received], lost: list[str]
    ) -> Received:
        """Send a request, several times if need be.

        An attempt that failed but may have taken effect adds its outcome to `lost`. All attempts carry one
        correlation, by which the platform's log ties them to the work that they are part of.
        """
        # This client may stand for one application user of several: see `as_user`.
        if self._only_user is not None:
            request = replace(request, user=self._only_user)
        with current_tally() as tally:
            return self._send_until_done(request, call, attempt, lost, tally.correlation)

    def _send_until_done(
        self, request: Request, call: Call, attempt: Attempt[Received], lost: list[str], correlation: str
    ) -> Received:
        """Send a request until it succeeds, fails for good, or runs out of retries or time. `lost` collects
        the outcomes of attempts that may have been carried out.
        """
        ends = self.ends(call)
        # Asked for here: an attempt that holds a place must not wait for another.
        caller_headers = self.impersonation.headers(call)
        headers = {**_HEADERS, CORRELATION: correlation, **caller_headers, **request.headers}
        request = replace(request, headers=headers)
        number = 0
        while True:
            try:
                return self._attempt_authorized(request, call, ends, attempt)
            except PassingFailure as passing:
                pause = passing.pause(number)
                is_last = number >= self.options.retries or time.monotonic() + pause >= ends
                if is_last or not passing.repeat:
                    raise passing.error from passing
                if passing.may_be_done:
                    lost.append(passing.outcome)
                self._observer.retried(passing.outcome)
                time.sleep(pause)
                number += 1

    def _attempt_authorized(
        self, request: Request, call: Call, ends: float, attempt: Attempt[Received]
    ) -> Received:
        """Make an attempt, and another one with a new token if the platform does not accept the token."""
        # Asked before the request queues for a place: if it cannot be sent in time, it need not wait.
        self._account.refuse(call, request.user)
        received = self._attempt(request, call, ends, attempt)
        if _status(received) != UNAUTHORIZED:
            return received
        received.close()
        return self._attempt(request, call, ends, attempt)

    def _attempt(self, request: Request, call: Call, ends: float, attempt: Attempt[Received]) -> Received:
        """Send a request once. Return what was received.

        Raises PassingFailure for a failure that may pass, Throttled, and Unavailable while the circuit is
        open or all places are taken.
        """
        with self._circuit.enter(ends) as passage:
            with (
                self._bulkhead.place(ends, call.share),
                # Only here: while this request waited for its place another may have been refused.
                self._account.spending(call, ends, request.user) as spending,
            ):
                token = self._tokens[spending.user].get(ends)
                received, status = self._make_attempt(
                    _with_token(request, token), call, ends, attempt, spending, passage
                )
            passing = self._passing_failure(status, received, request, spending)
            if passing is not None and status in _FAILING:
                passage.failed(passing.error)
            else:
                passage.succeeded()
        if status == UNAUTHORIZED:
            self._tokens[spending.user].reject(token)
        if passing is not None:
            received.close()
            raise passing
        return received

    def _make_attempt(
        self,
        request: Request,
        call: Call,
        ends: float,
        attempt: Attempt[Received],
        spending: Spending,
        passage: Passage,
    ) -> tuple[Received, int]:
        """Make one attempt. Return the answer and its status. Raises a PassingFailure when there is no
        answer, and reports that to the circuit.
        """
        current_tally().calls += 1
        spending.began = began = time.monotonic()
        try:
            received = attempt(request, ends)
        except AttemptFailed as failure:
            spent = time.monotonic() - began
            self._observer.attempted(request.method, failure.outcome, spent)
            passing = passing_failure(failure, request)
            if not isinstance(failure, TimedOut) or spent >= _FAIR_TRY:
                passage.failed(passing.error)
            raise passing from failure
        status = _status(received)
        self._observer.attempted(request.method, str(status), time.monotonic() - began)
        spending.answered(lower_case(received.headers), call)
        if isinstance(received, Answer):
            received = replace(received, user=spending.user)
        return received, status

    def _passing_failure(
        self, status: int, received: Received, request: Request, spending: Spending
    ) -> PassingFailure | None:
        """Return the failure that a status means, if it may pass; None for any other status.

        After a 429, the application user that sent the request pauses for as long as the answer asks.
        """
        wait = retry_after(lower_case(received.headers))
        if status == THROTTLED and wait is not None:
            wait = self._account.pause(spending.user, wait)
        return passing_status(status, wait, request)


def _with_token(request: Request, token: str) -> Request:
    return replace(request, headers={**request.headers, "Authorization": f"Bearer {token}"})


def _status(received: Answer | requests.Response) -> int:
    return received.status if isinstance(received, Answer) else received.status_code
