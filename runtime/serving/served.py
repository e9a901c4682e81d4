"""What is served now: the configuration at its revision, with everything that was made from it once."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from crmclient import Platform
from crmclient.errors import InvalidQuery, MetadataError, PlatformError, Unsupported
from designer.configuration import Configuration, Endpoint
from designer.loading import load, reload
from designer.platform import get_platform
from designer.revision import read_revision
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.operations import OPERATIONS, Operation
from runtime.serving.routing import RoutingTable
from runtime.serving.viewsets import BrokenViewSet, OperationViewSet

logger = logging.getLogger("portico.serving")


class View(Protocol):
    def __call__(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase: ...


@dataclass(frozen=True, slots=True)
class Served:
    """One state of configuration and metadata. Views are made when they are first asked for, and kept."""

    configuration: Configuration
    metadata: str
    routes: RoutingTable
    user_context: UserContext
    platform: Platform
    views: dict[int, View] = field(default_factory=dict)
    # Stands for the roles as they are: while it is the same, who a token means need not be resolved again.
    roles: object = field(default_factory=object)

    def view(self, id: int) -> View:
        """The viewset of an endpoint, as a view."""
        known = self.views.get(id)
        if known is None:
            known = self.views.setdefault(id, _build(self.configuration.endpoints[id], self.platform))
        return known


_lock = threading.Lock()
_served: Served | None = None


def current() -> Served:
    """What a request that begins now is answered by: one query while nothing has changed."""
    global _served
    platform = get_platform()
    revision, metadata = read_revision(platform.local_revision_sql)
    if metadata is None:
        metadata = platform.metadata_revision()
    served = _served
    if served is not None and served.configuration.revision == revision and served.metadata == metadata:
        return served
    with _lock:
        served = _served
        if served is None or served.configuration.revision != revision or served.metadata != metadata:
            served = _served = _next(served, metadata, platform)
    return served


def _next(previous: Served | None, metadata: str, platform: Platform) -> Served:
    if previous is None or previous.platform is not platform:
        configuration = load()
        return _anew(configuration, metadata, platform)
    before = previous.configuration
    after = reload(before)
    if metadata != previous.metadata or after.user_properties != before.user_properties:
        return _anew(after, metadata, platform)
    kept = {
        id: view for id, view in previous.views.items() if after.endpoints.get(id) is before.endpoints[id]
    }
    return Served(
        configuration=after,
        metadata=metadata,
        routes=previous.routes.changed(before, after),
        user_context=previous.user_context,
        platform=platform,
        views=kept,
        roles=previous.roles if after.roles == before.roles else object(),
    )


def _anew(configuration: Configuration, metadata: str, platform: Platform) -> Served:
    return Served(
        configuration=configuration,
        metadata=metadata,
        routes=RoutingTable.of(configuration),
        user_context=UserContext(configuration.user_properties, platform, remembered_under=metadata),
        platform=platform,
    )


def _build(endpoint: Endpoint, platform: Platform) -> View:
    actions: dict[str, Any] = {method.lower(): "run" for method in endpoint.methods}
    access = endpoint.definition.access
    try:
        operation = _compile(endpoint, platform)
    except Exception as error:
        if _may_pass(error):
            raise
        # Kept like any view: the reason does not change until the configuration or the metadata does.
        foreseen = isinstance(error, Misconfigured | MetadataError | InvalidQuery | Unsupported | ValueError)
        logger.error(
            "endpoint %s cannot be served: %s",
            endpoint.definition.key,
            error,
            exc_info=None if foreseen else error,
        )
        return BrokenViewSet.as_view(actions, access=access)
    return OperationViewSet.as_view(actions, access=access, operation=operation)


def _may_pass(error: Exception) -> bool:
    """Whether the next request may find it gone: the platform or the database could not be asked."""
    if isinstance(error, PlatformError):
        return not isinstance(error, MetadataError | InvalidQuery | Unsupported)
    return isinstance(error, DatabaseError | InterfaceError)


def _compile(endpoint: Endpoint, platform: Platform) -> Operation:
    if endpoint.problem is not None:
        raise Misconfigured(endpoint.problem)
    return OPERATIONS[endpoint.definition.kind](endpoint, platform)
