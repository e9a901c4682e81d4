"""Entity properties, compiled once: from inputs, constants, the user and expressions to attribute values."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from crmclient import Value
from crmclient.errors import InvalidRecord, InvalidValue
from crmclient.metadata import Attribute
from crmclient.sentences import for_log
from designer.definitions import BindingDefinition
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.names import RESERVED_PROPERTIES
from designer.sentences import Sentence
from designer.types import InvalidInput, Limits, Reader, as_sent, natural_type
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError, Problem
from runtime.request_context import Exchange
from runtime.values.evaluation import evaluate
from runtime.values.inputs import Sent, invalid_input, platform_refusal

logger = logging.getLogger("portico.bindings")

# The function that gives the value of one binding. Its arguments are the exchange, the inputs that were sent,
# and all inputs, with None for those that were not sent. It returns `ABSENT` if the attribute is to be left
# alone, and raises InvalidInput for a value that does not fit.
Source: TypeAlias = Callable[[Exchange, Sent, Sent], Any]
ABSENT: Any = object()
# The fields of `user` in expressions that are not configured properties.
_BUILT_IN_USER_FIELDS = frozenset({"id", "teams"}) | RESERVED_PROPERTIES


class Bindings:
    """Bindings to `attributes` of `owner`, an entity or a process; `inputs` are the names of inputs.

    Raises Misconfigured when an attribute is unknown, and for a constant or expression that does not fit its
    attribute.
    """

    def __init__(
        self,
        bindings: Sequence[BindingDefinition],
        inputs: Collection[str],
        attributes: Mapping[str, Attribute],
        owner: str,
    ) -> None:
        self._owner = owner
        self._sources: list[tuple[str, Source]] = []
        # The inputs that an attribute's value comes from.
        self._inputs: dict[str, tuple[str, ...]] = {}
        names = frozenset(inputs)
        for binding in bindings:
            if not binding.attribute:
                raise Misconfigured(Sentence("an entity property has no attribute"))
            if binding.attribute not in attributes:
                raise Misconfigured(Sentence("there is no attribute %(name)s", name=repr(binding.attribute)))
            self._sources.append(
                (binding.attribute, _compiled_source(binding, attributes[binding.attribute], names))
            )
            self._inputs[binding.attribute] = _inputs_of(binding, names)

    def values(self, exchange: Exchange, sent: Sent, completed: Sent) -> dict[str, Value]:
        """Return the values to write, by attribute. An input that was not sent leaves its attribute alone.

        `sent` has the inputs that were sent; `completed` has all inputs, with None for those that were not.
        Raises InvalidRecord naming every attribute that cannot have its value.
        """
        values: dict[str, Value] = {}
        wrong: list[InvalidValue] = []
        for attribute, source in self._sources:
            try:
                value = source(exchange, sent, completed)
            except InvalidInput as error:
                # The request is refused, and the endpoint is still served: another caller or record may have
                # a value that fits.
                logger.info("the value for %s is unsuitable: %s", attribute, error.code)
                wrong.append(Unsuitable(attribute, error))
                continue
            if value is not ABSENT:
                values[attribute] = value
        if wrong:
            raise InvalidRecord(self._owner, wrong)
        return values

    def problem_of(self, error: InvalidRecord, pointer: str = "") -> Problem:
        """Return the platform's refusal of values as a problem of the inputs that gave them.

        `pointer` is the JSON Pointer of the object with the inputs. A refused value that no input gives, such
        as a constant, is the configuration's mistake: the caller learns only that the platform refused.
        """
        errors = [
            FieldError(problem.code, problem.message, pointer=f"{pointer}/{name}")
            for problem in error.problems
            for name in self._inputs.get(problem.attribute, ())
        ]
        if any(not self._inputs.get(problem.attribute) for problem in error.problems):
            return platform_refusal(errors)
        return invalid_input(errors)


class Unsuitable(InvalidValue):
    """A value that the attribute cannot have, which comes from the inputs."""

    def __init__(self, attribute: str, error: InvalidInput) -> None:
        super().__init__(attribute, error.message)
        self.code = error.code


def _inputs_of(binding: BindingDefinition, names: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the inputs that a binding's value comes from. An expression may read several
    inputs.
    """
    if binding.source == "input":
        return (binding.value,)
    if binding.source != "expression":
        return ()
    inputs_read = Expression(binding.value, ENDPOINT_NAMES).members("input")
    # None: the expression may read any input.
    return tuple(sorted(names if inputs_read is None else names & inputs_read))


def _compiled_source(binding: BindingDefinition, attribute: Attribute, inputs: frozenset[str]) -> Source:
    """Compile a binding to `attribute`. `inputs` are the names of all inputs. Raises Misconfigured."""
    compile_source = _SOURCES[binding.source]
    if binding.source == "input" and binding.value not in inputs:
        raise Misconfigured(
            Sentence(
                "%(attribute)s is bound to %(name)s, which is not an input",
                attribute=attribute.logical_name,
                name=f"@{binding.value}",
            )
        )
    return compile_source(binding, attribute)


def _from_input(binding: BindingDefinition, attribute: Attribute) -> Source:
    """Return the function that gives what was sent for an input."""
    name = binding.value
    return lambda exchange, sent, completed: sent.get(name, ABSENT)


def _from_constant(binding: BindingDefinition, attribute: Attribute) -> Source:
    """Return the function that gives a constant. Raises Misconfigured when the attribute cannot have it."""
    try:
        value = None if binding.value is None else _reader(attribute)(binding.value)
    except InvalidInput as error:
        raise Misconfigured(
            Sentence(
                "the constant of %(name)s: %(reason)s", name=attribute.logical_name, reason=error.message
            )
        ) from error
    return lambda exchange, sent, completed: value


def _from_user(binding: BindingDefinition, attribute: Attribute) -> Source:
    """Return the function that reads an attribute's value from a user property. Raises Misconfigured."""
    name, read = binding.value, _reader(attribute)

    def value(exchange: Exchange, sent: Sent, completed: Sent) -> Value:
        """Return the property of the caller. Raises Misconfigured when the platform cannot serve it."""
        user = exchange.user
        if name not in user:
            # Writing null instead would lose data without a word.
            raise Misconfigured(
                Sentence(
                    "%(attribute)s is bound to %(name)s, which cannot be read",
                    attribute=attribute.logical_name,
                    name=f"@user.{name}",
                )
            )
        # `user` has a record as its bare id. A lookup also needs the entity, which `user_references` has.
        user_value = exchange.user_references.get(name, user[name])
        # It has none for the caller's own record.
        if user_value is not None and user_value == exchange.caller.record:
            user_value = exchange.user_context.reference(exchange.caller)
        return _converted(attribute, read, user_value)

    return value


def _from_fetcher(binding: BindingDefinition, attribute: Attribute) -> Source:
    """Return the function that reads an attribute's value from a data fetcher's row."""
    fetcher, _, key = str(binding.value).partition(".")
    read = _reader(attribute)

    def value(exchange: Exchange, sent: Sent, completed: Sent) -> Value:
        return _converted(attribute, read, exchange.fetched[fetcher].get(key))

    return value


def _from_expression(binding: BindingDefinition, attribute: Attribute) -> Source:
    """Return the function that computes an attribute's value by a CEL expression. Raises Misconfigured."""
    try:
        expression = Expression(str(binding.value or ""), ENDPOINT_NAMES)
    except ExpressionError as error:
        raise Misconfigured(
            Sentence("the expression of %(name)s: %(reason)s", name=attribute.logical_name, reason=str(error))
        ) from error
    # `user.name` alone, and nothing computed from it.
    if expression.path is not None and len(expression.path) == 2 and expression.path[0] == "user":
        # The expression only names a property of the user: read as such, a lookup keeps its entity.
        name = expression.path[1]
        if name not in _BUILT_IN_USER_FIELDS:
            return _from_user(binding.model_copy(update={"value": name}), attribute)
    read = _reader(attribute)
    if expression.is_fixed:
        _check_value(expression, attribute, read)

    def value(exchange: Exchange, sent: Sent, completed: Sent) -> Value:
        """Return the result for one request. Raises InvalidInput when there is none."""
        try:
            result = evaluate(expression, exchange, input=completed)
        except ExpressionError as error:
            logger.info("the expression of %s has no value: %s", attribute.logical_name, for_log(error))
            raise InvalidInput("not_computable", "Nothing can be computed from this.") from error
        # A lookup needs the entity of the caller's record, too.
        if expression.path == ("user", "id") and isinstance(result, str):
            result = exchange.user_context.reference(exchange.caller)
        return _converted(attribute, read, result)

    return value


def _check_value(expression: Expression, attribute: Attribute, read: Reader) -> None:
    """Raise Misconfigured if the attribute cannot have the value of a constant expression."""
    try:
        _converted(attribute, read, expression.evaluate({}))
    except (ExpressionError, InvalidInput) as error:
        reason = str(error) if isinstance(error, ExpressionError) else error.message
        raise Misconfigured(
            Sentence("the expression of %(name)s: %(reason)s", name=attribute.logical_name, reason=reason)
        ) from error


def _reader(attribute: Attribute) -> Reader:
    """Return the function that checks a value and converts it to the attribute's type. Raises
    Misconfigured.
    """
    input_type = natural_type(attribute)
    if input_type is None:
        raise Misconfigured(
            Sentence(
                "%(attribute)s takes a file, which a binding cannot set", attribute=attribute.logical_name
            )
        )
    return input_type.compile(
        Limits(
            minimum=attribute.minimum,
            maximum=attribute.maximum,
            max_length=attribute.max_length,
            precision=attribute.precision,
            targets=attribute.targets,
            addresses=attribute.takes_addresses,
        )
    )


def _converted(attribute: Attribute, read: Reader, value: Any) -> Value:
    """Return a value of the user, a fetcher or an expression as the attribute takes it. Raises
    InvalidInput.
    """
    return None if value is None else read(as_sent(value, attribute))


_SOURCES: dict[str, Callable[[BindingDefinition, Attribute], Source]] = {
    "input": _from_input,
    "constant": _from_constant,
    "user": _from_user,
    "fetch": _from_fetcher,
    "expression": _from_expression,
}
