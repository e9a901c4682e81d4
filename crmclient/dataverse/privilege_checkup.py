"""Checks whether the service's own account has the privileges that it needs, and which records they reach."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crmclient.dataverse.advice import advice_on, privilege_advice
from crmclient.dataverse.checkup import Outcome, Step, own_roles
from crmclient.errors import MissingPrivilege, PlatformError
from crmclient.optional_abilities import AccessRight, Privilege, Reach, TellsPrivileges
from crmclient.platform import Platform
from crmclient.sentences import Sentence
from crmclient.values import Guid

_NAME: Final = "privileges"
_PROCESSES: Final = "processes"
_COMPARE: Final = Sentence("Compare its security role with what the endpoints create, change and delete.")
_MOST_USERS_NAMED: Final = 3
_RECORDS_REACHED: Final[Mapping[Reach, Sentence]] = {
    Reach.OWN: Sentence("its own records"),
    Reach.UNIT: Sentence("the records of its business unit"),
    Reach.UNITS: Sentence("the records of its business unit and of those below"),
}
"""By reach, what is reached in words; without the reach that leaves nothing out."""


@dataclass(frozen=True, slots=True)
class Need:
    """A right to records of `entity`, and what needs it: `users`, by the names that people give them.

    `is_certain`: without the right they cannot work at all; else some of their calls can.
    """

    entity: str
    right: AccessRight
    users: tuple[str, ...]
    is_certain: bool = True


def check_privileges(
    platform: Platform,
    needs: Iterable[Need],
    unknown: Mapping[str, PlatformError],
    *,
    read: Collection[str] = (),
) -> Iterator[Step]:
    """Compare the privileges that are needed with those that the account has. Yield a failed step for each
    that it lacks, a good one for each entity of which it has all, and a warning for those that do not reach
    all records.

    `unknown` has, by its name, why nobody knows what a further user needs. That is a warning, and so is a
    platform that does not tell: the first call that needs a privilege will. `read` are entities whose records
    are read: how far that reaches is told as well, but `check_entities` tells whether they may be read.
    """
    yield from _unknown_user_steps(unknown)
    needs = list(needs)
    entities = sorted({need.entity for need in needs} | set(read))
    if not entities or not isinstance(platform, TellsPrivileges):
        return
    try:
        privileges = platform.privileges_of_entities(entities)
        held = platform.held_privileges()
    except PlatformError as error:
        said = Sentence(
            "Unknown: which privileges the application user has for %(entities)s.",
            entities=", ".join(sorted({need.entity for need in needs})),
        )
        yield _unknown_step(said, error)
        return
    # Not every entity knows every right: what belongs to the organisation cannot be assigned.
    wanted = [
        (need, privileges[need.entity][need.right])
        for need in needs
        if need.right in privileges.get(need.entity, {})
    ]
    roles = own_roles(platform)
    yield from _steps(wanted, held, roles)
    reading = [
        privileges[entity][AccessRight.READ]
        for entity in sorted(read)
        if AccessRight.READ in privileges.get(entity, {})
    ]
    # A new record is the account's own: any reach lets it be made.
    reaching = [privilege for need, privilege in wanted if need.right is not AccessRight.CREATE]
    at_hand = [privilege for privilege in (*reading, *reaching) if privilege.id in held]
    yield from _reach_steps(platform, tuple(dict.fromkeys(at_hand)), roles)


@dataclass(frozen=True, slots=True)
class RunProcess:
    """A process that is run, with the privilege that running it needs, and `users` as of Need.

    `privilege` is empty where everybody may run it. `is_known`: it is known which rights to records it needs.
    """

    name: str
    privilege: str
    users: tuple[str, ...]
    is_known: bool


def check_processes(platform: Platform, processes: Sequence[RunProcess]) -> Iterator[Step]:
    """Yield a step for each privilege that running a process needs: a failed one if the account lacks it.
    Then yield a warning about processes of which nobody knows which rights to records they need.
    """
    yield from _steps_of_running(platform, [process for process in processes if process.privilege])
    unknown = [process for process in processes if not process.is_known]
    if not unknown:
        return
    yield Step(
        _PROCESSES,
        Outcome.WARNING,
        Sentence(
            "Unknown: which privileges these processes need: %(processes)s. Run by: %(endpoints)s",
            processes=_names_of(unknown),
            endpoints=_users_of(unknown),
        ),
        Sentence("Call each for real with “Try it”: a refusal names the privilege that is missing."),
    )


def _steps_of_running(platform: Platform, processes: Sequence[RunProcess]) -> Iterator[Step]:
    """Yield the steps for the privileges without which nobody may run `processes`."""
    if not isinstance(platform, TellsPrivileges):
        return
    by_privilege = defaultdict[str, list[RunProcess]](list)
    for process in processes:
        by_privilege[process.privilege].append(process)
    try:
        missing = _missing_names(platform, by_privilege)
    except PlatformError as error:
        said = Sentence(
            "Unknown: whether the application user may run these processes: %(processes)s.",
            processes=_names_of(processes),
        )
        yield _unknown_step(said, error, step=_PROCESSES)
        return
    roles = own_roles(platform) if missing else ()
    for privilege, run in by_privilege.items():
        if privilege in missing:
            said = Sentence(
                "The application user lacks %(privilege)s and cannot run these processes: %(processes)s. Run "
                "by: %(endpoints)s",
                privilege=privilege,
                processes=_names_of(run),
                endpoints=_users_of(run),
            )
            yield Step(_PROCESSES, Outcome.FAILED, said, privilege_advice(privilege, roles))
        else:
            said = Sentence(
                "The application user has %(privilege)s and can run these processes: %(processes)s.",
                privilege=privilege,
                processes=_names_of(run),
            )
            yield Step(_PROCESSES, Outcome.GOOD, said)


def _missing_names(platform: TellsPrivileges, names: Collection[str]) -> Collection[str]:
    """Return those of the privileges `names` that the account lacks. Raises PlatformError."""
    # The answer has no names, but ids: where it has as many as were asked for, none is missing.
    if not names or len(platform.reach_of_privileges(names)) == len(names):
        return ()
    return [name for name in names if not platform.reach_of_privileges([name])]


def _reach_steps(
    platform: TellsPrivileges, privileges: Sequence[Privilege], roles: tuple[str, ...]
) -> Iterator[Step]:
    """Yield a warning for the privileges that reach the records of one user or business unit only, or
    because nobody tells how far they reach. `privileges` are those that the account has.
    """
    if not privileges:
        return
    try:
        reaches = platform.reach_of_privileges([privilege.name for privilege in privileges])
    except PlatformError as error:
        said = Sentence("Unknown: how far the privileges of the application user reach.")
        yield _unknown_step(said, error)
        return
    for reach, records in _RECORDS_REACHED.items():
        limited = ", ".join(privilege.name for privilege in privileges if reaches.get(privilege.id) is reach)
        if limited:
            yield Step(
                "reach",
                Outcome.WARNING,
                Sentence(
                    "The application user has %(privileges)s only for %(records)s. Calls cannot find or "
                    "change other records.",
                    privileges=limited,
                    records=records,
                ),
                privilege_advice(limited, roles),
            )


def _unknown_user_steps(unknown: Mapping[str, PlatformError]) -> Iterator[Step]:
    """Yield a warning for each reason why nobody knows what some users need."""
    users_by_reason = defaultdict[str, list[str]](list)
    for user, error in unknown.items():
        users_by_reason[str(error)].append(user)
    for users in users_by_reason.values():
        said = Sentence("Unknown: what is needed by %(endpoints)s", endpoints=_users_in_words(tuple(users)))
        yield _unknown_step(said, unknown[users[0]])


def _steps(
    wanted: Sequence[tuple[Need, Privilege]], held: Collection[Guid], roles: tuple[str, ...]
) -> Iterator[Step]:
    """Yield the steps for needs with the privilege of each, entity by entity. `roles` are the account's."""
    missing = {privilege: need for need, privilege in wanted if need.is_certain and privilege.id not in held}
    held_by_entity = defaultdict[str, dict[str, None]](dict)
    for need, privilege in wanted:
        if privilege.id in held:
            held_by_entity[need.entity][privilege.name] = None
    for entity in sorted({need.entity for need, _ in wanted}):
        of_entity = [(privilege, need) for privilege, need in missing.items() if need.entity == entity]
        for privilege, need in of_entity:
            yield _missing_step(privilege, need, roles)
        if entity in held_by_entity and not of_entity:
            yield Step(
                f"{_NAME} {entity}",
                Outcome.GOOD,
                Sentence(
                    "The application user has %(privileges)s.", privileges=", ".join(held_by_entity[entity])
                ),
            )
    perhaps_missing = [
        privilege for _, privilege in wanted if privilege.id not in held and privilege not in missing
    ]
    if perhaps_missing:
        yield _perhaps_missing_step(perhaps_missing, roles)


def _unknown_step(said: Sentence, error: PlatformError, *, step: str = _NAME) -> Step:
    """Return the warning that something is not known, because of `error`."""
    return Step(
        step,
        Outcome.WARNING,
        Sentence("%(said)s %(reason)s", said=said, reason=str(error)),
        _COMPARE if isinstance(error, MissingPrivilege) and not error.privilege else advice_on(error),
    )


def _missing_step(privilege: Privilege, need: Need, roles: tuple[str, ...]) -> Step:
    """Return the failed step for a privilege that the account lacks."""
    return Step(
        f"{_NAME} {need.entity}",
        Outcome.FAILED,
        Sentence(
            "The application user lacks %(privilege)s. Needed by: %(endpoints)s",
            privilege=privilege.name,
            endpoints=_users_in_words(need.users),
        ),
        privilege_advice(privilege.name, roles),
    )


def _perhaps_missing_step(privileges: Iterable[Privilege], roles: tuple[str, ...]) -> Step:
    """Return the warning about privileges that only some calls need."""
    named = ", ".join(dict.fromkeys(privilege.name for privilege in privileges))
    return Step(
        _NAME,
        Outcome.WARNING,
        Sentence(
            "The application user lacks %(privileges)s. Calls that refer to records of these entities will "
            "fail; other calls will not.",
            privileges=named,
        ),
        privilege_advice(named, roles),
    )


def _names_of(processes: Iterable[RunProcess]) -> str:
    return ", ".join(process.name for process in processes)


def _users_of(processes: Iterable[RunProcess]) -> str:
    return _users_in_words(tuple(dict.fromkeys(user for process in processes for user in process.users)))


def _users_in_words(users: tuple[str, ...]) -> str:
    """Return the first names as a list that ends a sentence, and whether there are more."""
    named = ", ".join(users[:_MOST_USERS_NAMED])
    return f"{named}." if len(users) <= _MOST_USERS_NAMED else Sentence("%(names)s and others.", names=named)
