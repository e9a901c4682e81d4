"""Makes the platform that the settings name: Dataverse where CRM_URL is set, else the embedded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from crmbox.engine.bulkhead import Bulkhead
from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from project import threads

if TYPE_CHECKING:
    from crmclient.dataverse.http.throttle import SharedThrottle


def configured() -> Platform:
    return dataverse() if settings.PORTICO["CRM_URL"] else embedded()


def embedded() -> Platform:
    """The CRM in the box, in the configuration's own database. It never holds all threads of the process."""
    shares = threads.shares()
    return EmbeddedPlatform(
        bulkhead=Bulkhead(shares.platform, shares.queue), caller_bulkhead=Bulkhead(shares.about_callers, 0)
    )


def dataverse() -> Platform:
    """The organisation at CRM_URL. Its metadata is kept in the configuration's database."""
    # Nothing of it is needed, or loaded, by a service that has its platform in the box.
    from crmclient.dataverse import DataversePlatform, Options
    from project.metadata_store import DatabaseStore
    from project.metrics import PlatformMetrics

    env = settings.PORTICO
    store = DatabaseStore(env["CRM_URL"])
    options = Options(
        env["CRM_URL"],
        timeout=float(env["PLATFORM_TIMEOUT"]),
        concurrency=env["CRM_CONCURRENCY"],
        by_object_id=env["CRM_IMPERSONATE_BY"] == "object",
    )
    return DataversePlatform(
        options,
        _token_source(env, f"{options.root}/.default"),
        store=store,
        observer=PlatformMetrics(),
        throttle=_throttle(env, env["CRM_URL"]),
        local_revision_sql=store.revision_sql,
    )


def _throttle(env: dict[str, Any], url: str) -> SharedThrottle | None:
    """What all processes know of the pauses that `url` asked for, where they have a Redis in common."""
    if not env["CACHE_URL"]:
        return None
    from project.shared_throttle import RedisThrottle

    return RedisThrottle(env["CACHE_URL"], url, env["CRM_CLIENT_ID"])


def _token_source(env: dict[str, Any], scope: str) -> Any:
    if env["CRM_TOKEN_URL"]:
        from crmclient.dataverse.http.client_credentials import ClientCredentials

        url = env["CRM_TOKEN_URL"]
        throttle = _throttle(env, url)
        return ClientCredentials(url, env["CRM_CLIENT_ID"], env["CRM_CLIENT_SECRET"], scope, throttle)
    from crmclient.dataverse.http.entra import Entra, certificate

    credential: str | dict[str, Any] = env["CRM_CLIENT_SECRET"]
    if env["CRM_CERTIFICATE"]:
        credential = certificate(Path(env["CRM_CERTIFICATE"]), env["CRM_CERTIFICATE_PASSWORD"])
    return Entra(env["CRM_TENANT_ID"], env["CRM_CLIENT_ID"], credential, scope)
