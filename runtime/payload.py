"""What a caller sends to an endpoint, compiled once: from the request's body to the platform's values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmclient import Platform, Value
from crmclient.errors import InvalidRecord
from crmclient.metadata import Attribute
from designer.definitions import EndpointDefinition
from runtime.bindings import Bindings
from runtime.bodies import read_object
from runtime.exchange import Exchange
from runtime.inputs import Inputs, limits_of_inputs
from runtime.parameters import read_parameters


class Payload:
    """An endpoint's inputs, and their bindings to `attributes` of `owner`, an entity or a process.

    Raises Misconfigured when they do not fit.
    """

    def __init__(
        self,
        definition: EndpointDefinition,
        owner: str,
        attributes: Mapping[str, Attribute],
        platform: Platform,
        *,
        optional: bool = False,
    ) -> None:
        self._owner = owner
        self._optional = optional
        limits = limits_of_inputs(definition, owner, attributes, platform)
        self._inputs = Inputs(definition.inputs, limits)
        self._bindings = Bindings(definition, attributes)

    def read(self, exchange: Exchange) -> dict[str, Value]:
        """The values for the platform. Raises Problem 400 and its kin; no query parameter is taken."""
        read_parameters(exchange.request, ())
        body = read_object(exchange.request, optional=self._optional)
        return self._bindings.values(exchange, self._inputs.read(body))

    def refusal(self, error: InvalidRecord) -> Exception:
        """What to raise for the platform's refusal: a problem of the inputs, where it is about them."""
        return self._bindings.problem_of(error) if error.entity == self._owner else error

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the body."""
        return self._inputs.schema()


# What `read` and `refusal` give, for the document.
PROBLEMS: dict[int, tuple[str, ...]] = {
    400: ("malformed_body", "invalid_input", "invalid_parameter"),
    413: ("too_large",),
    415: ("unsupported_media_type",),
    422: ("platform_refused",),
}
