"""The steps of a check of the platform, with the settings at hand; for the command and the studio's page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.conf import settings

from crmclient import Platform
from crmclient.errors import PlatformError
from crmclient.optional_abilities import AccessRight, TellsPrivileges, TellsVersion
from crmclient.query.calendar import calendar_of
from crmclient.sentences import Sentence
from designer.endpoint_facts.needed_rights import NeededRight, needed_rights
from designer.overview import Overview, overview
from designer.platform import get_platform
from designer.readiness.metadata import Metadata, MetadataUnavailable
from project import applications
from project.platform import name_in_use

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step


def why_no_steps() -> Sentence | None:
    """Return why there is nothing to check; None if the platform is Dataverse."""
    name = name_in_use()
    if name == "dataverse":
        return None
    if name == "embedded":
        return Sentence(
            "The platform is the CRM in the box: there is nothing to reach, no privilege to add, and no "
            "budget to keep to."
        )
    return Sentence(
        "The platform is “%(name)s”, which a package brings. Only the way to Dataverse can be checked step "
        "by step.",
        name=name,
    )


def platform_steps() -> Iterator[Step]:
    """Check whether Dataverse can be reached and used, and yield steps.

    There are none if the platform is another: `why_no_steps` says so.
    """
    if why_no_steps() is not None:
        return
    env = settings.PORTICO
    # Not loaded by a service that has its platform in the box.
    from crmclient.dataverse.checkup import Outcome, check_pause
    from crmclient.dataverse.connection_checkup import check_connection, check_tokens
    from crmclient.dataverse.fiscal_checkup import check_fiscal_years
    from crmclient.dataverse.http.budget import ReportsBudget, SpendsBudget
    from crmclient.dataverse.limits_checkup import check_budget, check_version
    from crmclient.dataverse.options import Options

    options = Options(env["CRM_URL"], timeout=float(env["PLATFORM_TIMEOUT"]))
    scope = f"{options.root}/.default"
    platform = get_platform()
    clients = list(applications.of_the_platform())
    first, *further = _as_each_user(platform, [client.id for client in clients])
    parts: tuple[Callable[[], Iterator[Step]], ...] = (
        lambda: check_pause(platform.budget) if isinstance(platform, SpendsBudget) else iter(()),
        lambda: check_connection(options),
        lambda: check_tokens({client.id: client.tokens(scope) for client in clients}, options),
        lambda: check_version(platform) if isinstance(platform, TellsVersion) else iter(()),
        lambda: _organization_steps(first),
        lambda: check_fiscal_years(platform, calendar_of(env).fiscal),
    )
    for part in parts:
        has_failed = False
        for step in part():
            has_failed = has_failed or step.outcome is Outcome.FAILED
            yield step
        # What follows would fail for the same reason.
        if has_failed:
            return
    let_in = [first]
    for user in further:
        steps = list(_organization_steps(user))
        yield from (step for step in steps if step.name == "who" or step.outcome is not Outcome.GOOD)
        if all(step.outcome is not Outcome.FAILED for step in steps):
            let_in.append(user)
    # Here, because the requests of the steps before have been told what is left.
    if isinstance(platform, ReportsBudget):
        yield from check_budget(platform, [client.id for client in clients])
    for user in let_in:
        yield from _configuration_steps(user, overview())


@dataclass(frozen=True, slots=True)
class _User:
    """The platform as one application user sees it. `name` is the id of the application; empty for an only
    one.
    """

    name: str
    platform: Platform

    def named(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps, which say whom they are about where there are several application users."""
        for step in steps:
            said = Sentence("%(client)s: %(said)s", client=self.name, said=step.said)
            yield replace(step, said=said) if self.name else step


def _as_each_user(platform: Platform, client_ids: Sequence[str]) -> list[_User]:
    """Return the platform once for each application user: with several, any may send a request of it."""
    from crmclient.dataverse.platform import DataversePlatform

    if len(client_ids) < 2 or not isinstance(platform, DataversePlatform):
        return [_User("", platform)]
    return [_User(client_id, platform.as_user(number)) for number, client_id in enumerate(client_ids)]


def _organization_steps(user: _User) -> Iterator[Step]:
    """Check who an application user is, the metadata, and whether it may act for others. Yield steps."""
    from crmclient.dataverse.checkup import check_organization

    impersonates = bool(settings.PORTICO["CRM_IMPERSONATE"])
    yield from user.named(check_organization(user.platform, impersonates=impersonates))


def _configuration_steps(user: _User, seen: Overview) -> Iterator[Step]:
    """Check whether an application user may do what the configuration needs. Yield steps."""
    from crmclient.dataverse.checkup import check_entities
    from crmclient.dataverse.privilege_checkup import Need, RunProcess, check_privileges, check_processes

    platform = user.platform
    read = seen.metadata.entities_asked_for
    notes = platform.conventions.notes.entity if platform.conventions.notes else ""
    # The keys of the endpoints that need a right, or run a process, in the order of the configuration.
    endpoints_by_right: dict[NeededRight, list[str]] = {}
    endpoints_by_process: dict[str, list[str]] = {}
    unknown: dict[str, PlatformError] = {}
    for endpoint in seen.configuration.endpoints.values():
        key, process = endpoint.definition.key, endpoint.definition.settings.process_name
        try:
            rights = list(needed_rights(endpoint, seen.metadata, notes))
        except MetadataUnavailable as unavailable:
            unknown[key] = unavailable.error
            continue
        if process and endpoint.definition.enabled:
            endpoints_by_process.setdefault(process, []).append(key)
            for entity, rights_to_entity in (_rights_of(process, platform) or {}).items():
                rights += (NeededRight(entity, right) for right in rights_to_entity)
        for right in dict.fromkeys(rights):
            endpoints_by_right.setdefault(right, []).append(key)
    needs = [
        Need(right.entity, right.right, tuple(keys), right.is_certain)
        for right, keys in endpoints_by_right.items()
    ]
    yield from user.named(check_entities(platform, read))
    yield from user.named(check_privileges(platform, needs, unknown, read=read))
    processes = [
        RunProcess(
            name, _privilege_of(name, seen.metadata), tuple(keys), _rights_of(name, platform) is not None
        )
        for name, keys in endpoints_by_process.items()
    ]
    yield from user.named(check_processes(platform, processes))


def _rights_of(process: str, platform: Platform) -> Mapping[str, tuple[AccessRight, ...]] | None:
    """Return the rights that a process needs, by entity; None where nobody knows."""
    return platform.rights_of_process(process) if isinstance(platform, TellsPrivileges) else None


def _privilege_of(process: str, metadata: Metadata) -> str:
    """Return the privilege without which nobody may run a process; empty where there is none, or where nobody
    knows: the steps about metadata say so.
    """
    try:
        described = metadata.process(process)
    except MetadataUnavailable:
        return ""
    return described.privilege if described else ""
