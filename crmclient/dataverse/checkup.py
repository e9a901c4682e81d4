"""Whether an organisation can be reached and used, step by step, each with what to do where it cannot."""

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

from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.http.tokens import TokenSource
from crmclient.dataverse.http.transport import AttemptFailed, Transport
from crmclient.dataverse.options import Options
from crmclient.errors import MissingPrivilege, PlatformError, UnexpectedAnswer, UnknownEntity
from crmclient.platform import Call, KeepsMetadata, Platform
from crmclient.query.ast import ALL, Column, Query

LARGEST_SKEW: Final = 60.0
"""Seconds by which the clocks may differ before tokens of the one are refused by the other."""

_UNAUTHORIZED: Final = 401


class Outcome(str, Enum):
    GOOD = "good"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """What was tried, how it came out, and what to do where that was not well."""

    name: str
    outcome: Outcome
    said: str
    advice: str = ""


def reached(options: Options) -> Iterator[Step]:
    """Name, connection, TLS, the address, and the clock: one request without a token."""
    request = Request("GET", f"{options.base}WhoAmI()", {"Accept": "application/json"})
    start = time.monotonic()
    try:
        answer = Transport(options).send(request, start + options.timeout)
    except (AttemptFailed, UnexpectedAnswer) as failure:
        yield _unreached(failure, options)
        return
    took = round((time.monotonic() - start) * 1000)
    yield Step("network", Outcome.GOOD, f"{options.root} answers in {took} ms.")
    if answer.status == _UNAUTHORIZED:
        yield Step("address", Outcome.GOOD, "It asks for a token.")
    else:
        yield Step(
            "address",
            Outcome.FAILED,
            f"Without a token it answers {answer.status}, and should answer 401.",
            "Set CRM_URL to the organisation's address, such as https://contoso.crm.dynamics.com.",
        )
    yield _clock(answer.headers)


def _unreached(failure: Exception, options: Options) -> Step:
    causes = list(_causes(failure))
    host = options.root.partition("://")[2].partition("/")[0]
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Step(
            "network",
            Outcome.FAILED,
            f"The certificate of {host} is not trusted, or TLS is broken on the way: {failure}",
            "Where a proxy opens TLS, set REQUESTS_CA_BUNDLE to a file with its authority.",
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return Step(
            "network", Outcome.FAILED, f"There is no address for {host}.", "Correct CRM_URL, or the DNS here."
        )
    return Step(
        "network",
        Outcome.FAILED,
        f"{host} cannot be reached: {failure}",
        "Let this machine connect to it. Behind a proxy, set HTTPS_PROXY.",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and all that it was made of: libraries hand theirs on as causes, reasons and arguments."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        parts = (each.__cause__, each.__context__, getattr(each, "reason", None), *each.args)
        waiting += [part for part in parts if isinstance(part, BaseException)]


def _clock(headers: Mapping[str, str]) -> Step:
    try:
        there = parsedate_to_datetime(headers.get("date", ""))
        skew = (dt.datetime.now(dt.UTC) - there).total_seconds()
    except (TypeError, ValueError):
        return Step("clock", Outcome.WARNING, "The answer says no time, so the clocks cannot be compared.")
    if abs(skew) > LARGEST_SKEW:
        which = "ahead of" if skew > 0 else "behind"
        return Step(
            "clock",
            Outcome.FAILED,
            f"The clock here is {abs(skew):.0f} seconds {which} the platform's.",
            "Let this machine's clock be set by NTP: tokens would be refused.",
        )
    return Step("clock", Outcome.GOOD, f"The clocks differ by {abs(skew):.0f} seconds.")


def authorized(sources: Mapping[str, TokenSource], options: Options) -> Iterator[Step]:
    """A token for each application, by its id."""
    for client_id, source in sources.items():
        try:
            token = source.fetch(options.timeout)
        except PlatformError as error:
            yield Step(
                "token",
                Outcome.FAILED,
                f"{client_id}: {error}",
                "Check CRM_TENANT_ID, CRM_CLIENT_ID, CRM_AUTHORITY, and the secret, certificate or federated "
                "token, which may have expired. A managed identity has to be assigned on Azure.",
            )
        else:
            yield Step("token", Outcome.GOOD, f"{client_id}: good for {token.lifetime / 60:.0f} minutes.")


def used(platform: Platform, *, impersonates: bool) -> Iterator[Step]:
    """Who the service is there, the metadata, and whether it may act for others."""
    yield from _told("who", lambda: _who(platform), "Add the application as an application user there.")
    yield from _told("metadata", lambda: _metadata(platform), "Its security role must read customizations.")
    yield from _untold(platform)
    if impersonates:
        yield from _told(
            "impersonation",
            lambda: _acting(platform),
            "Give the application user the privilege prvActOnBehalfOfAnotherUser (role Delegate).",
        )


def readable(platform: Platform, entities: Iterable[str]) -> Iterator[Step]:
    """Whether the service may read a record of each of `entities`."""
    for entity in sorted(entities):
        yield from _told(f"read {entity}", partial(_read, platform, entity), "")


def _told(name: str, ask: Callable[[], str], advice: str) -> Iterator[Step]:
    try:
        yield Step(name, Outcome.GOOD, ask())
    except MissingPrivilege as error:
        privilege = error.privilege or "a privilege"
        yield Step(
            name,
            Outcome.FAILED,
            f"The application user lacks {privilege}.",
            f"Add {privilege} to its security role, for the organisation.",
        )
    except UnknownEntity as error:
        yield Step(name, Outcome.FAILED, str(error), "Take what reads it out of the configuration.")
    except PlatformError as error:
        yield Step(name, Outcome.FAILED, str(error), advice)


def _who(platform: Platform) -> str:
    user = platform.user(platform.who())
    roles = ", ".join(user.security_roles) or "no security role that it may see"
    return f"{user.full_name or user.id}, with {roles}."


def _metadata(platform: Platform) -> str:
    start = time.monotonic()
    count = len(platform.entities())
    return f"{count} entities in {time.monotonic() - start:.1f} s."


def _untold(platform: Platform) -> Iterator[Step]:
    """What the application user may not read of the metadata, a privilege a step."""
    parts = defaultdict[str, list[str]](list)
    try:
        for ask in (platform.option_sets, platform.processes, platform.languages):
            # Kept beside what is known.
            with suppress(MissingPrivilege):
                ask()
        try:
            platform.security_roles()
        except MissingPrivilege as error:
            parts[error.privilege].append("security roles")
        unknown = platform.missing_privileges() if isinstance(platform, KeepsMetadata) else {}
    except PlatformError as error:
        yield Step("metadata", Outcome.FAILED, str(error), "Its security role must read customizations.")
        return
    for part, privilege in unknown.items():
        parts[privilege].append(part)
    for privilege, names in parts.items():
        named = privilege or "a privilege"
        yield Step(
            "metadata",
            Outcome.WARNING,
            f"Not known: {', '.join(names)}. The application user lacks {named}.",
            f"Add {named} to its security role, for the organisation, and run manage.py refreshmetadata.",
        )


def _acting(platform: Platform) -> str:
    own = platform.who()
    users = platform.conventions.users
    platform.retrieve(users.entity if users else "", own, (), call=Call(caller=own))
    return "The service may act for users."


def _read(platform: Platform, entity: str) -> str:
    known = platform.entities().get(entity)
    if known is None:
        raise UnknownEntity(entity)
    found = platform.query(Query(entity, (Column(known.primary_id),), top=1), ALL)
    return "may be read." if found.rows else "may be read, and has no record that it may see."
