"""Runs a Create endpoint for a caller who registers: the same operation that a request would run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from django.core.handlers.wsgi import WSGIRequest

from crmclient import Guid, Platform
from designer.configuration import Configuration, Endpoint
from runtime.caching.noted_writes import NotedWrites
from runtime.callers.caller import Caller
from runtime.http.problems import Problem
from runtime.operations import OPERATIONS, Operation
from runtime.request_context import Exchange, UserProperties
from runtime.serving.served import Served, current


class _Compiled(NamedTuple):
    """An operation, and what it was compiled from. `metadata` is the revision of the platform's metadata."""

    endpoint: Endpoint
    platform: Platform
    metadata: str
    operation: Operation

    def is_of(self, endpoint: Endpoint, served: Served) -> bool:
        """Whether the operation is the one to run for an endpoint of `served`."""
        # An endpoint that has changed is another object.
        return (
            self.endpoint is endpoint
            and self.platform == served.platform
            and self.metadata == served.metadata
        )


class EndpointRegistrar:
    """Implements `runtime.callers.issuers.registration.Registrar`."""

    def __init__(self) -> None:
        # The operation that ran last.
        self._compiled: _Compiled | None = None

    def create(self, endpoint: str, inputs: Mapping[str, Any], record: Guid, caller: Caller) -> None:
        """Create the record of a caller through an endpoint. Raises LookupError without such an endpoint, and
        Problem when it refuses.
        """
        served = current()
        enabled_endpoint = endpoint_named(endpoint, served.configuration)
        if enabled_endpoint is None:
            raise LookupError(f"there is no enabled endpoint {endpoint}")
        exchange = exchange_with(enabled_endpoint, inputs, caller, served.user_context)
        # A try that broke off may have made the record: then there is nothing left to do.
        exchange.chosen_id, exchange.taken_over = record, True
        response = self._operation(enabled_endpoint, served).run(exchange)
        if response.status_code >= 400:
            raise Problem(response.status_code, "registration_failed", "The endpoint refused.")

    def _operation(self, endpoint: Endpoint, served: Served) -> Operation:
        """Return the operation of an endpoint. It is compiled anew when something that it was compiled from
        has changed.
        """
        compiled = self._compiled
        if compiled is None or not compiled.is_of(endpoint, served):
            operation = OPERATIONS[endpoint.definition.kind](endpoint, NotedWrites(served.platform))
            compiled = self._compiled = _Compiled(endpoint, served.platform, served.metadata, operation)
        return compiled.operation


def endpoint_named(key: str, configuration: Configuration) -> Endpoint | None:
    """Return the enabled endpoint that an issuer names by its key; None without one."""
    for endpoint in configuration.endpoints.values():
        if endpoint.definition.key == key and endpoint.definition.enabled:
            return endpoint
    return None


def exchange_with(
    endpoint: Endpoint, inputs: Mapping[str, Any], caller: Caller, user_context: UserProperties
) -> Exchange:
    """Return the context of the request by which a caller registers."""
    exchange = Exchange(_request(endpoint, inputs), user_context)
    exchange.caller = caller
    return exchange


def _request(endpoint: Endpoint, inputs: Mapping[str, Any]) -> WSGIRequest:
    """Return a request that sends the inputs to an endpoint, as a caller would."""
    content = orjson.dumps(dict(inputs))
    return WSGIRequest(
        {
            "REQUEST_METHOD": endpoint.methods[0],
            "PATH_INFO": endpoint.path,
            "QUERY_STRING": "",
            "SERVER_NAME": "registration",
            "SERVER_PORT": "80",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": io.BytesIO(content),
            "wsgi.url_scheme": "http",
        }
    )
