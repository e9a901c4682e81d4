"""Checks the way to an organisation: name, connection, TLS, address, clock, and the tokens for it."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from crmclient.dataverse.advice import advice_on
from crmclient.dataverse.checkup import Outcome, Step
from crmclient.dataverse.http.managed_identity import IdentityUnavailable
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.retries import passing_status, retry_after
from crmclient.dataverse.http.token_refusals import TokenRefused
from crmclient.dataverse.http.tokens import TokenSource
from crmclient.dataverse.http.transport import AttemptFailed, Transport
from crmclient.dataverse.options import Options
from crmclient.errors import PlatformError, Unavailable, UnexpectedAnswer
from crmclient.sentences import Sentence

LARGEST_SKEW: Final = 60.0
"""Seconds by which the clocks may differ before tokens of the one are refused by the other."""

_UNAUTHORIZED: Final = 401


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
        # None unless the status is one of a failure that may pass, such as 503.
        passing = passing_status(answer.status, retry_after(answer.headers), request)
        yield Step(
            "address",
            Outcome.FAILED,
            Sentence("Without a token it answers %(status)s, and should answer 401.", status=answer.status),
            # An organisation that is overloaded or away for maintenance is at the right address.
            Sentence("Set CRM_URL to the organisation's address, such as https://contoso.crm.dynamics.com.")
            if passing is None
            else advice_on(passing.error),
        )
    yield _clock_step(answer.headers)


def _unreachable_step(failure: Exception, options: Options) -> Step:
    """Return the step that says why there is no connection."""
    host = options.root.partition("://")[2].partition("/")[0]
    advice = _connection_advice(failure, "CRM_URL")
    if _has_cause(failure, ssl.SSLError):
        sentence = Sentence(
            "The certificate of %(host)s is not trusted, or TLS is broken on the way: %(reason)s",
            host=host,
            reason=str(failure),
        )
    elif _has_cause(failure, socket.gaierror):
        sentence = Sentence("There is no address for %(host)s.", host=host)
    else:
        sentence = Sentence("%(host)s cannot be reached: %(reason)s", host=host, reason=str(failure))
    return Step("network", Outcome.FAILED, sentence, advice)


def _connection_advice(failure: Exception, setting: str) -> str:
    """Return what to do about a server that cannot be reached. `setting` names the setting with its
    address.
    """
    if _has_cause(failure, ssl.SSLError):
        return Sentence("Where a proxy opens TLS, set REQUESTS_CA_BUNDLE to a file with its authority.")
    if _has_cause(failure, socket.gaierror):
        return Sentence("Correct %(setting)s, or the DNS here.", setting=setting)
    return Sentence("Allow this machine to connect to this address. Behind a proxy, set HTTPS_PROXY.")


def _has_cause(failure: Exception, kind: type[BaseException]) -> bool:
    return any(isinstance(cause, kind) for cause in _causes(failure))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all errors behind it. Libraries keep these as cause, context, `reason` or
    arguments.
    """
    waiting: list[BaseException] = [error]
    seen_ids: set[int] = set()
    while waiting:
        current_error = waiting.pop()
        if id(current_error) in seen_ids:
            continue
        seen_ids.add(id(current_error))
        yield current_error
        parts = (
            current_error.__cause__,
            current_error.__context__,
            getattr(current_error, "reason", None),
            *current_error.args,
        )
        waiting += [part for part in parts if isinstance(part, BaseException)]


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
        seconds = f"{abs(skew):.0f}"
        return Step(
            "clock",
            Outcome.FAILED,
            Sentence("The clock here is %(seconds)s seconds ahead of the platform's.", seconds=seconds)
            if skew > 0
            else Sentence("The clock here is %(seconds)s seconds behind the platform's.", seconds=seconds),
            Sentence("Set this machine's clock by NTP. With a wrong clock, tokens are refused."),
        )
    return Step(
        "clock",
        Outcome.GOOD,
        Sentence("The clocks differ by %(seconds)s seconds.", seconds=f"{abs(skew):.0f}"),
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
                _token_advice(error),
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


def _token_advice(error: PlatformError) -> str:
    """Return what to do about a token that could not be fetched."""
    if isinstance(error, TokenRefused) and error.advice:
        return error.advice
    if isinstance(error, IdentityUnavailable):
        # A proxy or the DNS has no part in it: the endpoint is on the machine itself.
        return Sentence(
            "On Azure, assign an identity to this machine, container or app. Elsewhere, clear "
            "CRM_MANAGED_IDENTITY, and set a secret, a certificate or a federated token."
        )
    # With a cause there was no answer; without one the endpoint has answered that it is away.
    if isinstance(error, Unavailable) and error.__cause__ is not None:
        return _connection_advice(error, "CRM_AUTHORITY or CRM_TOKEN_URL")
    return Sentence(
        "Check CRM_TENANT_ID, CRM_CLIENT_ID, CRM_AUTHORITY, and the secret, certificate or federated "
        "token, which may have expired. A managed identity has to be assigned on Azure."
    )
