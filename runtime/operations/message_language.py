"""The parameter `lcid`: the language of the messages of an endpoint's pre-conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from crmclient.metadata import ENGLISH
from designer.definitions import EndpointDefinition
from runtime.http.query_string import LCID, read_lcid, read_parameters
from runtime.request_context import Exchange

NAME = "lcid"


def read_parameters_and_language(
    definition: EndpointDefinition, exchange: Exchange, names: Collection[str] = ()
) -> Mapping[str, str]:
    """Return the request's parameters by their `names` in lower case. Set the language of the exchange.

    The parameter `lcid` is read, too, if the endpoint has pre-conditions, whose messages have languages.
    Raises Problem 400 for any other parameter, and for a language that is not a whole number.
    """
    # It is read even if no message has a translation: callers must not notice when the first one is added, or
    # the last one removed.
    if definition.preconditions:
        names = {*names, NAME}
    parameters = read_parameters(exchange.request, names)
    exchange.lcid = read_lcid(parameters, ENGLISH)
    return parameters


def language_parameter(definition: EndpointDefinition) -> tuple[dict[str, Any], ...]:
    """Return the documentation of the language parameter; empty when the endpoint does not take it."""
    return (LCID,) if definition.preconditions else ()
