"""The steps of a check of the platform, with the settings at hand; for the command and the studio's page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from django.conf import settings

from crmclient.query.calendar import calendar_of
from designer.overview import overview
from designer.platform import get_platform
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
    from crmclient.dataverse.checkup import Outcome, check_entities, check_organization, check_pause
    from crmclient.dataverse.connection_checkup import check_connection, check_tokens
    from crmclient.dataverse.fiscal_checkup import check_fiscal_years
    from crmclient.dataverse.http.budget import SpendsBudget
    from crmclient.dataverse.options import Options

    options = Options(env["CRM_URL"], timeout=float(env["PLATFORM_TIMEOUT"]))
    scope = f"{options.root}/.default"
    platform = get_platform()
    parts: tuple[Callable[[], Iterator[Step]], ...] = (
        lambda: check_pause(platform.budget) if isinstance(platform, SpendsBudget) else iter(()),
        lambda: check_connection(options),
        lambda: check_tokens(
            {client.id: client.tokens(scope) for client in applications.of_the_platform()}, options
        ),
        lambda: check_organization(platform, impersonates=bool(env["CRM_IMPERSONATE"])),
        lambda: check_fiscal_years(platform, calendar_of(env).fiscal),
        lambda: check_entities(platform, overview().metadata.entities_asked_for),
    )
    for part in parts:
        has_failed = False
        for step in part():
            has_failed = has_failed or step.outcome is Outcome.FAILED
            yield step
        # What follows would fail for the same reason.
        if has_failed:
            return
