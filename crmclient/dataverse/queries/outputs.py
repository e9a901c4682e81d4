"""The columns of a query: what is selected for each on the platform, and how its value is read from a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from crmclient.dataverse.api import FORMATTED
from crmclient.dataverse.queries.readable_attributes import refuse_unreadable
from crmclient.dataverse.queries.sources import Source
from crmclient.dataverse.records.decoding import Reader, Row, decode, reader
from crmclient.dataverse.records.file_facts import FileFacts, attachment, is_attachment
from crmclient.dataverse.records.parties import AskedParties
from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute, AttributeType
from crmclient.platform import Call
from crmclient.query.ast import Aggregate, Column
from crmclient.query.lookup_names import lookup_named_by
from crmclient.values import Guid, Value

_COUNTS: Final = frozenset({Aggregate.COUNT, Aggregate.COUNT_COLUMN})
_ATTACHMENT: Final = ("filename", "mimetype", "filesize", "isdocument", "versionnumber")


@dataclass(frozen=True, slots=True)
class Output:
    """A value in each row of the result.

    `key` is its key in the row; `selected` are the platform's columns that it is read from. With
    `has_references`, the names of records are needed for it. `prepare` is called with all rows of an answer
    before the first value is read.
    """

    key: str
    selected: tuple[Column, ...]
    read: Reader
    has_references: bool = False
    prepare: Callable[[Iterable[Row]], None] | None = None


def output_of(source: Source, column: Column, files: FileFacts, parties: AskedParties, call: Call) -> Output:
    """Return the output for a column of a query on records. Raises InvalidQuery for an attribute that is
    unknown or cannot be read.
    """
    key = column.alias or source.key(column.attribute)
    refuse_unreadable(source, column.attribute, f"attribute {column.attribute}")
    # `customeridname` is the name of the record in the lookup `customerid`.
    lookup = lookup_named_by(column.attribute, source.document.attributes)
    if lookup is not None:
        return _name_of_lookup(source, lookup, key)
    attribute = source.attribute(column.attribute)
    if attribute is None:
        raise _unknown_attribute(source, column)
    if attribute.type.holds_file:
        return _file(source, attribute, key, files, call)
    if attribute.type.holds_parties:
        return _party_list(source, attribute, key, parties)
    read = reader(attribute, *source.property_names(attribute))
    selected = (Column(attribute.logical_name),)
    return Output(key, selected, read, attribute.type.is_reference)


def aggregate_output(source: Source, column: Column) -> Output:
    """Return the output for a column of an aggregate query. Raises InvalidQuery.

    The column's alias is its name in Dataverse's rows, too.
    """
    attribute = source.attribute(column.attribute)
    construct = f"attribute {column.attribute}"
    if not column.alias:
        raise InvalidQuery(f"{construct}: a column of an aggregate query needs an alias.")
    if attribute is None:
        raise _unknown_attribute(source, column)
    refuse_unreadable(source, column.attribute, construct)
    if attribute.type.holds_parties:
        raise InvalidQuery(f"{construct}: parties are not counted.")
    # A count, and a part of a date such as its month, is a number whatever the type of the attribute is.
    if column.aggregate in _COUNTS or column.date_grouping is not None:
        attribute = Attribute(column.alias, AttributeType.INTEGER)
    read = reader(attribute, column.alias)
    return Output(column.alias, (column,), read, attribute.type.is_reference)


def _unknown_attribute(source: Source, column: Column) -> InvalidQuery:
    """Return the error for a column whose entity has no such attribute."""
    return InvalidQuery(
        f"attribute {column.attribute}: the entity {source.entity.logical_name!r} has no such attribute."
    )


def _name_of_lookup(source: Source, lookup: Attribute, key: str) -> Output:
    """Return the output for the name of a lookup's record."""
    names = source.property_names(lookup)

    def read(row: Row) -> Value:
        """Return the name of the lookup's record in a row; None for an empty lookup."""
        shown_names = (row.get(f"{name}@{FORMATTED}") for name in names)
        return next((text for text in shown_names if isinstance(text, str)), None)

    return Output(key, (Column(lookup.logical_name),), read, has_references=True)


def _file(source: Source, attribute: Attribute, key: str, files: FileFacts, call: Call) -> Output:
    """Return the output for a file column. Facts of the files of all rows are fetched together."""
    entity, primary_id = source.entity, source.entity.primary_id
    read_id = reader(source.known(primary_id), source.key(primary_id))
    if is_attachment(entity.logical_name, attribute):
        selected = tuple(Column(name) for name in (*_ATTACHMENT, primary_id))

        def read_attachment(row: Row) -> Value:
            """Return the description of a note's file; None without a note or a file."""
            note = read_id(row)
            facts = {name: row.get(source.key(name)) for name in _ATTACHMENT}
            return None if note is None else attachment(str(note), str(facts["versionnumber"]), facts)

        return Output(key, selected, read_attachment)

    names = source.property_names(attribute)

    def ids_in(row: Row) -> tuple[Guid, Guid] | None:
        """Return the ids of the record and of its file; None without a file."""
        record = read_id(row)
        file = next((row[name] for name in names if row.get(name) is not None), None)
        return None if record is None or file is None else (str(record), str(decode(attribute, file)))

    def prepare(rows: Iterable[Row]) -> None:
        """Read the descriptions of the files of all rows."""
        files.learn(entity, attribute, dict(id_pair for row in rows if (id_pair := ids_in(row))), call)

    def read(row: Row) -> Value:
        """Return the description of the row's file; None without one."""
        pair = ids_in(row)
        return None if pair is None else files.of(entity, pair[0], attribute, pair[1], call)

    return Output(key, (Column(attribute.logical_name), Column(primary_id)), read, prepare=prepare)


def _party_list(source: Source, attribute: Attribute, key: str, parties: AskedParties) -> Output:
    """Return the output for a party list. The parties of all rows are asked for together, by the activities'
    ids.
    """
    primary_id, name = source.entity.primary_id, attribute.logical_name
    read_id = reader(source.known(primary_id), source.key(primary_id))

    def prepare(rows: Iterable[Row]) -> None:
        """Read the parties of all rows."""
        parties.learn(str(id) for row in rows if (id := read_id(row)) is not None)

    def read(row: Row) -> Value:
        """Return the parties in the row's list; None for a row without an activity."""
        id = read_id(row)
        return None if id is None else parties.of(str(id), name)

    return Output(key, (Column(primary_id),), read, prepare=prepare)
