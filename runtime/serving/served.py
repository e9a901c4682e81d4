"""The configuration that is served now, at its revision, with everything that was made from it once."""

from __future__ import annotations

import gc
import logging
import threading
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from crmclient import Platform
from crmclient.errors import InvalidQuery, MetadataError, PlatformError, Unsupported
from designer.configuration import Configuration, Endpoint
from designer.endpoint_facts.following_endpoints import FollowingEndpoints
from designer.loading import load, reload
from designer.platform import get_platform
from designer.revision import read_revision_and
from runtime.caching.answer_keys import AnswerKeys
from runtime.caching.cached_answers import CachedAnswers
from runtime.caching.generations import generations_sql
from runtime.caching.noted_writes import NotedWrites, cache_from_now_on
from runtime.callers.recognition import Recognition
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.operations import OPERATIONS, Operation
from runtime.serving.routing import RoutingTable
from runtime.serving.viewsets import BrokenViewSet, CachedViewSet, OperationViewSet

logger = logging.getLogger("portico.serving")


class View(Protocol):
    """A function that answers the requests of one endpoint."""

    def __call__(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase: ...


@dataclass(frozen=True, slots=True)
class Served:
    """One state of configuration and metadata. Views are made when they are first asked for, and kept.

    `metadata` is the revision of the platform's metadata. `views` are by endpoint id.
    """

    configuration: Configuration
    metadata: str
    routes: RoutingTable
    user_context: UserContext
    platform: Platform
    recognition: Recognition
    # Whether some endpoint caches its answers.
    caches: bool = False
    # Described, and not served: see `as_proposed`.
    is_proposed: bool = False
    views: dict[int, View] = field(default_factory=dict)

    def view(self, id: int) -> View:
        """The viewset of an endpoint, as a view."""
        viewset = self.views.get(id)
        if viewset is None:
            viewset = self.views.setdefault(id, self._build(self.configuration.endpoints[id]))
        return viewset

    def _build(self, endpoint: Endpoint) -> View:
        # The mistakes of a proposed configuration stand in its review, and break nothing that is served.
        level = logging.DEBUG if self.is_proposed else logging.ERROR
        return _build(endpoint, self.platform, self.metadata, level)


_lock = threading.Lock()
_served: Served | None = None
_is_serving = False
# From this number of new endpoints on, their objects are taken out of garbage collection.
_MANY = 500


def serve_from_now_on() -> None:
    """Note that this process answers requests. Its configuration is then left out of garbage collection.

    With 5,000 endpoints, one collection of all objects takes 0.3 s, in which every request waits, and an edit
    that replaces many objects soon causes the next one.
    """
    global _is_serving
    _is_serving = True


def _exempt_from_collection(before: Configuration | None, after: Configuration) -> None:
    """Take the objects of this process out of garbage collection if `after` has many new endpoints. These
    live until the next configuration, so that looking through them finds nothing to free.

    FollowingEndpoints are not made yet: a thread of their own makes them, and does the same afterwards.
    """
    if isinstance(after.endpoints, FollowingEndpoints):
        if _is_serving:
            threading.Thread(target=_settle, args=[after.endpoints], name="settling", daemon=True).start()
        return
    old_endpoints = before.endpoints if before is not None else {}
    new_endpoints = sum(old_endpoints.get(id) is not endpoint for id, endpoint in after.endpoints.items())
    if _is_serving and new_endpoints >= _MANY:
        gc.freeze()


def _settle(endpoints: FollowingEndpoints) -> None:
    """Make all endpoints that follow from an edit, then exempt them from garbage collection if they are
    many.
    """
    endpoints.settle()
    if len(endpoints) >= _MANY:
        gc.freeze()


def revision() -> int | None:
    """The number of the configuration's revision that this process serves; None before its first request."""
    return None if _served is None else _served.configuration.revision.number


def current() -> Served:
    """Return what is served to a request that begins now. Costs one query while nothing has changed."""
    return current_and_generations()[0]


def current_and_generations() -> tuple[Served, str | None]:
    """Return what `current` returns, and the write generations at this moment, read by the same query.

    The generations are None while no endpoint caches its answers.
    """
    global _served
    platform = get_platform()
    served = _served
    sql = generations_sql() if served is not None and served.caches else "NULL"
    revision, metadata, generations = read_revision_and(sql, platform.local_revision_sql)
    # Before the first write there are none. None stands for generations that were not asked for.
    if generations is None and sql != "NULL":
        generations = "{}"
    if metadata is None:
        metadata = platform.metadata_revision()
    # Read again: another thread may have replaced it during the query.
    served = _served
    if served is not None and served.configuration.revision == revision and served.metadata == metadata:
        return served, generations
    with _lock:
        served = _served
        if served is None or served.configuration.revision != revision or served.metadata != metadata:
            served = _served_after(served, metadata, platform)
            cache_from_now_on(served.caches)
            _served = served
    if generations is None and served.caches:
        # This process did not know that an endpoint caches its answers. Without generations, each request of
        # this moment would ask the platform.
        _, _, generations = read_revision_and(generations_sql(), platform.local_revision_sql)
        generations = generations or "{}"
    return served, generations


def as_proposed(configuration: Configuration) -> Served:
    """Return what would be served of a proposed configuration, for its description."""
    live = current()
    last = max(configuration.endpoints, default=0)
    # New endpoints have ids below zero, which in descriptions are for the API's own routes. Here they get ids
    # above all others instead.
    endpoints = {id if id > 0 else last - id: endpoint for id, endpoint in configuration.endpoints.items()}
    configuration = replace(configuration, endpoints=endpoints)
    served = _served_from_scratch(configuration, live.metadata, live.platform, RoutingTable.of(configuration))
    return replace(served, is_proposed=True)


def _served_after(previous: Served | None, metadata: str, platform: Platform) -> Served:
    """Return what is to be served after `previous`. Views and caches whose definitions have not changed are
    taken over.
    """
    if previous is None or previous.platform is not platform:
        configuration = load()
        routes = RoutingTable.of(configuration)
        _exempt_from_collection(None, configuration)
        return _served_from_scratch(configuration, metadata, platform, routes)
    before = previous.configuration
    after = reload(before)
    routes = previous.routes.changed(before, after)
    _exempt_from_collection(before, after)
    if metadata != previous.metadata or _parts_for_context(after) != _parts_for_context(before):
        return _served_from_scratch(after, metadata, platform, routes)
    kept_views = {
        id: view for id, view in previous.views.items() if after.endpoints.get(id) is before.endpoints[id]
    }
    return Served(
        configuration=after,
        metadata=metadata,
        routes=routes,
        user_context=previous.user_context,
        platform=platform,
        caches=_caches_still(previous, after),
        views=kept_views,
        recognition=previous.recognition
        if _parts_for_recognition(after) == _parts_for_recognition(before)
        else Recognition.of(after, NotedWrites(platform), previous.user_context.query),
    )


def _served_from_scratch(
    configuration: Configuration, metadata: str, platform: Platform, routes: RoutingTable
) -> Served:
    """Return a state in which nothing is taken over from an earlier one."""
    context = UserContext(
        configuration.user_properties,
        platform,
        caller_types=configuration.caller_types,
        remembered_under=metadata,
    )
    return Served(
        configuration=configuration,
        metadata=metadata,
        routes=routes,
        user_context=context,
        platform=platform,
        caches=_has_answer_cache(configuration),
        recognition=Recognition.of(configuration, NotedWrites(platform), context.query),
    )


def _caches_still(previous: Served, configuration: Configuration) -> bool:
    """Whether some endpoint caches its answers, as `_has_answer_cache` says, but without a look at all
    endpoints where an edit cannot have changed that.
    """
    endpoints = configuration.endpoints
    if isinstance(endpoints, FollowingEndpoints) and endpoints.follows(previous.configuration.endpoints):
        # Such an edit changed something that endpoints share. Whether they cache is in their own settings.
        return previous.caches
    return _has_answer_cache(configuration)


def _has_answer_cache(configuration: Configuration) -> bool:
    """Whether some endpoint of the configuration caches its answers."""
    return any(
        endpoint.definition.settings.answer_cache is not None for endpoint in configuration.endpoints.values()
    )


def _parts_for_context(configuration: Configuration) -> Any:
    """Return the parts of the configuration that decide which properties callers have."""
    return configuration.user_properties, configuration.caller_types


def _parts_for_recognition(configuration: Configuration) -> Any:
    """Return the parts of the configuration that decide who the caller of a token is."""
    return configuration.roles, configuration.issuers, configuration.caller_types


def _build(endpoint: Endpoint, platform: Platform, metadata: str, level: int = logging.ERROR) -> View:
    """Return the view of an endpoint. Its operation is compiled here; if the endpoint has a mistake, the view
    answers 503, and a log line of `level` says why. Raises PlatformError and DatabaseError if the platform or
    the database cannot be asked now.
    """
    actions: dict[str, Any] = {method.lower(): "run" for method in endpoint.methods}
    access = endpoint.definition.access
    try:
        operation = _compile(endpoint, platform)
        answers = _answer_cache(operation, platform, metadata)
    except Exception as error:
        if _may_pass(error):
            raise
        # Kept like any view: the reason does not change until the configuration or the metadata does.
        foreseen = isinstance(error, Misconfigured | MetadataError | InvalidQuery | Unsupported | ValueError)
        logger.log(
            level,
            "endpoint %s cannot be served: %s",
            endpoint.definition.key,
            error,
            exc_info=None if foreseen else error,
        )
        return BrokenViewSet.as_view(actions, access=access)
    if answers is not None:
        return CachedViewSet.as_view(actions, access=access, operation=operation, answers=answers)
    return OperationViewSet.as_view(actions, access=access, operation=operation)


def _answer_cache(operation: Operation, platform: Platform, metadata: str) -> CachedAnswers | None:
    """Return what caches the operation's answers; None for an endpoint that does not cache."""
    endpoint = operation.endpoint
    cache = endpoint.definition.settings.answer_cache
    if cache is None or endpoint.kind.writes:
        return None
    keys = AnswerKeys(endpoint, platform, metadata, answers_json=operation.answers_json)
    needs_token = endpoint.definition.access.authentication_required
    return CachedAnswers(keys, cache, needs_token=needs_token)


def _may_pass(error: Exception) -> bool:
    """Whether the next request may succeed: the platform or the database could not be asked this time."""
    if isinstance(error, PlatformError):
        return not isinstance(error, MetadataError | InvalidQuery | Unsupported)
    return isinstance(error, DatabaseError | InterfaceError)


def _compile(endpoint: Endpoint, platform: Platform) -> Operation:
    """Return the compiled operation of an endpoint. Raises Misconfigured, and what the platform raises.

    The writes of an endpoint are noted, so that cached answers about the same entities are not used any more.
    """
    if endpoint.problem is not None:
        raise Misconfigured(endpoint.problem)
    if endpoint.kind.writes:
        platform = NotedWrites(platform, changes=endpoint.definition.settings.changed_entities)
    return OPERATIONS[endpoint.definition.kind](endpoint, platform)
