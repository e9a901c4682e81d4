"""What a caller sends to an endpoint, compiled once: from the request's body to the platform's values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from crmclient import Platform, Value
from crmclient.errors import InvalidRecord
from crmclient.metadata import Attribute
from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition
from designer.sentences import Sentence
from designer.types import holds_records
from runtime.http.bodies import read_object
from runtime.http.failures import Misconfigured
from runtime.operations.message_language import parameters_of
from runtime.request_context import Exchange
from runtime.steps.row_rule_guard import LookupGuard
from runtime.values.bindings import Bindings
from runtime.values.fields import Field, input_fields
from runtime.values.inputs import Inputs, Items, Sent, limits_of_inputs


class ListOfItems(Protocol):
    """What callers send in a list. A `Payload` is that of a list of records to be made."""

    @property
    def items(self) -> Items: ...

    def fields(self) -> tuple[Field, ...]: ...


_NO_LISTS: Mapping[str, ListOfItems] = {}


class Payload:
    """An endpoint's inputs, and their bindings to `attributes` of `owner`, an entity or a process.

    `lists` has what callers send in lists. Raises Misconfigured when something does not fit.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        owner: str,
        attributes: Mapping[str, Attribute],
        platform: Platform,
        *,
        optional: bool = False,
        lists: Mapping[str, ListOfItems] = _NO_LISTS,
    ) -> None:
        definition = endpoint.definition
        if without := {known.name for known in definition.inputs if holds_records(known.type)} - lists.keys():
            raise Misconfigured(Sentence("nothing is made here of %(name)s, a list", name=min(without)))
        self._owner = owner
        self._optional = optional
        self._lists = lists
        limits = limits_of_inputs(definition, owner, attributes, platform)
        items = {name: one.items for name, one in lists.items()}
        self._inputs: Inputs = Inputs(definition.inputs, limits, items)
        names = [known.name for known in definition.inputs]
        self._bindings = Bindings(definition.bindings, names, attributes, owner)
        self._definition = definition
        self._attributes = attributes
        self._lookups = LookupGuard(endpoint, owner, _set_by_callers(definition, attributes), platform)

    @property
    def items(self) -> Inputs:
        """The inputs, where they are those of the items of a list."""
        return self._inputs

    @property
    def written(self) -> frozenset[str]:
        """The attributes that may be set."""
        return frozenset(binding.attribute for binding in self._definition.bindings)

    def receive(self, exchange: Exchange) -> Sent:
        """What was sent, by input, which is then the exchange's, too.

        Raises Problem 400 and its kin; no query parameter is taken but the language of messages.
        """
        parameters_of(self._definition, exchange)
        with exchange.transfer():
            body = read_object(exchange.request, optional=self._optional)
        sent = self._inputs.read(body)
        exchange.inputs = self._inputs.completed(sent)
        return sent

    def bind(self, exchange: Exchange, sent: Sent) -> dict[str, Value]:
        """The values for the platform.

        Raises InvalidRecord for a lookup that the caller does not reach, or what no attribute can hold.
        """
        values = self._bindings.values(exchange, sent, self._inputs.completed(sent))
        self._lookups.check(values, exchange)
        return values

    def refusal(self, error: InvalidRecord, at: str = "") -> Exception:
        """What to raise for the platform's refusal: a problem of the inputs, where it is about them.

        `at` is the pointer of the object that they were in.
        """
        return self._bindings.problem_of(error, at) if error.entity == self._owner else error

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the body."""
        return self._inputs.schema()

    def fields(self) -> tuple[Field, ...]:
        """The inputs, for those who build forms."""
        definition = self._definition
        items = {name: payload.fields() for name, payload in self._lists.items()}
        return input_fields(definition.inputs, definition.bindings, self._attributes, self.schema(), items)


def _set_by_callers(
    definition: EndpointDefinition, attributes: Mapping[str, Attribute]
) -> Iterator[Attribute]:
    """The attributes whose values a caller can choose: from an input, or through an expression."""
    for binding in definition.bindings:
        if binding.source in ("input", "expression") and binding.attribute in attributes:
            yield attributes[binding.attribute]


# What `receive`, `bind` and `refusal` give, for the document.
PROBLEMS: dict[int, tuple[str, ...]] = {
    400: ("malformed_body", "invalid_input", "invalid_parameter"),
    413: ("too_large",),
    415: ("unsupported_media_type",),
    422: ("platform_refused",),
}
