"""Columns: what is answered, under which keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crmclient.metadata import Attribute
from designer.definitions import ColumnDefinition
from designer.endpoint_facts.column_keys import keys_in_answer
from designer.kinds.read import ReadSettings
from designer.names import output_key
from designer.queries.answered_columns import unknown_keys
from designer.readiness.registry import Found, blocking, blocking_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


def not_returned(attribute: str) -> _:
    """Return the sentence on an attribute that is chosen for something that needs its value."""
    return _(
        "The platform does not return the value of “%(attribute)s”, which is needed here. Choose another.",
        attribute=attribute,
    )


@blocking_of(ReadSettings, "columns-missing")
def something_is_read(subject: EndpointSubject, settings: ReadSettings) -> Found:
    """Find a read without columns."""
    if not subject.columns:
        yield _("Choose at least one column to answer with."), "columns"


@blocking("column-unknown")
def columns_exist(subject: EndpointSubject) -> Found:
    """Find columns of attributes that do not exist. Calculated columns have no attribute."""
    if subject.vocabulary is None:
        return
    query = subject.definition.settings.designed_query
    # The rule `query-problem` says what is wrong with these.
    told_elsewhere = frozenset() if query is None else unknown_keys(query, subject.metadata.attributes)
    accepted = subject.vocabulary.read.keys() | told_elsewhere
    for column in subject.columns:
        if not column.expression and column.attribute not in accepted:
            yield (
                _(
                    "%(owner)s has no “%(attribute)s” to answer with.",
                    owner=subject.vocabulary.owner,
                    attribute=column.attribute,
                ),
                _place_of_column(column),
            )


@blocking("column-unreadable")
def columns_can_be_read(subject: EndpointSubject) -> Found:
    """Find columns of attributes whose value the platform does not return."""
    for column, attribute in _columns_with_attributes(subject):
        if attribute is not None and not attribute.readable:
            yield (
                _(
                    "The platform does not return the value of “%(attribute)s”. Remove the column.",
                    attribute=column.attribute,
                ),
                _place_of_column(column),
            )


@blocking("column-name")
def calculated_columns_have_names(subject: EndpointSubject) -> Found:
    """Find calculated columns without a name, and columns that have an attribute and an expression."""
    for position, column in enumerate(subject.columns):
        if column.expression and column.attribute:
            yield (
                _("“%(shown_as)s” has an attribute and an expression: choose one.", shown_as=column.shown_as),
                _place_of_column(column),
            )
        if column.expression and not column.name:
            yield (
                _("A calculated column needs a name, for its key in the answer."),
                f"columns.{position}.name",
            )


@blocking("column-key")
def keys_are_different(subject: EndpointSubject) -> Found:
    """Find keys of the answer that several columns have, and columns whose name gives no key."""
    counted = Counter(
        key
        for column, attribute in _columns_with_attributes(subject)
        for key in _keys(subject, column, attribute)
    )
    for key, count in counted.items():
        if count > 1:
            yield (
                _(
                    "%(count)s columns become “%(key)s” in the answer. Give them different names.",
                    count=count,
                    key=key,
                ),
                "columns",
            )
    for column, _attribute in _columns_with_attributes(subject):
        if not output_key(column.shown_as):
            yield (
                _("“%(shown_as)s” gives no key of the answer. Use letters.", shown_as=column.shown_as),
                _place_of_column(column),
            )


def _columns_with_attributes(subject: EndpointSubject) -> Iterator[tuple[ColumnDefinition, Attribute | None]]:
    """Yield the columns whose attribute exists, with that attribute, and calculated columns with None."""
    attributes = subject.vocabulary.read if subject.vocabulary else {}
    for column in subject.columns:
        if column.expression and column.name:
            yield column, None
        elif column.attribute in attributes:
            yield column, attributes[column.attribute]


def _keys(subject: EndpointSubject, column: ColumnDefinition, attribute: Attribute | None) -> Iterator[str]:
    """Yield the keys that a column has in the answer: its own and, for a choice of which labels are answered,
    the label's.
    """
    return keys_in_answer(column, attribute, subject.definition.settings.has_labels)


def _place_of_column(column: ColumnDefinition) -> str:
    return f"columns.{column.shown_as}"
