"""An endpoint's columns, compiled once: from a record's values to the object that callers get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crmclient import Value
from crmclient.metadata import ENGLISH, Attribute, AttributeType
from designer.columns import column_key, label_key
from designer.definitions import ColumnDefinition
from runtime.failures import Misconfigured
from runtime.labels import OptionLabels
from runtime.outputs import Writer, schema, writer

_NO_LABELS: Mapping[str, OptionLabels] = {}


class _Column(NamedTuple):
    key: str
    attribute: Attribute
    name: str
    write: Writer | None
    labels: OptionLabels | None


class Columns:
    """Columns over `known` attributes; those that have `labels` are followed by them.

    Raises Misconfigured for an attribute that is not known, and for a key that two columns share.
    """

    def __init__(
        self,
        chosen: Iterable[ColumnDefinition],
        known: Mapping[str, Attribute],
        labels: Mapping[str, OptionLabels] = _NO_LABELS,
    ) -> None:
        self._columns = tuple(_compile(column, known, labels) for column in chosen)
        self.attributes = tuple(dict.fromkeys(column.name for column in self._columns))
        properties = self._properties()
        if len(properties) < sum(1 if column.labels is None else 2 for column in self._columns):
            raise Misconfigured("two columns have one key")

    def answer(self, values: Mapping[str, Value], lcid: int = ENGLISH) -> dict[str, Any]:
        """Every key, whatever is empty: the shape of answers is stable."""
        answer: dict[str, Any] = {}
        for key, _, name, write, labels in self._columns:
            value = values.get(name)
            answer[key] = value if write is None or value is None else write(value)
            if labels is not None:
                answer[label_key(key)] = None if value is None else labels.of(value, lcid)
        return answer

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of `answer`."""
        properties = self._properties()
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _properties(self) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for column in self._columns:
            properties[column.key] = schema(column.attribute)
            if column.labels is not None:
                properties[label_key(column.key)] = _label_schema(column.attribute)
        return properties


def _compile(
    column: ColumnDefinition, known: Mapping[str, Attribute], labels: Mapping[str, OptionLabels]
) -> _Column:
    attribute = known.get(column.attribute)
    if attribute is None:
        raise Misconfigured(f"there is no {column.attribute!r} to answer with")
    key = column_key(column, attribute)
    if not key:
        raise Misconfigured(f"the column {column.shown_as!r} gives no key")
    return _Column(key, attribute, column.attribute, writer(attribute), labels.get(column.attribute))


def _label_schema(attribute: Attribute) -> dict[str, Any]:
    label = {"type": ["string", "null"]}
    if attribute.type is AttributeType.MULTISELECT:
        return {"type": ["array", "null"], "items": label}
    return label
