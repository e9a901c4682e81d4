"""An endpoint's columns, compiled once: from a record's values to the object that callers get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crmclient import ProcessValues
from crmclient.metadata import Attribute, AttributeType
from designer.definitions import ColumnDefinition
from designer.endpoint_facts.column_keys import column_key, label_key
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.request_context import Exchange
from runtime.values.calculated_columns import Calculation
from runtime.values.fields import Field, type_of
from runtime.values.option_labels import OptionLabels
from runtime.values.outputs import Writer, schema, writer

_NO_LABELS: Mapping[str, OptionLabels] = {}
_CALCULATED = "Calculated; null where it has no value."


class _Column(NamedTuple):
    """A compiled column of an answer.

    `key` is its key in the answer, `name` the key of the row that its value comes from; empty for a
    calculated column. `attribute` describes the value; None when no attribute does. `write` converts the
    row's value to the answered one; None when both are the same. `labels` are answered beside the value; None
    for a column without labels. `calculation` calculates the value; None for a column of the row.
    """

    key: str
    attribute: Attribute | None
    name: str
    write: Writer | None
    labels: OptionLabels | None
    calculation: Calculation | None

    @property
    def changes(self) -> bool:
        """Whether the answered value differs from the row's, or has a label beside it."""
        return not (self.write is None and self.labels is None and self.calculation is None)


class Columns:
    """The columns of an answer, over the attributes or row keys in `attributes`. A column whose attribute is
    in `labels` is followed by one with the labels of its options.

    `self.attributes` are those that rows must have: the columns, and what the expressions of calculated
    columns read. Raises Misconfigured for an unknown attribute, and for a key that two columns share.
    """

    def __init__(
        self,
        chosen: Iterable[ColumnDefinition],
        attributes: Mapping[str, Attribute],
        labels: Mapping[str, OptionLabels] = _NO_LABELS,
    ) -> None:
        chosen = tuple(chosen)
        answered = tuple(dict.fromkeys(column.attribute for column in chosen if not column.expression))
        self._columns = tuple(_compile(column, attributes, labels, answered) for column in chosen)
        calculated = (column.calculation for column in self._columns if column.calculation)
        needs = (name for calculation in calculated for name in calculation.needs)
        self.attributes = tuple(dict.fromkeys((*answered, *needs)))
        # The keys of an answer and, at the same positions, the keys of a row that their values come from.
        sources = tuple(_keys_and_sources(self._columns))
        self._keys = tuple(key for key, _ in sources)
        self._row_keys = tuple(name for _, name in sources)
        self._changed = tuple(column for column in self._columns if column.changes)
        properties = self._schemas_by_key()
        if len(properties) < sum(1 if column.labels is None else 2 for column in self._columns):
            # Of two columns with the same key, one is lost among the properties.
            raise Misconfigured(Sentence("two columns have one key"))

    def answer(self, values: ProcessValues, lcid: int, exchange: Exchange) -> dict[str, Any]:
        """Return one record as an answer has it. Raises what `answers` raises."""
        return self.answers((values,), lcid, exchange)[0]

    def answers(self, rows: Sequence[ProcessValues], lcid: int, exchange: Exchange) -> list[dict[str, Any]]:
        """Return the rows as an answer has them. Every row has every key, also for an empty value.

        Raises Problem 401, 403 when a calculated column needs a user and there is none.
        """
        keys, row_keys = self._keys, self._row_keys
        # Most columns go out as they are: all of them at once, then column by column those that do not.
        answers: list[dict[str, Any]] = [dict(zip(keys, map(row.get, row_keys), strict=True)) for row in rows]
        for key, _, _, write, labels, calculation in self._changed:
            if calculation is not None:
                for answer, row in zip(answers, rows, strict=True):
                    answer[key] = calculation.value(row, exchange)
            if labels is not None:
                key_of_label = label_key(key)
                for answer in answers:
                    if answer[key] is not None:
                        answer[key_of_label] = labels.of(answer[key], lcid)
            if write is not None:
                for answer in answers:
                    value = answer[key]
                    if value is not None:
                        answer[key] = write(value)
        return answers

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the result of `answer`."""
        properties = self._schemas_by_key()
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def fields(self) -> tuple[Field, ...]:
        """Return the columns as fields, without those for labels, for those who build tables."""
        properties = self._schemas_by_key()
        return tuple(
            Field(
                name=column.key,
                type=_type_of_column(column),
                schema=properties[column.key],
                attribute=column.attribute,
            )
            for column in self._columns
        )

    def _schemas_by_key(self) -> dict[str, Any]:
        """Return the JSON Schemas of all columns and labels, by key."""
        properties: dict[str, Any] = {}
        for column in self._columns:
            properties[column.key] = (
                schema(column.attribute) if column.attribute else _schema_of_calculated(column)
            )
            if column.labels is not None and column.attribute is not None:
                properties[label_key(column.key)] = _label_schema(column.attribute)
        return properties


def _keys_and_sources(columns: Iterable[_Column]) -> Iterator[tuple[str, str]]:
    """Yield every key of an answer in its order, with the row's key that it comes from; that is empty for a
    label.
    """
    for column in columns:
        yield column.key, column.name
        if column.labels is not None:
            yield label_key(column.key), ""


def _compile(
    column: ColumnDefinition,
    attributes: Mapping[str, Attribute],
    labels: Mapping[str, OptionLabels],
    answered: tuple[str, ...],
) -> _Column:
    """Compile a column of the answer. `answered` are the names of all columns. Raises Misconfigured."""
    key = column_key(column, None if column.expression else attributes.get(column.attribute))
    if not key:
        raise Misconfigured(Sentence("the column %(name)s gives no key", name=repr(column.shown_as)))
    if column.expression:
        calculation = Calculation(column, attributes, answered)
        attribute = calculation.attribute
        write = writer(attribute) if attribute else None
        return _Column(
            key=key, attribute=attribute, name="", write=write, labels=None, calculation=calculation
        )
    attribute = attributes.get(column.attribute)
    if attribute is None:
        raise Misconfigured(Sentence("there is no %(name)s to answer with", name=repr(column.attribute)))
    if not attribute.readable:
        raise Misconfigured(Sentence("%(name)s cannot be read", name=repr(column.attribute)))
    option_labels = labels.get(column.attribute)
    return _Column(
        key=key,
        attribute=attribute,
        name=column.attribute,
        write=writer(attribute),
        labels=option_labels,
        calculation=None,
    )


def _type_of_column(column: _Column) -> str:
    """Return the HTTP contract's name for the type of a column."""
    if column.attribute is not None:
        return type_of(column.attribute)
    return "Decimal" if column.calculation and column.calculation.is_exact else "Any"


def _schema_of_calculated(column: _Column) -> dict[str, Any]:
    """Return the JSON Schema of a calculated column whose value no attribute describes."""
    exact = column.calculation is not None and column.calculation.is_exact
    return {
        **({"type": ["number", "null"], "format": "decimal"} if exact else {}),
        "description": _CALCULATED,
    }


def _label_schema(attribute: Attribute) -> dict[str, Any]:
    """Return the JSON Schema of the labels of an attribute's options."""
    label = {"type": ["string", "null"]}
    if attribute.type is AttributeType.MULTISELECT:
        return {"type": ["array", "null"], "items": label}
    return label
