"""Makes the platform that the settings name: Dataverse where CRM_URL is set, else the embedded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from crmbox.engine.bulkhead import Bulkhead
from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from designer.platform import PLATFORMS, get_platform
from project import applications, threads

if TYPE_CHECKING:
    from crmclient.dataverse.http.budget import Budget


def name_in_use() -> str:
    """Return which platform the settings name: `dataverse`, `embedded`, or the name of one from a package."""
    setting = settings.PORTICO["PLATFORM"]
    # Settings of earlier releases may have a dotted path.
    name: str = PLATFORMS.built_in_name(setting) or setting
    if name == "configured":
        return "dataverse" if settings.PORTICO["CRM_URL"] else "embedded"
    return "dataverse" if "." in name and _is_made_as_dataverse() else name


def _is_made_as_dataverse() -> bool:
    """Return whether the platform is Dataverse, whatever function makes it."""
    from crmclient.dataverse.platform import DataversePlatform

    return isinstance(get_platform(), DataversePlatform)


def configured() -> Platform:
    """Return the platform that CRM_URL decides on: Dataverse, or the CRM in the box without it."""
    return dataverse() if settings.PORTICO["CRM_URL"] else embedded()


def embedded() -> Platform:
    """Return the CRM in the box, in the configuration's own database.

    It never holds all threads of the process.
    """
    # Calls that find out who calls have places of their own, and no queue.
    shares = threads.shares()
    return EmbeddedPlatform(
        bulkhead=Bulkhead(shares.platform, shares.queue), caller_bulkhead=Bulkhead(shares.about_callers, 0)
    )


def dataverse() -> Platform:
    """Return the organisation at CRM_URL. Its metadata are kept in the configuration's database."""
    # Nothing of it is needed, or loaded, by a service that has its platform in the box.
    from crmclient.dataverse.options import Options
    from crmclient.dataverse.platform import DataversePlatform
    from project.metadata_store import DatabaseStore
    from project.observability.platform_observer import PlatformMetrics

    env = settings.PORTICO
    store = DatabaseStore(env["CRM_URL"])
    options = Options(
        env["CRM_URL"],
        timeout=float(env["PLATFORM_TIMEOUT"]),
        metadata_timeout=float(env["METADATA_TIMEOUT"]),
        concurrency=threads.platform_concurrency(),
        by_object_id=env["CRM_IMPERSONATE_BY"] == "object",
    )
    clients = applications.of_the_platform()
    return DataversePlatform(
        options,
        *(client.tokens(f"{options.root}/.default") for client in clients),
        store=store,
        observer=PlatformMetrics(),
        budget=_budget([client.id for client in clients]),
        local_revision_sql=store.revision_sql,
    )


def _budget(client_ids: list[str]) -> Budget:
    """Return the budget for Dataverse: one for all processes if they share a Redis, else a part for this
    process.
    """
    from crmclient.dataverse.http.budget import BOUNDLESS, SHARES, Limits
    from crmclient.dataverse.http.process_budget import ProcessBudget

    env = settings.PORTICO
    # 0 in the setting is no limit.
    requests, work = (number or BOUNDLESS for number in env["CRM_BUDGET"])
    shares = {share: percent / 100 for share, percent in zip(SHARES, env["CRM_SHARES"], strict=True)}
    window = float(env["CRM_BUDGET_SECONDS"])
    limits = Limits(
        requests=requests, work=float(work), places=env["CRM_CONCURRENCY"], window=window, shares=shares
    )
    if not env["CACHE_URL"]:
        return ProcessBudget(limits.part(env["WORKERS"]), len(client_ids))
    from project.shared_budget import RedisBudget

    return RedisBudget(
        redis=env["CACHE_URL"],
        url=env["CRM_URL"],
        client_ids=client_ids,
        limits=limits,
        processes=env["WORKERS"],
    )
