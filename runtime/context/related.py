"""Related data of the caller's record on the platform, reached by a relationship's schema name.

Towards one record (the lookup is the user's) it comes with the record itself, by an outer join; towards many
it is a query of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from crmclient import Call, Guid, Platform, Reference, Value
from crmclient.metadata import Attribute, Entity
from crmclient.query.ast import Column, Condition, Filter, Link, LinkType, Operator, Order, Page, Query
from designer.definitions import ColumnDefinition
from designer.names import output_key
from designer.sentences import Sentence
from runtime.callers.caller_records import CallerRecords
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.values import outputs

# A caller with more records than this in one property was not what the consultant had in mind.
MOST = 1_000


class Related(Protocol):
    """The data of one property. `link` is what the query for the caller's record has to join for it; None if
    nothing.
    """

    @property
    def link(self) -> Link | None:
        """The join that the query for the caller's record needs; None when the property has a query of its
        own.
        """

    def read(self, platform: Platform, caller_row: Mapping[str, Value], call: Call) -> Any:
        """Return the value of the property. `caller_row` is the row of the caller's record."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the result of `read`."""
        ...


@dataclass(frozen=True, slots=True)
class _Columns:
    """The configured columns of an entity: pairs of a key in the answer and an attribute."""

    pairs: tuple[tuple[str, Attribute], ...]

    def query_columns(self, *more: str) -> tuple[Column, ...]:
        """Return the columns of a query that reads these and the attributes in `more`."""
        names = (*(attribute.logical_name for _, attribute in self.pairs), *more)
        return tuple(Column(name) for name in dict.fromkeys(names))

    def of(self, row: Mapping[str, Value], prefix: str = "") -> dict[str, Any]:
        """Return the values of a row by the names in the answer. `prefix` stands before the keys of
        the row.
        """
        return {key: plain(row[prefix + attribute.logical_name], attribute) for key, attribute in self.pairs}

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the result of `of`."""
        properties = {key: plain_schema(attribute) for key, attribute in self.pairs}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class _RelatedRecord:
    """A record that a lookup of the user points at: an object, or null.

    `link` joins it to the user's record. `id_key` is the key of its id in the row, which is None when the
    lookup is empty.
    """

    link: Link
    columns: _Columns
    id_key: str

    def read(self, platform: Platform, caller_row: Mapping[str, Value], call: Call) -> Any:
        """Return the columns of the record; None when the lookup is empty."""
        if caller_row[self.id_key] is None:
            return None
        return self.columns.of(caller_row, f"{self.link.alias}.")

    def schema(self) -> dict[str, Any]:
        return {**self.columns.schema(), "type": ["object", "null"]}


@dataclass(frozen=True, slots=True)
class _RelatedRecords:
    """Records that refer to the user, or that are paired with the user: an array, by name.

    `records` are those of the callers, `entity` is that of the related ones. Either `lookup` is the attribute
    that refers to the user, or `intersect` is the entity of the pairs.
    """

    records: CallerRecords
    entity: Entity
    columns: _Columns
    lookup: str | None = None
    intersect: str | None = None
    link: None = None

    def read(self, platform: Platform, caller_row: Mapping[str, Value], call: Call) -> Any:
        """Return the columns of each record. Raises Problem 422 for too many."""
        answer = platform.query(self._query(str(caller_row[self.records.id])), Page(size=MOST), call=call)
        if answer.next is not None:
            raise Problem(
                422, "too_many_rows", f"More than {MOST} records of {self.entity.logical_name} are yours."
            )
        return [self.columns.of(row) for row in answer.rows]

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.columns.schema()}

    def _query(self, user: Guid) -> Query:
        """Return the query for the records that belong to a user."""
        order = self.entity.primary_name or self.entity.primary_id
        return Query(
            entity=self.entity.logical_name,
            columns=self.columns.query_columns(),
            filter=None if self.lookup is None else _equals(self.lookup, user),
            links=() if self.intersect is None else (self._link_to_pairs(self.intersect, user),),
            orders=(Order(order), Order(self.entity.primary_id)),
        )

    def _link_to_pairs(self, intersect: str, user: Guid) -> Link:
        """Return the link that keeps the records which are paired with a user."""
        primary_id = self.entity.primary_id
        return Link(
            intersect,
            from_attribute=primary_id,
            to_attribute=primary_id,
            alias="pairs",
            filter=_equals(self.records.id, user),
        )


def compiled_related(
    relationship: str,
    columns: Sequence[ColumnDefinition],
    records: CallerRecords,
    platform: Platform,
    alias: str,
) -> Related:
    """Return how to read `columns` over a relationship. Raises Misconfigured.

    If the relationship ties an entity to itself, the direction of the lookup is meant: the one manager of a
    user.
    """
    entity = records.entity
    relation = next(
        (candidate for candidate in platform.relationships(entity) if candidate.name == relationship), None
    )
    if relation is None:
        raise Misconfigured(
            Sentence("%(entity)s has no relationship %(name)s", entity=entity, name=repr(relationship))
        )
    if relation.referencing_attribute is not None and relation.referencing == entity:
        return _one_record(relation.referenced, relation.referencing_attribute, columns, platform, alias)
    target = relation.referenced if relation.referencing == entity else relation.referencing
    if target == entity:
        raise Misconfigured(
            Sentence("%(name)s relates records of one entity to each other", name=relationship)
        )
    return _RelatedRecords(
        records=records,
        entity=platform.entities()[target],
        columns=_configured_columns(target, columns, platform),
        lookup=relation.referencing_attribute,
        intersect=relation.intersect,
    )


def _one_record(
    target: str, lookup: str, columns: Sequence[ColumnDefinition], platform: Platform, alias: str
) -> Related:
    """Return how to read the record that a lookup of the user points at."""
    entity = platform.entities()[target]
    configured = _configured_columns(target, columns, platform)
    link = Link(
        entity=target,
        from_attribute=entity.primary_id,
        to_attribute=lookup,
        alias=alias,
        type=LinkType.OUTER,
        columns=configured.query_columns(entity.primary_id),
    )
    return _RelatedRecord(link=link, columns=configured, id_key=f"{alias}.{entity.primary_id}")


def _configured_columns(entity: str, columns: Sequence[ColumnDefinition], platform: Platform) -> _Columns:
    """Return the configured columns of an entity. Raises Misconfigured without any, and for an unknown
    attribute.
    """
    if not columns:
        raise Misconfigured(Sentence("no columns are chosen"))
    attributes = platform.attributes(entity)
    for column in columns:
        if column.attribute not in attributes:
            raise Misconfigured(
                Sentence("%(entity)s has no attribute %(name)s", entity=entity, name=repr(column.attribute))
            )
    return _Columns(tuple((output_key(column.shown_as), attributes[column.attribute]) for column in columns))


def _equals(attribute: str, value: Guid) -> Filter:
    """Return the filter for records whose attribute has this id."""
    return Filter((Condition(attribute, Operator.EQ, (value,)),))


def plain(value: Value, attribute: Attribute) -> Any:
    """Return a value as the user context has it: a lookup as its GUID, everything else as in any answer."""
    if isinstance(value, Reference):
        return value.id
    return outputs.with_places(value, attribute.precision or 0) if isinstance(value, Decimal) else value


def plain_schema(attribute: Attribute) -> dict[str, Any]:
    """Return the JSON Schema of the result of `plain` for a value of `attribute`."""
    schema = outputs.schema(attribute)
    if not attribute.type.is_reference:
        return schema
    description = {key: text for key, text in schema.items() if key == "description"}
    return {"type": ["string", "null"], "format": "uuid", **description}
