"""Checks, step by step, whether an organisation can be reached and used, and says what to do if not."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from functools import partial
from typing import Final

from crmclient.dataverse.advice import advice_on, privilege_advice
from crmclient.dataverse.http.budget import Budget
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.retries import passing_status, retry_after
from crmclient.dataverse.http.token_refusals import TokenRefused
from crmclient.dataverse.http.tokens import TokenSource
from crmclient.dataverse.http.transport import AttemptFailed, Transport
from crmclient.dataverse.options import Options
from crmclient.errors import (
    MissingPrivilege,
    PlatformError,
    Throttled,
    Unavailable,
    UnexpectedAnswer,
    UnknownEntity,
)
from crmclient.optional_abilities import KeepsMetadata
from crmclient.platform import Call, Platform
from crmclient.query.ast import ALL, Column, Query
from crmclient.sentences import Sentence

LARGEST_SKEW: Final = 60.0
"""Seconds by which the clocks may differ before tokens of the one are refused by the other."""

_UNAUTHORIZED: Final = 401
_NO_USER: Final = Sentence("Add the application as an application user there, with a security role.")
_CUSTOMIZATIONS: Final = Sentence("Its security role must read customizations.")


class Outcome(str, Enum):
    GOOD = "good"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the check: what was tried, how it came out, and what to do if it failed."""

    name: str
    outcome: Outcome
    said: str
    advice: str = ""


def rested(budget: Budget) -> Iterator[Step]:
    """Yield a failed step while the platform has asked every application user for a pause.

    Nothing is sent before its end, with a token or without one.
    """
    seconds = min((user.pause for user in budget.use_of_users()), default=0.0)
    if seconds > 0:
        sentence = Sentence("The platform has asked the service to pause, and the pause is not over.")
        yield Step("pause", Outcome.FAILED, sentence, advice_on(Throttled(sentence, retry_after=seconds)))


def reached(options: Options) -> Iterator[Step]:
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
    yield _clock(answer.headers)


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


def _clock(headers: Mapping[str, str]) -> Step:
    """Return the step that compares this machine's clock with the platform's, from the `Date` of an
    answer.
    """
    try:
        platform_time = parsedate_to_datetime(headers.get("date", ""))
        skew = (dt.datetime.now(dt.UTC) - platform_time).total_seconds()
    except (TypeError, ValueError):
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


def authorized(sources: Mapping[str, TokenSource], options: Options) -> Iterator[Step]:
    """Fetch a token for each application; `sources` has them by client id. Yield a step for each."""
    for client_id, source in sources.items():
        try:
            token = source.fetch(options.timeout)
        except PlatformError as error:
            yield Step(
                "token",
                Outcome.FAILED,
                Sentence("%(client)s: %(reason)s", client=client_id, reason=str(error)),
                _about_tokens(error),
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


def _about_tokens(error: PlatformError) -> str:
    if isinstance(error, TokenRefused) and error.advice:
        return error.advice
    if isinstance(error, Unavailable) and error.__cause__ is not None:
        return _connection_advice(error, "CRM_AUTHORITY or CRM_TOKEN_URL")
    return Sentence(
        "Check CRM_TENANT_ID, CRM_CLIENT_ID, CRM_AUTHORITY, and the secret, certificate or federated "
        "token, which may have expired. A managed identity has to be assigned on Azure."
    )


def used(platform: Platform, *, impersonates: bool) -> Iterator[Step]:
    """Check who the service is in Dataverse, the metadata and, with `impersonates`, whether it may act for
    others.
    """
    yield from _run_step("who", lambda: _who(platform), _NO_USER)
    fails = False
    for step in _run_step("metadata", lambda: _metadata(platform), _CUSTOMIZATIONS):
        fails = step.outcome is Outcome.FAILED
        yield step
    if not fails:
        yield from _unknown_metadata(platform)
    if impersonates:
        yield from _run_step(
            "impersonation",
            lambda: _acting(platform),
            Sentence("Give the application user the privilege prvActOnBehalfOfAnotherUser (role Delegate)."),
        )


def readable(platform: Platform, entities: Iterable[str]) -> Iterator[Step]:
    """Check whether the service may read a record of each of `entities`. Yield a step for each."""
    for entity in sorted(entities):
        yield from _run_step(f"read {entity}", partial(_read, platform, entity), "")


@dataclass(frozen=True, slots=True)
class _Doubtful:
    """An answer that may be right or wrong, and what to do in the second case."""

    said: str
    advice: str


def _run_step(name: str, ask: Callable[[], str | _Doubtful], advice: str) -> Iterator[Step]:
    """Run `ask`, and yield a step with its answer or with the failure and what to do about it.

    `advice` is for failures that do not tell their cause.
    """
    try:
        answer = ask()
        if isinstance(answer, _Doubtful):
            yield Step(name, Outcome.WARNING, answer.said, answer.advice)
        else:
            yield Step(name, Outcome.GOOD, answer)
    except MissingPrivilege as error:
        yield Step(
            name,
            Outcome.FAILED,
            _lacks(error.privilege),
            advice if advice and not error.privilege else advice_on(error),
        )
    except UnknownEntity as error:
        yield Step(
            name,
            Outcome.FAILED,
            str(error),
            Sentence("Remove the parts of the configuration that use this entity."),
        )
    except PlatformError as error:
        yield Step(name, Outcome.FAILED, str(error), advice_on(error) or advice)


def _lacks(privilege: str) -> Sentence:
    privilege_name = privilege or Sentence("a privilege")
    return Sentence("The application user lacks %(privilege)s.", privilege=privilege_name)


def _who(platform: Platform) -> str | _Doubtful:
    user = platform.user(platform.who())
    name = user.full_name or user.id
    if user.security_roles:
        return Sentence("%(user)s, with %(roles)s.", user=name, roles=", ".join(user.security_roles))
    return _Doubtful(
        Sentence(
            "%(user)s has no security role of its own, or may not read security roles (prvReadRole).",
            user=name,
        ),
        Sentence(
            "If the next steps fail, assign a security role to the application user. A role of one of its "
            "teams is enough, and is not shown here."
        ),
    )


def _metadata(platform: Platform) -> str:
    start = time.monotonic()
    count = len(platform.entities())
    took = f"{time.monotonic() - start:.1f}"
    return Sentence("%(count)s entities in %(seconds)s s.", count=count, seconds=took)


def _unknown_metadata(platform: Platform) -> Iterator[Step]:
    """Yield a step for each part of the metadata that the platform does not give, and for each privilege
    that the application user lacks for some.
    """
    asks: dict[str, Callable[[], object]] = {
        "option sets": platform.option_sets,
        "processes": platform.processes,
        "languages": platform.languages,
    }
    for part, ask in asks.items():
        # A missing privilege is kept beside what is known.
        with suppress(MissingPrivilege):
            yield from _unless_given(part, ask)
    lacking = defaultdict[str, list[str]](list)
    try:
        yield from _unless_given("security roles", platform.security_roles)
    except MissingPrivilege as error:
        lacking[error.privilege].append("security roles")
    for part, privilege in (
        platform.missing_privileges() if isinstance(platform, KeepsMetadata) else {}
    ).items():
        lacking[privilege].append(part)
    for privilege, names in lacking.items():
        yield Step(
            "metadata",
            Outcome.WARNING,
            _not_known(", ".join(names), _lacks(privilege)),
            Sentence("%(advice)s Then refresh the metadata.", advice=privilege_advice(privilege)),
        )


def _unless_given(part: str, ask: Callable[[], object]) -> Iterator[Step]:
    """Yield a failed step where the platform does not give a part of the metadata.

    Raises MissingPrivilege.
    """
    try:
        ask()
    except MissingPrivilege:
        raise
    except PlatformError as error:
        said = _not_known(part, str(error))
        yield Step("metadata", Outcome.FAILED, said, advice_on(error) or _CUSTOMIZATIONS)


def _not_known(parts: str, reason: str) -> Sentence:
    return Sentence("Not known: %(parts)s. %(lacks)s", parts=parts, lacks=reason)


def _acting(platform: Platform) -> str:
    service_user = platform.who()
    users = platform.conventions.users
    platform.retrieve(users.entity if users else "", service_user, (), call=Call(caller=service_user))
    return Sentence("The service may act for users.")


def _read(platform: Platform, entity: str) -> str:
    definition = platform.entities().get(entity)
    if definition is None:
        raise UnknownEntity(entity)
    answer = platform.query(Query(entity, (Column(definition.primary_id),), top=1), ALL)
    if answer.rows:
        return Sentence("may be read.")
    return Sentence("can be read, but the application user may see none of its records.")
