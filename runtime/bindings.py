"""Entity properties, compiled once: from inputs, constants, the user and expressions to attribute values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from crmclient import Value
from crmclient.errors import InvalidRecord
from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition, EndpointDefinition
from designer.expressions import Expression, ExpressionError
from designer.types import InvalidInput, Limits, Reader, natural_type
from runtime.exchange import Exchange
from runtime.failures import Misconfigured
from runtime.inputs import invalid_input
from runtime.problems import FieldError, Problem

Inputs: TypeAlias = Mapping[str, Value]
# Answers the value, or `ABSENT` where the attribute is to be left alone.
Source: TypeAlias = Callable[[Exchange, Inputs], Any]
ABSENT: Any = object()


class Bindings:
    """The bindings of one endpoint to attributes of its entity.

    Raises Misconfigured when an attribute is unknown or a constant or expression cannot be.
    """

    def __init__(self, endpoint: EndpointDefinition, attributes: Mapping[str, Attribute]) -> None:
        self._sources: list[tuple[str, Source]] = []
        self._inputs: dict[str, str] = {}
        names = frozenset(definition.name for definition in endpoint.inputs)
        for binding in endpoint.bindings:
            if binding.attribute not in attributes:
                raise Misconfigured(f"there is no attribute {binding.attribute!r}")
            self._sources.append((binding.attribute, _source(binding, attributes[binding.attribute], names)))
            if binding.source == "input":
                self._inputs[binding.attribute] = binding.value

    def values(self, exchange: Exchange, inputs: Inputs) -> dict[str, Value]:
        """The attribute values for the platform. An input that was not sent leaves its attribute alone."""
        values: dict[str, Value] = {}
        for attribute, source in self._sources:
            value = source(exchange, inputs)
            if value is not ABSENT:
                values[attribute] = value
        return values

    def problem_of(self, error: InvalidRecord) -> Problem:
        """The platform's refusal of values, said of the inputs that they came from.

        What no input sets (a constant, a required attribute that nothing is bound to) is the configuration's
        mistake, of which a caller learns only that the platform refused.
        """
        found = [
            FieldError(problem.code, problem.message, pointer=f"/{self._inputs[problem.attribute]}")
            for problem in error.problems
            if problem.attribute in self._inputs
        ]
        if len(found) < len(error.problems):
            return Problem(422, "platform_refused", "The platform refused the data.", errors=found)
        return invalid_input(found)


def _source(binding: BindingDefinition, attribute: Attribute, inputs: frozenset[str]) -> Source:
    compile_source = _SOURCES[binding.source]
    if binding.source == "input" and binding.value not in inputs:
        raise Misconfigured(f"{attribute.logical_name} is bound to @{binding.value}, which is no input")
    return compile_source(binding, attribute)


def _of_input(binding: BindingDefinition, attribute: Attribute) -> Source:
    name = binding.value
    return lambda exchange, inputs: inputs.get(name, ABSENT)


def _of_constant(binding: BindingDefinition, attribute: Attribute) -> Source:
    try:
        value = None if binding.value is None else _reader(attribute)(binding.value)
    except InvalidInput as error:
        raise Misconfigured(f"the constant of {attribute.logical_name}: {error.message}") from error
    return lambda exchange, inputs: value


def _of_user(binding: BindingDefinition, attribute: Attribute) -> Source:
    name, read = binding.value, _reader(attribute)

    def value(exchange: Exchange, inputs: Inputs) -> Value:
        user = exchange.user
        if name not in user:
            # Writing null instead would lose data without a word.
            raise Misconfigured(f"{attribute.logical_name} is bound to @user.{name}, which cannot be read")
        return _converted(attribute, read, user[name])

    return value


def _of_expression(binding: BindingDefinition, attribute: Attribute) -> Source:
    try:
        expression = Expression(binding.value, names=("input", "user", "now"))
    except ExpressionError as error:
        raise Misconfigured(f"the expression of {attribute.logical_name}: {error}") from error
    read, needs_user = _reader(attribute), "user" in expression.references

    def evaluate(exchange: Exchange, inputs: Inputs) -> Value:
        user = exchange.user if needs_user else {}
        try:
            result = expression.evaluate({"input": inputs, "user": user, "now": exchange.now})
        except ExpressionError as error:
            raise Misconfigured(f"the expression of {attribute.logical_name}: {error}") from error
        return _converted(attribute, read, result)

    return evaluate


def _reader(attribute: Attribute) -> Reader:
    kind = natural_type(attribute)
    if kind is None:
        raise Misconfigured(f"{attribute.logical_name} takes a file, which no binding gives")
    return kind.compile(
        Limits(
            minimum=attribute.minimum,
            maximum=attribute.maximum,
            max_length=attribute.max_length,
            precision=attribute.precision,
            targets=attribute.targets,
        )
    )


def _converted(attribute: Attribute, read: Reader, raw: Any) -> Value:
    if raw is None:
        return None
    try:
        return read(raw)
    except InvalidInput as error:
        raise Misconfigured(f"the value for {attribute.logical_name}: {error.message}") from error


_SOURCES: dict[str, Callable[[BindingDefinition, Attribute], Source]] = {
    "input": _of_input,
    "constant": _of_constant,
    "user": _of_user,
    "expression": _of_expression,
}
