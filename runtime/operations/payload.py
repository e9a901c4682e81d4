"""The inputs of an endpoint, compiled once: from the request's body to the platform's values."""

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
from runtime.operations.message_language import read_parameters_and_language
from runtime.request_context import Exchange
from runtime.steps.lookup_guard import LookupGuard
from runtime.values.bindings import Bindings
from runtime.values.fields import Field, input_fields
from runtime.values.inputs import Inputs, Items, Sent, limits_of_inputs


class ListOfItems(Protocol):
    """The inputs of an item, for an input that is a list. For a list of records to create, it is a
    `Payload`.
    """

    @property
    def items(self) -> Items: ...

    def fields(self) -> tuple[Field, ...]: ...


_NO_LISTS: Mapping[str, ListOfItems] = {}


class Payload:
    """An endpoint's inputs, and their bindings to `attributes` of `owner`, an entity or a process.

    `lists` has the items of the inputs that are lists, by input. `optional`: the body may be missing. Raises
    Misconfigured when something does not fit.
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
        list_names = {entry.name for entry in definition.inputs if holds_records(entry.type)}
        if unused := list_names - lists.keys():
            raise Misconfigured(Sentence("nothing is made here of %(name)s, a list", name=min(unused)))
        self._owner = owner
        self._optional = optional
        self._lists = lists
        limits = limits_of_inputs(definition, attributes, platform)
        items = {name: list_of_items.items for name, list_of_items in lists.items()}
        self._inputs: Inputs = Inputs(definition.inputs, limits, items)
        names = [entry.name for entry in definition.inputs]
        self._bindings = Bindings(definition.bindings, names, attributes, owner)
        self._definition = definition
        self._attributes = attributes
        self._lookups = LookupGuard(
            endpoint, owner, _attributes_set_by_callers(definition, attributes), platform
        )

    @property
    def items(self) -> Inputs:
        """The inputs of one item, when this payload describes the items of a list."""
        return self._inputs

    @property
    def written(self) -> frozenset[str]:
        """The attributes that may be set."""
        return frozenset(binding.attribute for binding in self._definition.bindings)

    def receive(self, exchange: Exchange) -> Sent:
        """Read the request's body, check it, and return the values sent, by input.

        Also sets `exchange.inputs` to these values completed by defaults. Raises Problem 400, 413, 415, also
        for any query parameter other than the language of messages.
        """
        read_parameters_and_language(self._definition, exchange)
        with exchange.transfer():
            body = read_object(exchange.request, optional=self._optional)
        sent = self._inputs.read(body)
        exchange.inputs = self._inputs.completed(sent)
        return sent

    def bind(self, exchange: Exchange, sent: Sent) -> dict[str, Value]:
        """Return the values of the bindings, for the platform, by attribute.

        Raises InvalidRecord for a lookup to a record that the caller does not reach, and for a value that
        does not fit its attribute.
        """
        values = self._bindings.values(exchange, sent, self._inputs.completed(sent))
        self._lookups.check(values, exchange)
        return values

    def refusal(self, error: InvalidRecord, pointer: str = "") -> Exception:
        """Return the exception to raise for a refusal of the platform.

        It is a problem of the inputs when the refusal is about this payload's entity. `pointer` is the JSON
        Pointer of the object that had the inputs.
        """
        return self._bindings.problem_of(error, pointer) if error.entity == self._owner else error

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the body."""
        return self._inputs.schema()

    def fields(self) -> tuple[Field, ...]:
        """Return the inputs as fields, for those who build forms."""
        definition = self._definition
        items = {name: payload.fields() for name, payload in self._lists.items()}
        return input_fields(definition.inputs, definition.bindings, self._attributes, self.schema(), items)


def _attributes_set_by_callers(
    definition: EndpointDefinition, attributes: Mapping[str, Attribute]
) -> Iterator[Attribute]:
    """Yield the attributes whose values a caller can choose: by an input, or by an expression."""
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
