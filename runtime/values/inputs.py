"""An endpoint's inputs, compiled once: from the body's JSON object to typed values."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from crmclient import Platform, Value
from crmclient.metadata import Attribute, OptionSet
from designer.definitions import EndpointDefinition, InputDefinition
from designer.sentences import Sentence
from designer.types import TYPES, InvalidInput, Limits, Reader
from runtime.http.bodies import escape
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError, Problem

# An answer should not be many times its request.
MOST_UNKNOWN = 100
LONGEST_KEY = 100
# The code for what is not, or not only, wrong with inputs.
REFUSED = "platform_refused"


# A value for every input that was sent or has a default; of one that holds records, the like or a list of it.
Sent: TypeAlias = Mapping[str, Any]
_NO_LISTS: Mapping[str, Inputs] = {}


class _Input(NamedTuple):
    """`items` are the inputs of each record that it holds; `is_one`: of the only one."""

    name: str
    required: bool
    nullable: bool
    default: Value
    has_default: bool
    read: Reader
    items: Inputs | None
    is_one: bool


class Inputs:
    """The inputs of one endpoint, or of a record that an input holds; `lists` has those of its own.

    Raises Misconfigured for a type that there is not, ValueError for limits and defaults that cannot be.
    """

    def __init__(
        self,
        definitions: Sequence[InputDefinition],
        limits: Mapping[str, Limits],
        lists: Mapping[str, Inputs] = _NO_LISTS,
    ) -> None:
        self.definitions = tuple(definitions)
        self.limits = limits
        self._lists = lists
        self._inputs = tuple(
            _compile(definition, limits[definition.name], lists.get(definition.name))
            for definition in definitions
        )
        self._names = frozenset(definition.name for definition in definitions)

    def read(self, body: Mapping[str, Any]) -> Sent:
        """Raises Problem 400 `invalid_input` naming every mistake."""
        errors: list[FieldError] = []
        values = self._read(body, "", errors)
        if errors:
            raise invalid_input(errors)
        return values

    def completed(self, sent: Sent) -> Sent:
        """What was sent, with every input: null where it was not, also in the items of lists."""
        values: dict[str, Any] = {**dict.fromkeys(self._names), **sent}
        for name, items in self._lists.items():
            if values[name] is not None:
                held = values[name]
                one = isinstance(held, Mapping)
                values[name] = items.completed(held) if one else [items.completed(item) for item in held]
        return values

    def _read(self, body: Mapping[str, Any], at: str, errors: list[FieldError]) -> Sent:
        """`at` is the pointer of `body`; mistakes are added to `errors`."""
        values: dict[str, Any] = {}
        for name, required, nullable, default, has_default, read, items, is_one in self._inputs:
            if name not in body:
                if has_default:
                    values[name] = default
                elif required:
                    errors.append(FieldError("required", "Is required.", pointer=f"{at}/{name}"))
                continue
            raw = body[name]
            if raw is None:
                if required or not nullable:
                    errors.append(FieldError("required", "Must not be null.", pointer=f"{at}/{name}"))
                else:
                    values[name] = None
                continue
            try:
                values[name] = read(raw)
            except InvalidInput as error:
                errors.append(FieldError(error.code, error.message, pointer=f"{at}/{name}"))
                continue
            if items is not None:
                read_items = items._read if is_one else items._read_each
                values[name] = read_items(raw, f"{at}/{name}", errors)
        if not body.keys() <= self._names:
            unknown = [key[:LONGEST_KEY] for key in body if key not in self._names][:MOST_UNKNOWN]
            errors += [
                FieldError("unknown_key", "There is no such input.", pointer=f"{at}/{escape(key)}")
                for key in unknown
            ]
        return values

    def _read_each(self, raw: Sequence[Any], at: str, errors: list[FieldError]) -> list[Sent]:
        values: list[Sent] = []
        for index, item in enumerate(raw):
            if type(item) is dict:
                values.append(self._read(item, f"{at}/{index}", errors))
            else:
                errors.append(FieldError("wrong_type", "Must be an object.", pointer=f"{at}/{index}"))
        return values

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the body."""
        properties = {definition.name: self._describe(definition) for definition in self.definitions}
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required := [definition.name for definition in self.definitions if _must_be_sent(definition)]:
            schema["required"] = required
        return schema

    def _describe(self, definition: InputDefinition) -> dict[str, Any]:
        schema = TYPES[definition.type].schema(self.limits[definition.name])
        if definition.name in self._lists:
            items = self._lists[definition.name].schema()
            schema = items if TYPES[definition.type].holds_one else {**schema, "items": items}
        if definition.nullable and not definition.required:
            schema = _or_null(schema)
        if definition.description:
            schema["description"] = definition.description
        if definition.default is not None:
            schema["default"] = copy.deepcopy(definition.default)
        return schema


def limits_of_inputs(
    endpoint: EndpointDefinition, entity: str, attributes: Mapping[str, Attribute], platform: Platform
) -> dict[str, Limits]:
    """What each input allows, given the attribute (of `entity`, where it has options) that it is bound to."""
    bound = {
        binding.value: attributes[binding.attribute]
        for binding in endpoint.bindings
        if binding.source == "input" and binding.attribute in attributes
    }
    return {
        definition.name: Limits.of(definition, attribute, _options(attribute, entity, platform))
        for definition in endpoint.inputs
        for attribute in (bound.get(definition.name),)
    }


def invalid_input(errors: Sequence[FieldError]) -> Problem:
    count = "1 input is" if len(errors) == 1 else f"{len(errors)} inputs are"
    return Problem(400, "invalid_input", f"{count} not valid.", errors=errors)


def refused(errors: Sequence[FieldError]) -> Problem:
    return Problem(422, REFUSED, "The platform refused the data.", errors=errors)


def _options(attribute: Attribute | None, entity: str, platform: Platform) -> OptionSet | None:
    if attribute is None or attribute.option_set is None:
        return None
    return platform.option_set(attribute.logical_name, entity=entity)


def _compile(definition: InputDefinition, limits: Limits, items: Inputs | None) -> _Input:
    kind = TYPES.get(definition.type)
    if kind is None:
        raise Misconfigured(
            Sentence(
                "%(name)s is of type %(type)s, which no input can be",
                name=definition.name,
                type=repr(definition.type),
            )
        )
    read = kind.compile(limits)
    has_default = definition.default is not None
    return _Input(
        name=definition.name,
        required=definition.required,
        nullable=definition.nullable,
        default=read(definition.default) if has_default else None,
        has_default=has_default,
        read=read,
        items=items,
        is_one=kind.holds_one,
    )


def _must_be_sent(definition: InputDefinition) -> bool:
    return definition.required and definition.default is None


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema
