"""The language that callers ask for the messages of an endpoint's pre-conditions in: `lcid`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from crmclient.metadata import ENGLISH
from designer.definitions import EndpointDefinition
from runtime.http.query_string import LCID, read_lcid, read_parameters
from runtime.request_context import Exchange

NAME = "lcid"


def parameters_of(
    definition: EndpointDefinition, exchange: Exchange, known: Collection[str] = ()
) -> Mapping[str, str]:
    """The request's parameters, `known` by their lower-case names and, where the endpoint has messages,
    `lcid`. It is the exchange's from then on.

    Raises Problem 400 for whatever else there is, and for a language that is no whole number.
    """
    # Also where no message has a translation yet: adding one must break no call, nor must removing the last.
    if definition.preconditions:
        known = {*known, NAME}
    parameters = read_parameters(exchange.request, known)
    exchange.lcid = read_lcid(parameters, ENGLISH)
    return parameters


def language_parameter(definition: EndpointDefinition) -> tuple[dict[str, Any], ...]:
    """As it is documented; nothing where it is not taken."""
    return (LCID,) if definition.preconditions else ()
