"""An endpoint's inputs, compiled once: from the body's JSON object to typed values."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crmclient import Platform, Value
from crmclient.metadata import Attribute, OptionSet
from designer.definitions import EndpointDefinition, InputDefinition
from designer.types import TYPES, InvalidInput, Limits, Reader
from runtime.bodies import escape
from runtime.problems import FieldError, Problem

# An answer should not be many times its request.
MOST_UNKNOWN = 100
LONGEST_KEY = 100


class _Input(NamedTuple):
    name: str
    required: bool
    nullable: bool
    default: Value
    has_default: bool
    read: Reader


class Inputs:
    """The inputs of one endpoint. `read` answers a value for every input that was sent or has a default."""

    def __init__(self, definitions: Sequence[InputDefinition], limits: Mapping[str, Limits]) -> None:
        self.definitions = tuple(definitions)
        self.limits = limits
        self._inputs = tuple(_compile(definition, limits[definition.name]) for definition in definitions)
        self._names = frozenset(definition.name for definition in definitions)

    def read(self, body: Mapping[str, Any], at: str = "") -> dict[str, Value]:
        """Raises Problem 400 `invalid_input` naming every mistake. `at` is the pointer of `body`."""
        values: dict[str, Value] = {}
        errors: list[FieldError] = []
        for name, required, nullable, default, has_default, read in self._inputs:
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
        if not body.keys() <= self._names:
            unknown = [key[:LONGEST_KEY] for key in body if key not in self._names][:MOST_UNKNOWN]
            errors += [
                FieldError("unknown_key", "There is no such input.", pointer=f"{at}/{escape(key)}")
                for key in unknown
            ]
        if errors:
            raise invalid_input(errors)
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


def _options(attribute: Attribute | None, entity: str, platform: Platform) -> OptionSet | None:
    if attribute is None or attribute.option_set is None:
        return None
    return platform.option_set(attribute.logical_name, entity=entity)


def _compile(definition: InputDefinition, limits: Limits) -> _Input:
    read = TYPES[definition.type].compile(limits)
    has_default = definition.default is not None
    return _Input(
        name=definition.name,
        required=definition.required,
        nullable=definition.nullable,
        default=read(definition.default) if has_default else None,
        has_default=has_default,
        read=read,
    )


def _must_be_sent(definition: InputDefinition) -> bool:
    return definition.required and definition.default is None


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema
