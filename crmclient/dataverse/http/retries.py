"""Whether, and when, a request is sent again.

Any request is sent again after 429 and 503, which say that nothing was done, and after a connection that was
never made; one whose answer was lost only if it is repeatable. urllib3 could repeat requests itself, but it
would not know the deadline, and would keep the place in the bulkhead meanwhile. It only reads `Retry-After`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from crmclient.dataverse.http.bulkhead import LONGEST_WAIT
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.transport import AttemptFailed, TimedOut
from crmclient.errors import (
    AnswerLost,
    DeadlineExceeded,
    PlatformFailure,
    Throttled,
    Unavailable,
    UnexpectedAnswer,
)
from crmclient.sentences import Sentence

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
DEFAULT_RETRY_AFTER: Final = 5.0

THROTTLED: Final = 429
LONGEST_RETRY_AFTER: Final = 3600.0
"""Seconds. Dataverse counts in windows of five minutes: who asks for more than an hour is mistaken."""

_ERRORS: Final = {THROTTLED: Throttled, 502: UnexpectedAnswer, 503: Unavailable, 504: DeadlineExceeded}
_NOTHING_DONE: Final = frozenset({THROTTLED, 503})
_HEADER: Final = Retry()
"""Used only to read a `Retry-After`: it retries nothing."""


class PassingFailure(Exception):
    """An attempt that came to nothing. `error` is what the caller gets if it was the last; `retry_after` is
    what the platform asks for, in seconds. `repeat`: another attempt may follow. `may_be_done`: the platform
    may have carried the request out all the same."""

    def __init__(
        self,
        outcome: str,
        error: PlatformFailure,
        *,
        repeat: bool,
        may_be_done: bool,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.error = error
        self.repeat = repeat
        self.may_be_done = may_be_done
        self.retry_after = retry_after

    def pause(self, number: int) -> float:
        """Return the seconds to wait after attempt `number`, counted from 0; at least as long as the
        platform asked for.
        """
        jitter = random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**number)  # noqa: S311
        return jitter if self.retry_after is None else self.retry_after + jitter


def passing_status(status: int, wait: float | None, request: Request) -> PassingFailure | None:
    """Return the passing error that a status means; None for any other.

    `wait` is `Retry-After` in seconds.
    """
    error_type = _ERRORS.get(status)
    if error_type is None:
        return None
    # For callers: at most an hour, and a usual pause after a 429 or 503 that names none.
    if wait is None:
        shown_wait = DEFAULT_RETRY_AFTER if status in _NOTHING_DONE else None
    else:
        shown_wait = min(wait, LONGEST_RETRY_AFTER)
    error = error_type(Sentence("The platform answers %(status)s.", status=status), retry_after=shown_wait)
    may_be_done = status not in _NOTHING_DONE
    # Whoever would wait for longer is told at once: a thread that sleeps is lost to all others.
    too_long = wait is not None and wait > LONGEST_WAIT
    repeat = (request.repeatable or not may_be_done) and not too_long
    return PassingFailure(str(status), error, repeat=repeat, may_be_done=may_be_done, retry_after=wait)


def passing_failure(failure: AttemptFailed, request: Request) -> PassingFailure:
    """Return the failure of an attempt without an answer."""
    error: PlatformFailure
    if isinstance(failure, TimedOut):
        error = DeadlineExceeded(str(failure))
    else:
        error_type = AnswerLost if failure.sent and request.method != "GET" else failure.means
        error = error_type(str(failure), retry_after=DEFAULT_RETRY_AFTER)
    repeat = request.repeatable or not failure.sent
    return PassingFailure(failure.outcome, error, repeat=repeat, may_be_done=failure.sent)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the answer asks to wait, by a number or a date; None if it does not say so."""
    text = headers.get("retry-after")
    try:
        return None if text is None else max(0.0, _HEADER.parse_retry_after(text))
    except (InvalidHeader, ValueError, OverflowError):
        return None
