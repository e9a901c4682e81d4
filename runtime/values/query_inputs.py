"""An endpoint's inputs in the query string, compiled once: from texts to typed values."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crmclient import Platform, Value
from crmclient.metadata import Attribute
from designer.definitions import EndpointDefinition, InputDefinition
from designer.endpoint_facts.query_parameters import Use, parameters_of
from designer.endpoint_facts.query_values import QueryValues
from designer.names import RESERVED_PARAMETERS, alike
from designer.sentences import Sentence
from designer.types import TYPES, InputType, InvalidInput, Limits
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError
from runtime.values.fields import Field
from runtime.values.inputs import impossible, names_alike

# Items of a list in the query string.
MOST_ITEMS = 100

# An item of a list: characters other than a comma, or escaped by a backslash. The text may end in a
# backslash.
_ITEM = re.compile(r"(?:[^\\,]|\\.|\\\Z)*", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\,])")


class _Input(NamedTuple):
    """A compiled input of a query.

    `key` is its name in lower case, by which it is found. `required`: a call without it is refused. `read`
    converts the text that was sent, and raises InvalidInput. `schema` is the JSON Schema of the value.
    `attribute` is what the value is compared with; None when that is not one attribute.
    """

    name: str
    key: str
    required: bool
    default: Any
    read: Callable[[str], Any]
    schema: dict[str, Any]
    label: str
    description: str
    type: str
    attribute: Attribute | None


class QueryInputs:
    """Inputs that come as parameters of the query string. `names` are their names in lower case, by which
    they are found; `written` has, by these, the names as they are configured.

    A parameter of list operators, and one of several options, takes a list. Raises Misconfigured for a type
    that no query string holds, and for names that are reserved.
    """

    def __init__(self, definition: EndpointDefinition, platform: Platform) -> None:
        # The conditions that read a parameter, by its name.
        uses = parameters_of(definition)
        self._inputs = tuple(
            _compile(query_input, uses.get(query_input.name, ()), platform)
            for query_input in definition.inputs
        )
        self.written = {query_input.key: query_input.name for query_input in self._inputs}
        self.names = frozenset(self.written)
        if same := alike(query_input.name for query_input in self._inputs):
            raise Misconfigured(names_alike(*same))
        if reserved := self.names & RESERVED_PARAMETERS:
            raise Misconfigured(
                Sentence(
                    "every query has a parameter %(name)s, so no input may have this name", name=min(reserved)
                )
            )
        if undefined := uses.keys() - {query_input.name for query_input in definition.inputs}:
            raise Misconfigured(
                Sentence("a query takes %(name)s, which is not an input", name=f"@{min(undefined)}")
            )

    def read(self, texts: Mapping[str, str], errors: list[FieldError]) -> dict[str, Any]:
        """Return the value of every input by name. An input that is not given has its default, or None
        without one; one with a mistake is left out. Mistakes are added to `errors`.
        """
        values: dict[str, Any] = {}
        for query_input in self._inputs:
            text = texts.get(query_input.key)
            if text is None:
                values[query_input.name] = query_input.default
                if query_input.required:
                    errors.append(FieldError("required", "Is required.", parameter=query_input.name))
                continue
            try:
                values[query_input.name] = query_input.read(text)
            except InvalidInput as error:
                errors.append(FieldError(error.code, error.message, parameter=query_input.name))
        return values

    def fields(self) -> tuple[Field, ...]:
        """Return the inputs as fields, for those who build forms."""
        return tuple(
            Field(
                name=query_input.name,
                type=query_input.type,
                schema=query_input.schema,
                attribute=query_input.attribute,
                label=query_input.label,
                description=query_input.description,
                required=query_input.required,
            )
            for query_input in self._inputs
        )

    def document(self) -> tuple[dict[str, Any], ...]:
        """Return the inputs as OpenAPI's parameter objects."""
        return tuple(_parameter_object(query_input) for query_input in self._inputs)


def split_list(text: str) -> list[str]:
    r"""Return the items of a comma-separated list; `\,` is a comma in an item and `\\` a backslash."""
    items: list[str] = []
    position = 0
    while True:
        match = _ITEM.match(text, position)
        assert match is not None  # noqa: S101  it matches nothing at least
        items.append(_ESCAPED.sub(r"\1", match[0]))
        if match.end() >= len(text):
            return items
        position = match.end() + 1


def _compile(definition: InputDefinition, uses: Sequence[Use], platform: Platform) -> _Input:
    """Compile a query's input. `uses` are the conditions that read it. Raises Misconfigured."""
    input_type = TYPES.get(definition.type)
    if input_type is None or not input_type.in_query:
        raise Misconfigured(Sentence("a query takes no %(type)s", type=definition.type))
    values = QueryValues.of(definition, uses, platform)
    compiled = _reader_of_list if values.takes_list else _reader_of_one
    has_default = definition.default is not None
    try:
        read, schema = compiled(values.input_type, values.limits)
        default = values.read(definition.default) if has_default else None
    except ValueError as error:
        raise impossible(definition.name, error) from error
    if has_default:
        schema = {**schema, "default": copy.deepcopy(values.in_json(definition.default))}
    return _Input(
        name=definition.name,
        key=definition.name.lower(),
        required=definition.must_be_sent,
        default=default,
        read=read,
        schema=schema,
        label=definition.label,
        description=definition.description,
        type=definition.type,
        attribute=values.attribute,
    )


def _reader_of_one(input_type: InputType, limits: Limits) -> tuple[Callable[[str], Value], dict[str, Any]]:
    """Return the function that reads one value, and its JSON Schema. The function raises InvalidInput."""
    convert, read = input_type.from_text, input_type.compile(limits)
    return lambda text: read(convert(text)), input_type.schema(limits)


def _reader_of_list(input_type: InputType, limits: Limits) -> tuple[Callable[[str], Any], dict[str, Any]]:
    """Return the function that reads a comma-separated list, and the JSON Schema of the list. The function
    raises InvalidInput.
    """
    if input_type.is_several:
        read_all, schema = input_type.compile(limits), input_type.schema(limits)
        schema["maxItems"] = min(MOST_ITEMS, schema["maxItems"])
        return lambda text: read_all([input_type.from_text(item) for item in _items(text)]), schema
    read_one, schema = _reader_of_one(input_type, limits)

    def read(text: str) -> tuple[Value, ...]:
        return tuple(read_one(item) for item in _items(text))

    return read, {"type": "array", "items": schema, "minItems": 1, "maxItems": MOST_ITEMS}


def _items(text: str) -> list[str]:
    """Return the texts in a list. Raises InvalidInput for too many items, and for an empty item."""
    items = split_list(text)
    if len(items) > MOST_ITEMS:
        raise InvalidInput("too_long", f"At most {MOST_ITEMS} items.")
    if not all(items):
        raise InvalidInput("required", r"No item may be empty; a comma inside one is written \,")
    return items


def _parameter_object(query_input: _Input) -> dict[str, Any]:
    """Return an input as a parameter object of OpenAPI."""
    parameter: dict[str, Any] = {"name": query_input.name, "in": "query", "schema": query_input.schema}
    if query_input.required:
        parameter["required"] = True
    if query_input.description:
        parameter["description"] = query_input.description
    if query_input.schema.get("type") == "array":
        parameter |= {"style": "form", "explode": False}
    return parameter
