"""An endpoint's inputs in the query string, compiled once: from texts to typed values."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crmclient import Platform, Value
from crmclient.metadata import Attribute, OptionSet
from designer.definitions import EndpointDefinition, InputDefinition
from designer.endpoint_facts.query_parameters import Use, parameters_of, takes_list
from designer.names import RESERVED_PARAMETERS
from designer.sentences import Sentence
from designer.types import TYPES, InputType, InvalidInput, Limits
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError
from runtime.values.fields import Field

# Items of a list in the query string.
MOST_ITEMS = 100

_ITEM = re.compile(r"(?:[^\\,]|\\.|\\\Z)*", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\,])")


class _Input(NamedTuple):
    """A compiled input of a query. `key` is its name in lower case, by which it is found."""

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
        uses = parameters_of(definition)
        self._inputs = tuple(
            _compile(query_input, uses.get(query_input.name, ()), platform)
            for query_input in definition.inputs
        )
        self.written = {query_input.key: query_input.name for query_input in self._inputs}
        self.names = frozenset(self.written)
        if len(self.names) < len(self._inputs) or self.names & RESERVED_PARAMETERS:
            raise Misconfigured(
                Sentence("the names of two inputs differ in case at most, or one is reserved")
            )
        if missing := uses.keys() - {query_input.name for query_input in definition.inputs}:
            raise Misconfigured(
                Sentence("a query takes %(name)s, which is not an input", name=f"@{min(missing)}")
            )

    def read(self, texts: Mapping[str, str], errors: list[FieldError]) -> dict[str, Any]:
        """Return the value of every input by name; None for an input that is not given. Mistakes are added
        to `errors`.
        """
        values: dict[str, Any] = {}
        for query_input in self._inputs:
            text = texts.get(query_input.key)
            if text is None:
                values[query_input.name] = query_input.default
                if query_input.required and query_input.default is None:
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
                required=query_input.required and query_input.default is None,
            )
            for query_input in self._inputs
        )

    def document(self) -> tuple[dict[str, Any], ...]:
        """OpenAPI's parameter objects."""
        return tuple(_parameter(query_input) for query_input in self._inputs)


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
    kind = TYPES.get(definition.type)
    if kind is None or not kind.in_query:
        raise Misconfigured(Sentence("a query takes no %(type)s", type=definition.type))
    attribute = _compared(uses, platform)
    limits = Limits.of(definition, None, _options(definition, attribute, platform))
    several = kind.is_several or takes_list(uses)
    kind = kind.as_parameter
    read, schema = _list(kind, limits) if several else _single(kind, limits)
    default = None
    if definition.default is not None:
        schema = {**schema, "default": copy.deepcopy(definition.default)}
        default = _default(kind, limits, definition.default)
    return _Input(
        definition.name,
        definition.name.lower(),
        definition.required,
        default,
        read,
        schema,
        definition.label,
        definition.description,
        definition.type,
        attribute,
    )


def _compared(uses: Sequence[Use], platform: Platform) -> Attribute | None:
    """Return the attribute that the input is compared with.

    If there are several, return one with an option set, if any has one.
    """
    candidates = (platform.attributes(use.entity).get(use.attribute) for use in uses)
    attributes = [attribute for attribute in candidates if attribute is not None]
    return next(
        (attribute for attribute in attributes if attribute.option_set), attributes[0] if attributes else None
    )


def _options(
    definition: InputDefinition, attribute: Attribute | None, platform: Platform
) -> OptionSet | None:
    """Return the option set of the attribute that a choice is compared with; None for any other input."""
    if not TYPES[definition.type].is_choice:
        return None
    if attribute is None or attribute.option_set is None:
        return None
    return option_set_of(attribute, platform)


def option_set_of(attribute: Attribute, platform: Platform) -> OptionSet:
    """Return the option set of a choice attribute: its own, or a global one."""
    return attribute.options or platform.option_set(attribute.option_set or "")


def _single(kind: InputType, limits: Limits) -> tuple[Callable[[str], Value], dict[str, Any]]:
    """Return the function that reads one value, and its JSON Schema. The function raises InvalidInput."""
    convert, read = kind.from_text, kind.compile(limits)
    return lambda text: read(convert(text)), kind.schema(limits)


def _list(kind: InputType, limits: Limits) -> tuple[Callable[[str], Any], dict[str, Any]]:
    """Return the function that reads a comma-separated list, and the JSON Schema of the list. The function
    raises InvalidInput.
    """
    if kind.is_several:
        read_all, schema = kind.compile(limits), kind.schema(limits)
        schema["maxItems"] = min(MOST_ITEMS, schema["maxItems"])
        return lambda text: read_all([kind.from_text(item) for item in _items(text)]), schema
    read_one, schema = _single(kind, limits)

    def read(text: str) -> tuple[Value, ...]:
        return tuple(read_one(item) for item in _items(text))

    return read, {"type": "array", "items": schema, "minItems": 1, "maxItems": MOST_ITEMS}


def _items(text: str) -> list[str]:
    """Return the texts in a list. Raises InvalidInput for too many, and for an empty one."""
    items = split_list(text)
    if len(items) > MOST_ITEMS:
        raise InvalidInput("too_long", f"At most {MOST_ITEMS} items.")
    if not all(items):
        raise InvalidInput("required", r"No item may be empty; a comma inside one is written \,")
    return items


def _default(kind: InputType, limits: Limits, default: Any) -> Any:
    """Return the default from the definition, where it is JSON, as a value of the input's type.

    The default of a list may be one item or all items.
    """
    read_value = kind.compile(limits)
    if isinstance(default, (list, tuple)) and not kind.is_several:
        return tuple(read_value(item) for item in default)
    return read_value(list(default) if isinstance(default, tuple) else default)


def _parameter(query_input: _Input) -> dict[str, Any]:
    parameter: dict[str, Any] = {"name": query_input.name, "in": "query", "schema": query_input.schema}
    if query_input.required:
        parameter["required"] = True
    if query_input.description:
        parameter["description"] = query_input.description
    if query_input.schema.get("type") == "array":
        parameter |= {"style": "form", "explode": False}
    return parameter
