"""Checks the way to an organisation: name, connection, TLS, address, clock, and the tokens for it."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from crmclient.dataverse.advice import CERTIFICATE_ADVICE, advice_on, unknown_host_advice
from crmclient.dataverse.checkup import Outcome, Step
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import error_of
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.http.retries import passing_status, retry_after
from crmclient.dataverse.http.tokens import TokenSource
from crmclient.dataverse.http.transport import AttemptFailed, NameUnknown, NotTrusted, TimedOut, Transport
from crmclient.dataverse.options import Options
from crmclient.durations import duration
from crmclient.errors import (
    DeadlineExceeded,
    MissingPrivilege,
    PlatformError,
    PlatformFault,
    UnexpectedAnswer,
)
from crmclient.sentences import Counted, Sentence

LARGEST_SKEW: Final = 60.0
"""Seconds by which the clocks may differ before tokens of the one are refused by the other."""

_ORGANIZATION: Final = Subject(Kind.METADATA)
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403


def check_connection(options: Options) -> Iterator[Step]:
    """Check name, connection, TLS, address and clock by one request without a token. Yield a step
    for each.
    """
    request = Request("GET", f"{options.base}WhoAmI()", {"Accept": "application/json"})
    start = time.monotonic()
    try:
        answer = Transport(options).send(request, start + options.timeout)
    except (AttemptFailed, UnexpectedAnswer) as failure:
        yield _unreachable_step(failure, options)
        return
    took = round((time.monotonic() - start) * 1000)
    yield Step(
        "network",
        Outcome.GOOD,
        Sentence("%(address)s answers in %(took)s ms.", address=options.root, took=took),
    )
    if answer.status == _UNAUTHORIZED:
        yield Step("address", Outcome.GOOD, Sentence("It asks for a token."))
    else:
        yield _wrong_answer_step(answer, request)
    yield _clock_step(answer.headers)


def _wrong_answer_step(answer: Answer, request: Request) -> Step:
    """Return the failed step for an answer, to `request` without a token, that is not 401."""
    # None unless the status is one of a failure that may pass, such as 503.
    passing = passing_status(answer.status, retry_after(answer.headers), request)
    error = error_of(answer, _ORGANIZATION, acting=False) if passing is None else passing.error
    if passing is not None or isinstance(error, PlatformFault):
        # An organisation that is overloaded, away for maintenance or at fault is at the right address.
        advice = advice_on(error)
    elif answer.status == _FORBIDDEN and not isinstance(error, MissingPrivilege):
        advice = Sentence(
            "This is not Dataverse's answer, and no matter of privileges: a firewall or a proxy on the way "
            "forbids the request. Have it let this machine reach CRM_URL, or correct CRM_URL."
        )
    else:
        advice = Sentence(
            "Set CRM_URL to the organisation's address, such as https://contoso.crm.dynamics.com."
        )
    return Step(
        "address",
        Outcome.FAILED,
        Sentence("Without a token it answers %(status)s, and should answer 401.", status=answer.status),
        advice,
    )


def _unreachable_step(failure: Exception, options: Options) -> Step:
    """Return the step that says why there is no connection."""
    host = options.root.partition("://")[2].partition("/")[0]
    sentence = Sentence("%(host)s cannot be reached: %(reason)s", host=host, reason=str(failure))
    advice: str = Sentence("Allow this machine to connect to this address. Behind a proxy, set HTTPS_PROXY.")
    if isinstance(failure, NotTrusted):
        sentence = Sentence(
            "The certificate of %(host)s is not trusted (%(problem)s).", host=host, problem=failure.problem
        )
        advice = CERTIFICATE_ADVICE
    elif isinstance(failure, NameUnknown):
        sentence = Sentence("There is no address for %(host)s.", host=host)
        advice = unknown_host_advice("CRM_URL")
    elif isinstance(failure, TimedOut):
        # There is a connection, so that nothing on the way forbids it.
        advice = advice_on(DeadlineExceeded(str(failure)))
    elif isinstance(failure, UnexpectedAnswer):
        advice = advice_on(failure)
    return Step("network", Outcome.FAILED, sentence, advice)


def _clock_step(headers: Mapping[str, str]) -> Step:
    """Return the step that compares this machine's clock with the platform's, from the `Date` of an
    answer.
    """
    try:
        platform_time = parsedate_to_datetime(headers.get("date", ""))
        skew = (dt.datetime.now(dt.UTC) - platform_time).total_seconds()
    except (TypeError, ValueError):
        # TypeError: a time without an offset from UTC, which cannot be subtracted.
        return Step(
            "clock",
            Outcome.WARNING,
            Sentence("The answer has no time, so the clocks cannot be compared."),
        )
    if abs(skew) > LARGEST_SKEW:
        difference = duration(round(abs(skew)))
        return Step(
            "clock",
            Outcome.FAILED,
            Sentence("The clock here is %(time)s ahead of the platform's.", time=difference)
            if skew > 0
            else Sentence("The clock here is %(time)s behind the platform's.", time=difference),
            Sentence("Set this machine's clock by NTP. With a wrong clock, tokens are refused."),
        )
    return Step(
        "clock",
        Outcome.GOOD,
        Counted(
            "The clocks differ by %(number)s second.",
            "The clocks differ by %(number)s seconds.",
            round(abs(skew)),
        ),
    )


def check_tokens(sources: Mapping[str, TokenSource], options: Options) -> Iterator[Step]:
    """Fetch a token for each application; `sources` has them by client id. Yield a step for each."""
    for client_id, source in sources.items():
        try:
            token = source.fetch(options.timeout)
        except PlatformError as error:
            yield Step(
                "token",
                Outcome.FAILED,
                Sentence("%(client)s: %(reason)s", client=client_id, reason=str(error)),
                advice_on(error),
            )
        else:
            yield Step(
                "token",
                Outcome.GOOD,
                Sentence(
                    "%(client)s: good for %(minutes)s minutes.",
                    client=client_id,
                    minutes=f"{token.lifetime / 60:.0f}",
                ),
            )
