"""Option sets in the document: components that say which value means what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from crmclient import Platform
from crmclient.known_options import known_options
from crmclient.metadata import Attribute, OptionSet
from runtime.values.fields import Field

Components = dict[str, dict[str, Any]]

_UNNAMEABLE = re.compile(r"[^A-Za-z0-9]+")
_NAME = re.compile(r"[A-Za-z]")


class OptionComponents:
    """Puts references in the place of the options of fields, and collects what they refer to."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.components: Components = {}

    def in_input(self, schema: Mapping[str, Any], fields: Iterable[Field]) -> dict[str, Any]:
        """Return the schema of an object with references to all options. `fields` are its properties."""
        properties = dict(schema["properties"])
        for field, name, option_set in self._choices(fields):
            properties[field.name] = _with_reference(properties[field.name], _reference(name), option_set)
        for field in fields:
            if field.items:
                properties[field.name] = self._in_list(properties[field.name], field.items)
        return {**schema, "properties": properties}

    def _in_list(self, schema: Mapping[str, Any], fields: tuple[Field, ...]) -> dict[str, Any]:
        """Return the schema of an input that holds records of `fields`, with references to all options.

        It is an array of records, a single record, or the changes of a list: an object of arrays, such as
        `add` with records and `remove` with ids. An array of ids has no options.
        """
        if "items" in schema:
            holds_records = "properties" in schema["items"]
            return (
                {**schema, "items": self.in_input(schema["items"], fields)} if holds_records else dict(schema)
            )
        is_record = schema["properties"].keys() >= {field.name for field in fields}
        if is_record:
            return self.in_input(schema, fields)
        changes = {name: self._in_list(part, fields) for name, part in schema["properties"].items()}
        return {**schema, "properties": changes}

    def in_output(self, schema: Mapping[str, Any], columns: Collection[Field]) -> dict[str, Any]:
        """Return the schema of an answer in which `x-option-set` names the options of each column.

        The options are no constraint: a record may hold a value that is no option any more.
        """
        if schema.get("type") == "array":
            return {**schema, "items": self.in_output(schema["items"], columns)}
        properties = dict(schema.get("properties", {}))
        if properties.keys() >= {column.name for column in columns}:
            for column, name, _ in self._choices(columns):
                properties[column.name] = {**properties[column.name], "x-option-set": _reference(name)}
        else:
            # The rows of a page are in one of its members, an array.
            for name, property_ in properties.items():
                if property_.get("type") == "array":
                    properties[name] = self.in_output(property_, columns)
        return {**schema, "properties": properties} if properties else dict(schema)

    def _choices(self, fields: Iterable[Field]) -> Iterator[tuple[Field, str, OptionSet]]:
        """Yield each field with options, the name of its component, and its option set. Add the
        components.
        """
        for field in fields:
            option_set = (
                None if field.attribute is None else known_options(field.attribute, self._platform.option_set)
            )
            if field.attribute is not None and option_set is not None and option_set.options:
                name = component_name(field.attribute, option_set)
                if name not in self.components:
                    self.components[name] = component(option_set, self._platform.languages()[0])
                yield field, name, option_set


def component_name(attribute: Attribute, option_set: OptionSet) -> str:
    """Return the name of an option set's component. Logical names have no dot, so that all names differ."""
    entity = option_set.entity
    return f"options.{entity}.{attribute.logical_name}" if entity else f"options.{option_set.name}"


def component(option_set: OptionSet, base_language: int) -> dict[str, Any]:
    """Return the schema of an option set's values, with the names and labels of the options."""
    labels = [option.label.text(base_language=base_language) for option in option_set.options]
    return {
        "type": "integer",
        "description": option_set.label.text(base_language=base_language) or option_set.name,
        "enum": [option.value for option in option_set.options],
        "x-enum-varnames": _variable_names(option_set, labels),
        "x-enum-descriptions": labels,
    }


def _reference(name: str) -> str:
    return f"#/components/schemas/{name}"


def _variable_names(option_set: OptionSet, labels: list[str]) -> list[str]:
    """Return names for generated code: each label or, where that is no name or not unique, the option's
    value.
    """
    names = [_UNNAMEABLE.sub("_", label) for label in labels]
    return [
        name
        if _NAME.match(name) and names.count(name) == 1
        else f"VALUE_{option.value}".replace("-", "MINUS_")
        for name, option in zip(names, option_set.options, strict=True)
    ]


def _with_reference(schema: Mapping[str, Any], reference: str, option_set: OptionSet) -> dict[str, Any]:
    """Return the schema with a reference in place of its `enum`, if the `enum` has just the options of the
    set.

    The schema is that of one option or of a list of options.
    """
    if "items" in schema:
        return {**schema, "items": _with_reference(schema["items"], reference, option_set)}
    allowed_values = [value for value in schema.get("enum", ()) if value is not None]
    if sorted(allowed_values) != sorted(option.value for option in option_set.options):
        return dict(schema)
    rest = {key: value for key, value in schema.items() if key not in {"type", "enum"}}
    if None in schema["enum"]:
        return {"anyOf": [{"$ref": reference}, {"type": "null"}], **rest}
    return {"$ref": reference, **rest}
