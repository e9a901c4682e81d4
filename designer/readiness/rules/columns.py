"""Columns: what is answered, under which keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crmclient.metadata import Attribute
from designer.columns import keys
from designer.definitions import ColumnDefinition
from designer.kinds.read import ReadSettings
from designer.names import output_key
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject


@blocking("columns-missing")
def something_is_read(subject: EndpointSubject) -> Found:
    if isinstance(subject.definition.settings, ReadSettings) and not subject.columns:
        yield "Choose at least one column to answer with.", "columns"


@blocking("column-unknown")
def columns_exist(subject: EndpointSubject) -> Found:
    if subject.vocabulary is None:
        return
    for column in subject.columns:
        if column.attribute not in subject.vocabulary.read:
            yield f"{subject.vocabulary.owner} has no “{column.attribute}” to answer with.", _at(column)


@blocking("column-key")
def keys_are_different(subject: EndpointSubject) -> Found:
    counted = Counter(
        key for column, attribute in _known(subject) for key in _keys(subject, column, attribute)
    )
    for key, count in counted.items():
        if count > 1:
            yield f"{count} columns become “{key}” in the answer: give one another name.", "columns"
    for column, _ in _known(subject):
        if not output_key(column.shown_as):
            yield f"“{column.shown_as}” gives no key: write letters.", _at(column)


def _known(subject: EndpointSubject) -> Iterator[tuple[ColumnDefinition, Attribute]]:
    if subject.vocabulary is not None:
        for column in subject.columns:
            if column.attribute in subject.vocabulary.read:
                yield column, subject.vocabulary.read[column.attribute]


def _keys(subject: EndpointSubject, column: ColumnDefinition, attribute: Attribute) -> Iterator[str]:
    settings = subject.definition.settings
    return keys(column, attribute, isinstance(settings, ReadSettings) and settings.labels)


def _at(column: ColumnDefinition) -> str:
    return f"columns.{column.shown_as}"
