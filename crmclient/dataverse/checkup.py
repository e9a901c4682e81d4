"""Checks, step by step, what an organisation lets the service do, and says what to do if not.

`connection_checkup` checks the way to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final

from crmclient.dataverse.advice import advice_on, privilege_advice
from crmclient.dataverse.failures import ACT_FOR_OTHERS
from crmclient.dataverse.http.budget import Budget
from crmclient.errors import (
    MissingPrivilege,
    PlatformError,
    Throttled,
    UnexpectedAnswer,
    UnknownEntity,
    UnknownProcess,
)
from crmclient.metadata_parts import (
    LANGUAGES,
    OPTION_SETS,
    PROCESSES,
    SECURITY_ROLES,
    TEAMS,
    VIEWS,
    parts_by_privilege,
    parts_in_words,
)
from crmclient.optional_abilities import KeepsMetadata, OffersViews, TellsPrivileges
from crmclient.platform import Call, Platform
from crmclient.query.ast import ALL, Column, Query
from crmclient.sentences import Sentence

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


def check_pause(budget: Budget) -> Iterator[Step]:
    """Yield a failed step while the platform has asked every application user for a pause.

    Nothing is sent before its end, with a token or without one.
    """
    seconds = min((user.pause for user in budget.use_of_users()), default=0.0)
    if seconds > 0:
        sentence = Sentence("The platform has asked the service to pause, and the pause is not over.")
        yield Step("pause", Outcome.FAILED, sentence, advice_on(Throttled(sentence, retry_after=seconds)))


def check_organization(platform: Platform, *, impersonates: bool) -> Iterator[Step]:
    """Check who the service is in Dataverse, the metadata and, with `impersonates`, whether it may act for
    others.
    """
    yield from _run_step("who", lambda: _who(platform), _NO_USER)
    fails = False
    for step in _run_step("metadata", lambda: _count_entities(platform), _CUSTOMIZATIONS):
        fails = step.outcome is Outcome.FAILED
        yield step
    if not fails:
        yield from _unknown_metadata(platform)
    if impersonates:
        yield from _run_step(
            "impersonation",
            lambda: _act_for_user(platform),
            Sentence("Give the application user the privilege prvActOnBehalfOfAnotherUser (role Delegate)."),
        )


def check_entities(platform: Platform, entities: Iterable[str]) -> Iterator[Step]:
    """Check whether the service may read a record of each of `entities`. Yield a step for each."""
    roles = own_roles(platform)
    for entity in sorted(entities):
        yield from _run_step(f"read {entity}", partial(_read_first_record, platform, entity), "", roles)


def own_roles(platform: Platform) -> tuple[str, ...]:
    """Return the names of the account's own security roles; none where they may not be read."""
    try:
        return platform.user(platform.who()).security_roles
    except PlatformError:
        return ()


@dataclass(frozen=True, slots=True)
class _Doubtful:
    """An answer that may be right or wrong, and what to do in the second case."""

    said: str
    advice: str


def _run_step(
    name: str, ask: Callable[[], str | _Doubtful], advice: str, roles: tuple[str, ...] = ()
) -> Iterator[Step]:
    """Run `ask`, and yield a step with its answer or with the failure and what to do about it.

    `advice` is for failures that do not tell their cause; empty for none. `roles` are the account's security
    roles, for failures that a privilege would mend.
    """
    try:
        answer = ask()
        if isinstance(answer, _Doubtful):
            yield Step(name, Outcome.WARNING, answer.said, answer.advice)
        else:
            yield Step(name, Outcome.GOOD, answer)
    except MissingPrivilege as error:
        # A privilege without a name could only be called a privilege: the advice of the step says more.
        yield Step(
            name,
            Outcome.FAILED,
            _lacks(error.privilege),
            advice if advice and not error.privilege else privilege_advice(error.privilege, roles),
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
    """Return the sentence about a missing privilege, which is empty when Dataverse does not name it."""
    privilege_name = privilege or Sentence("a privilege")
    return Sentence("The application user lacks %(privilege)s.", privilege=privilege_name)


def _who(platform: Platform) -> str | _Doubtful:
    """Return who the service is in Dataverse, with its security roles."""
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


def _count_entities(platform: Platform) -> str:
    """Read the metadata of all entities. Return how many there are and how long it took, as a sentence."""
    start = time.monotonic()
    count = len(platform.entities())
    took = f"{time.monotonic() - start:.1f}"
    return Sentence("%(count)s entities in %(seconds)s s.", count=count, seconds=took)


def _unknown_metadata(platform: Platform) -> Iterator[Step]:
    """Yield a step for each part of the metadata that the platform does not give, and for each privilege
    that the application user lacks for some.
    """
    copied_parts: dict[str, Callable[[], object]] = {
        OPTION_SETS: platform.option_sets,
        PROCESSES: platform.processes,
        LANGUAGES: platform.languages,
    }
    for part, ask in copied_parts.items():
        # The platform notes a privilege that is missing for one of these: `missing_privileges` has it below.
        with suppress(MissingPrivilege):
            yield from _check_part(part, ask)
    missing: list[tuple[str, str]] = []
    # These are read anew each time, so their privilege is told by the error alone. Users whose teams may not
    # be read seem to have none.
    parts_read_anew: dict[str, Callable[[], object]] = {
        SECURITY_ROLES: platform.security_roles,
        TEAMS: lambda: platform.query(Query("team", (Column("teamid"),), top=1), ALL),
        VIEWS: lambda: _read_views(platform),
    }
    for part, ask in parts_read_anew.items():
        try:
            yield from _check_part(part, ask)
        except MissingPrivilege as error:
            missing.append((part, error.privilege))
    if isinstance(platform, KeepsMetadata):
        missing += platform.missing_privileges().items()
    for privilege, parts in parts_by_privilege(missing).items():
        yield Step(
            "metadata",
            Outcome.WARNING,
            _not_known(parts, _lacks(privilege)),
            Sentence("%(advice)s Then refresh the metadata.", advice=privilege_advice(privilege)),
        )


def _read_views(platform: Platform) -> None:
    """Read the organisation's views of its users. Raises MissingPrivilege, and what else reading raises."""
    users = platform.conventions.users
    if isinstance(platform, OffersViews) and users is not None:
        views = platform.saved_views(users.entity)
        if views.denied is not None:
            raise views.denied


def _check_part(part: str, ask: Callable[[], object]) -> Iterator[Step]:
    """Read a part of the metadata with `ask`. Yield a failed step if the platform does not give it, else
    nothing.

    Raises MissingPrivilege.
    """
    try:
        ask()
    except MissingPrivilege:
        raise
    except PlatformError as error:
        said = _not_known((part,), str(error))
        yield Step("metadata", Outcome.FAILED, said, advice_on(error) or _CUSTOMIZATIONS)


def _not_known(parts: Iterable[str], reason: str) -> Sentence:
    """Return the sentence about parts of the metadata, by their keys, that are not known, and why."""
    return Sentence("Not known: %(parts)s. %(lacks)s", parts=parts_in_words(parts), lacks=reason)


def _act_for_user(platform: Platform) -> str:
    """Read the service's own user as that user, which needs the right to act for others.

    Return the sentence for a success. Raises PlatformError, such as MissingPrivilege.
    """
    service_user = platform.who()
    users = platform.conventions.users
    platform.retrieve(users.entity if users else "", service_user, (), call=Call(caller=service_user))
    if isinstance(platform, TellsPrivileges):
        # An account that acts for itself may be let in without the privilege.
        try:
            lacks_privilege = not platform.reach_of_privileges([ACT_FOR_OTHERS])
        except (UnknownProcess, UnexpectedAnswer):
            lacks_privilege = False
        if lacks_privilege:
            raise MissingPrivilege(ACT_FOR_OTHERS)
    return Sentence("The service may act for users.")


def _read_first_record(platform: Platform, entity: str) -> str:
    """Read one record of an entity. Return whether there was one, as a sentence. Raises PlatformError."""
    definition = platform.entities().get(entity)
    if definition is None:
        raise UnknownEntity(entity)
    answer = platform.query(Query(entity, (Column(definition.primary_id),), top=1), ALL)
    if answer.rows:
        return Sentence("may be read.")
    return Sentence("can be read, but the application user may see none of its records.")
