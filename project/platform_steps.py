"""The steps of a check of the platform, with the settings at hand; for the command and the studio's page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from django.conf import settings

from crmclient import Platform
from crmclient.errors import PlatformError
from crmclient.optional_abilities import TellsVersion
from crmclient.query.calendar import calendar_of
from designer.endpoint_facts.needed_rights import NeededRight, needed_rights
from designer.overview import Overview, overview
from designer.platform import get_platform
from designer.readiness.metadata import MetadataUnavailable
from project import applications

if TYPE_CHECKING:
    from crmclient.dataverse.checkup import Step


def platform_steps() -> Iterator[Step]:
    """Check whether Dataverse can be reached and used, and yield steps.

    There are none if the platform is the CRM in the box.
    """
    env = settings.PORTICO
    if not env["CRM_URL"]:
        return
    # Not loaded by a service that has its platform in the box.
    from crmclient.dataverse.checkup import Outcome, check_organization, check_pause
    from crmclient.dataverse.connection_checkup import check_connection, check_tokens
    from crmclient.dataverse.fiscal_checkup import check_fiscal_years
    from crmclient.dataverse.http.budget import ReportsBudget, SpendsBudget
    from crmclient.dataverse.limits_checkup import check_budget, check_version
    from crmclient.dataverse.options import Options

    options = Options(env["CRM_URL"], timeout=float(env["PLATFORM_TIMEOUT"]))
    scope = f"{options.root}/.default"
    platform = get_platform()
    clients = list(applications.of_the_platform())
    parts: tuple[Callable[[], Iterator[Step]], ...] = (
        lambda: check_pause(platform.budget) if isinstance(platform, SpendsBudget) else iter(()),
        lambda: check_connection(options),
        lambda: check_tokens({client.id: client.tokens(scope) for client in clients}, options),
        lambda: check_version(platform) if isinstance(platform, TellsVersion) else iter(()),
        lambda: check_organization(platform, impersonates=bool(env["CRM_IMPERSONATE"])),
        lambda: check_fiscal_years(platform, calendar_of(env).fiscal),
        # Here, because the requests of the steps before have been told what is left.
        lambda: (
            check_budget(platform, [client.id for client in clients])
            if isinstance(platform, ReportsBudget)
            else iter(())
        ),
        lambda: _configuration_steps(platform, overview()),
    )
    for part in parts:
        has_failed = False
        for step in part():
            has_failed = has_failed or step.outcome is Outcome.FAILED
            yield step
        # What follows would fail for the same reason.
        if has_failed:
            return


def _configuration_steps(platform: Platform, seen: Overview) -> Iterator[Step]:
    """Check whether the service may read and write what the configuration reads and writes. Yield steps."""
    from crmclient.dataverse.checkup import check_entities
    from crmclient.dataverse.privilege_checkup import Need, check_privileges

    yield from check_entities(platform, seen.metadata.entities_asked_for)
    notes = platform.conventions.notes.entity if platform.conventions.notes else ""
    # The keys of the endpoints that need a right, in the order of the configuration.
    endpoints_by_right: dict[NeededRight, list[str]] = {}
    unknown: dict[str, PlatformError] = {}
    for endpoint in seen.configuration.endpoints.values():
        key = endpoint.definition.key
        try:
            for right in dict.fromkeys(needed_rights(endpoint, seen.metadata, notes)):
                endpoints_by_right.setdefault(right, []).append(key)
        except MetadataUnavailable as unavailable:
            unknown[key] = unavailable.error
    needs = [
        Need(needed.entity, needed.right, tuple(keys), needed.is_certain)
        for needed, keys in endpoints_by_right.items()
    ]
    yield from check_privileges(platform, needs, unknown)
