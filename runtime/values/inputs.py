"""An endpoint's inputs, compiled once: from the body's JSON object to typed values."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from crmclient import Platform, Value
from crmclient.known_options import known_options
from crmclient.metadata import Attribute
from designer.definitions import EndpointDefinition, InputDefinition
from designer.endpoint_facts.bound_attributes import bound_attributes, bound_options
from designer.names import alike
from designer.sentences import Sentence
from designer.types import TYPES, InputType, InvalidInput, Limits, Reader
from runtime.http.bodies import escape
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError, Problem

# The most unknown keys that an answer names, and the characters of each: an answer should not be many times
# as long as its request.
MOST_UNKNOWN = 100
LONGEST_KEY = 100
# The problem code when the platform refuses values that do not, or not all, come from the caller's inputs.
REFUSED = "platform_refused"


# By input, the value of every input that was sent or has a default. An input that holds records has a `Sent`
# of its own, or a list of them.
Sent: TypeAlias = Mapping[str, Any]


class Items(Protocol):
    """Reads the items of a list. `Inputs` implements it for a list of records to create."""

    def reader(self, input_type: InputType, limits: Limits) -> Reader:
        """Return the function that checks the value as a whole, for an input of `input_type`."""

    def read_items(self, raw: Any, pointer: str, errors: list[FieldError]) -> Any:
        """Return the items of a value that has been checked as a whole.

        `pointer` is the value's JSON Pointer. Mistakes are added to `errors`.
        """

    def completed_items(self, value: Any) -> Any:
        """Return the value with every input of each item."""

    def schema_of(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON Schema of the value. `schema` is the one of any list."""


_NO_LISTS: Mapping[str, Items] = {}


class _Input(NamedTuple):
    """A compiled input. `default` counts only with `has_default`. `read` checks a value and converts it; for
    an input that holds records, `items` then reads these.
    """

    name: str
    required: bool
    nullable: bool
    default: Value
    has_default: bool
    read: Reader
    items: Items | None


class Inputs:
    """The inputs of an endpoint, or of a record that an input holds. `limits` are by input; `lists` has what
    reads the items of those inputs that hold records, by input.

    Raises Misconfigured for unknown types, for limits and defaults that are not valid, and for names that
    differ in upper and lower case at most.
    """

    def __init__(
        self,
        definitions: Sequence[InputDefinition],
        limits: Mapping[str, Limits],
        lists: Mapping[str, Items] = _NO_LISTS,
    ) -> None:
        self.definitions = tuple(definitions)
        if same := alike(definition.name for definition in self.definitions):
            raise Misconfigured(names_alike(*same))
        self.limits = limits
        self._lists = {
            definition.name: _items_of(definition, lists[definition.name])
            for definition in definitions
            if definition.name in lists
        }
        self._inputs = tuple(
            _compile(definition, limits[definition.name], self._lists.get(definition.name))
            for definition in definitions
        )
        self._names = frozenset(definition.name for definition in definitions)

    def read(self, body: Mapping[str, Any]) -> Sent:
        """Return the values of a body, by input.

        Raises Problem 400 `invalid_input` that names every mistake.
        """
        errors: list[FieldError] = []
        values = self.read_object(body, "", errors)
        if errors:
            raise invalid_input(errors)
        return values

    def completed(self, sent: Sent) -> Sent:
        """Return what was sent with all other inputs as None, also in the items of lists."""
        values: dict[str, Any] = {**dict.fromkeys(self._names), **sent}
        for name, items in self._lists.items():
            if values[name] is not None:
                values[name] = items.completed_items(values[name])
        return values

    def read_object(self, body: Mapping[str, Any], pointer: str, errors: list[FieldError]) -> Sent:
        """Return the values of the inputs in `body`, whose JSON Pointer is `pointer`. Mistakes go to
        `errors`. An input that was not sent has its default or, without one, is left out.
        """
        values: dict[str, Any] = {}
        for name, required, nullable, default, has_default, read, items in self._inputs:
            if name not in body:
                if has_default:
                    values[name] = default
                elif required:
                    errors.append(FieldError("required", "Is required.", pointer=f"{pointer}/{name}"))
                continue
            raw = body[name]
            if raw is None:
                if required or not nullable:
                    errors.append(FieldError("required", "Must not be null.", pointer=f"{pointer}/{name}"))
                else:
                    values[name] = None
                continue
            try:
                values[name] = read(raw)
            except InvalidInput as error:
                errors.append(FieldError(error.code, error.message, pointer=f"{pointer}/{name}"))
                continue
            if items is not None:
                # `read` has only checked the value as a whole.
                values[name] = items.read_items(raw, f"{pointer}/{name}", errors)
        if not body.keys() <= self._names:
            # The caller may have sent any number of keys, of any length: the answer names a few, cut.
            unknown = [key[:LONGEST_KEY] for key in body if key not in self._names][:MOST_UNKNOWN]
            errors += [
                FieldError("unknown_key", "There is no such input.", pointer=f"{pointer}/{escape(key)}")
                for key in unknown
            ]
        return values

    def reader(self, input_type: InputType, limits: Limits) -> Reader:
        """Return the function that checks a list as a whole. The items are read by `read_items`."""
        return input_type.compile(limits)

    def read_items(self, raw: Sequence[Any], pointer: str, errors: list[FieldError]) -> list[Sent]:
        """Return the values of each item of a list. Mistakes are added to `errors`."""
        values: list[Sent] = []
        for index, item in enumerate(raw):
            if type(item) is dict:
                values.append(self.read_object(item, f"{pointer}/{index}", errors))
            else:
                errors.append(FieldError("wrong_type", "Must be an object.", pointer=f"{pointer}/{index}"))
        return values

    def completed_items(self, value: Sequence[Sent]) -> list[Sent]:
        return [self.completed(item) for item in value]

    def schema_of(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {**schema, "items": self.schema()}

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the body."""
        properties = {definition.name: self._schema_of_input(definition) for definition in self.definitions}
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required := [definition.name for definition in self.definitions if definition.must_be_sent]:
            schema["required"] = required
        return schema

    def _schema_of_input(self, definition: InputDefinition) -> dict[str, Any]:
        """Return the JSON Schema of one input."""
        schema = TYPES[definition.type].schema(self.limits[definition.name])
        if definition.name in self._lists:
            schema = self._lists[definition.name].schema_of(schema)
        if definition.nullable and not definition.required:
            schema = _or_null(schema)
        if definition.description:
            schema["description"] = definition.description
        if definition.default is not None:
            schema["default"] = copy.deepcopy(definition.default)
        return schema


class _OneRecord:
    """The only record that an input holds; `inputs` are its own."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs

    def reader(self, input_type: InputType, limits: Limits) -> Reader:
        return input_type.compile(limits)

    def read_items(self, raw: Mapping[str, Any], pointer: str, errors: list[FieldError]) -> Sent:
        return self._inputs.read_object(raw, pointer, errors)

    def completed_items(self, value: Sent) -> Sent:
        return self._inputs.completed(value)

    def schema_of(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return self._inputs.schema()


def _items_of(definition: InputDefinition, items: Items) -> Items:
    """Return what reads the records of an input. `Inputs` reads lists: for a single record it is wrapped."""
    input_type = TYPES.get(definition.type)
    if input_type is not None and input_type.holds_one and isinstance(items, Inputs):
        return _OneRecord(items)
    return items


def limits_of_inputs(
    endpoint: EndpointDefinition, attributes: Mapping[str, Attribute], platform: Platform
) -> dict[str, Limits]:
    """Return the limits of each input, by name. They depend on the attribute that the input is bound to."""
    bound = bound_attributes(endpoint.bindings, attributes)
    options = bound_options(
        endpoint.bindings, attributes, lambda attribute: known_options(attribute, platform.option_set)
    )
    return {
        definition.name: Limits.of(definition, bound.get(definition.name), options.get(definition.name))
        for definition in endpoint.inputs
    }


def names_alike(name: str, other: str) -> Sentence:
    """Return why inputs of these names are not served together."""
    return Sentence(
        "the inputs %(name)s and %(other)s differ only in upper and lower case", name=name, other=other
    )


def impossible(name: str, error: ValueError) -> Misconfigured:
    """Return the exception to raise for an input whose limits or default cannot be."""
    return Misconfigured(Sentence("the input %(name)s: %(reason)s", name=name, reason=str(error)))


def invalid_input(errors: Sequence[FieldError]) -> Problem:
    """Return the Problem 400 with these mistakes in the inputs."""
    count = "1 input is" if len(errors) == 1 else f"{len(errors)} inputs are"
    return Problem(400, "invalid_input", f"{count} not valid.", errors=errors)


def platform_refusal(errors: Sequence[FieldError]) -> Problem:
    """Return the Problem 422 for values that the platform refused. `errors` may be empty."""
    return Problem(422, REFUSED, "The platform refused the data.", errors=errors)


def _compile(definition: InputDefinition, limits: Limits, items: Items | None) -> _Input:
    """Compile an input. `items` reads its records, if it holds records. Raises Misconfigured."""
    input_type = TYPES.get(definition.type)
    if input_type is None:
        raise Misconfigured(
            Sentence(
                "%(name)s is of type %(type)s, which no input can be",
                name=definition.name,
                type=repr(definition.type),
            )
        )
    has_default = definition.default is not None
    if has_default and items is not None:
        # What is sent for records is read item by item; a default would reach the platform as it is.
        raise Misconfigured(Sentence("%(name)s holds records, which have no default", name=definition.name))
    try:
        read = input_type.compile(limits) if items is None else items.reader(input_type, limits)
        default = read(definition.default) if has_default else None
    except ValueError as error:
        raise impossible(definition.name, error) from error
    return _Input(
        name=definition.name,
        required=definition.required,
        nullable=definition.nullable,
        default=default,
        has_default=has_default,
        read=read,
        items=items,
    )


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with null as a further value."""
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema
