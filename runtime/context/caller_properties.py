"""The user properties of one caller type, compiled once and read for each of its callers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from crmclient import Call, Guid, Platform, Reference, Value
from crmclient.errors import MetadataError, MissingPrivilege
from crmclient.query.ast import Column, Page, Query
from crmclient.sentences import for_log
from designer.calendar import present
from designer.definitions import CallerTypeDefinition, UserPropertyDefinition
from designer.expressions import Expression, ExpressionError
from designer.names import OWN_RECORD, RESERVED_PROPERTIES, output_key
from designer.sentences import Sentence
from runtime.callers.caller import Caller, fields_of_user
from runtime.callers.caller_records import CallerRecords, records_in, records_of_users
from runtime.context.related import Related, compiled_related, plain, plain_schema
from runtime.http.failures import Misconfigured

logger = logging.getLogger("portico.context")


class PropertyValues(NamedTuple):
    """The values of all user properties of a caller by name, with `OWN_RECORD`, and the entities of those
    properties whose value is a record's id.
    """

    values: Mapping[str, Any]
    entities: Mapping[str, str]


class CallerProperties:
    """The properties of the callers of one type.

    One query reads the caller's record and the records that it points at. Each property that holds an array
    needs another one. `records` is None for a type without records.

    `broken` has the properties that this platform cannot serve, by name with the reason; the others work.
    `answered` has, by name, the keys of the properties that are part of an answer.
    """

    def __init__(
        self, type: CallerTypeDefinition, properties: Sequence[UserPropertyDefinition], platform: Platform
    ) -> None:
        self.type = type
        self.has_records = type.has_records
        # Reserved names stand for what expressions know of every caller. A property with such a name is not
        # answered.
        self.answered = {
            defined.name: key
            for defined in properties
            if (key := output_key(defined.name)) not in RESERVED_PROPERTIES
        }
        self.broken: dict[str, str] = {}
        # Why the first property is broken that only a privilege of the service's account keeps from working.
        self.missing_privilege: MissingPrivilege | None = None
        self._platform = platform
        self._properties = tuple(properties)
        # By the property's name: the attribute, the related data, or the expression that it is read from.
        self._fields: dict[str, str] = {}
        self._related: dict[str, Related] = {}
        self._custom: dict[str, Expression] = {}
        self._without_records = Sentence("callers of the type %(type)s have no record", type=type.name)
        for defined in properties:
            try:
                _COMPILERS[defined.kind](self, defined)
            except (Misconfigured, ExpressionError, MetadataError, MissingPrivilege) as error:
                self.broken[defined.name] = str(error)
                if isinstance(error, MissingPrivilege) and defined.name in self.answered:
                    self.missing_privilege = self.missing_privilege or error

    @cached_property
    def records(self) -> CallerRecords | None:
        """Return where the records of these callers are, read when the first of them calls; None when it
        cannot be read.
        """
        try:
            return _records(self.type, self._platform)
        except (MetadataError, MissingPrivilege) as error:
            self._without_records = Sentence("%(reason)s", reason=str(error))
            return None

    @property
    def has_custom(self) -> bool:
        """Whether some properties are expressions, which see more of a caller than the record."""
        return bool(self._custom)

    def read(self, caller: Caller, record: Guid | None, call: Call) -> PropertyValues | None:
        """Read the properties of a caller; None when the record is gone or inactive.

        `record` is None for callers whose type has no records.
        """
        values: dict[str, Any] = {}
        row: Mapping[str, Value] = {}
        # The entity of the record that a property names, by property; None for other properties.
        entities: dict[str, str | None] = {}
        records = self.records
        if record is not None and records is not None:
            stored_row = self._row(records, record, caller, call)
            if stored_row is None:
                return None
            row = stored_row
            attributes = self._platform.attributes(records.entity) if self._fields else {}
            values = {
                name: plain(row[attribute], attributes[attribute]) for name, attribute in self._fields.items()
            }
            if not any(defined.name == OWN_RECORD for defined in self._properties):
                values[OWN_RECORD] = record
            for name, data in self._related.items():
                values[name] = data.read(self._platform, row, call)
            entities = {
                name: _entity(attribute, row[attribute], records) for name, attribute in self._fields.items()
            }
        if self._custom:
            user_fields = fields_of_user(caller, values)
            values |= {name: _evaluate(name, custom, user_fields) for name, custom in self._custom.items()}
        return PropertyValues(
            values, {name: entity for name, entity in entities.items() if entity is not None}
        )

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the properties in an answer. Nothing is known of the values of custom
        properties.
        """
        properties = {
            self.answered[defined.name]: self._schema_of_property(defined)
            for defined in self._properties
            if defined.name in self.answered
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _schema_of_property(self, defined: UserPropertyDefinition) -> dict[str, Any]:
        """Return the JSON Schema of a property's value."""
        schema: dict[str, Any] = {}
        if defined.name in self._fields:
            attributes = self._platform.attributes(self._require_records().entity)
            schema = plain_schema(attributes[self._fields[defined.name]])
        elif defined.name in self._related:
            schema = self._related[defined.name].schema()
        return {**schema, "description": defined.description} if defined.description else schema

    def query(self, record: Guid) -> Query | None:
        """Return the query that reads a caller's record with related data; None when the type has no
        records.
        """
        records = self.records
        return None if records is None else self._query(records, record)

    def _query(self, records: CallerRecords, record: Guid) -> Query:
        """Return the query for the caller's record, with what field and related properties need."""
        query = records.query(record)
        columns = dict.fromkeys((*(column.attribute for column in query.columns), *self._fields.values()))
        return replace(
            query,
            columns=tuple(Column(attribute) for attribute in columns),
            links=tuple(data.link for data in self._related.values() if data.link is not None),
        )

    def _row(
        self, records: CallerRecords, record: Guid, caller: Caller, call: Call
    ) -> Mapping[str, Value] | None:
        """Return the row of the caller's record; None when it is gone or inactive."""
        query = self._query(records, record)
        # When the caller was recognised, the record was read already, most often by the same query.
        if caller.record_read is not None and caller.record_read[0] == query:
            return caller.record_read[1]
        rows = self._platform.query(query, Page(size=1), call=call).rows
        return rows[0] if rows and records.is_active(rows[0]) else None

    def _require_records(self) -> CallerRecords:
        """Return where the records of these callers are. Raises Misconfigured when they have none."""
        if self.records is None:
            raise Misconfigured(self._without_records)
        return self.records

    def _compile_field(self, defined: UserPropertyDefinition) -> None:
        """Compile a property that is an attribute of the record. Raises Misconfigured."""
        entity = self._require_records().entity
        if defined.attribute not in self._platform.attributes(entity):
            raise Misconfigured(
                Sentence("%(entity)s has no attribute %(name)s", entity=entity, name=repr(defined.attribute))
            )
        self._fields[defined.name] = defined.attribute

    def _compile_related(self, defined: UserPropertyDefinition) -> None:
        """Compile a property that is read over a relationship. Raises Misconfigured."""
        alias = f"r{len(self._related)}"
        records = self._require_records()
        self._related[defined.name] = compiled_related(
            defined.relationship, defined.columns, records, self._platform, alias
        )

    def _compile_custom(self, defined: UserPropertyDefinition) -> None:
        """Compile a property that is an expression. Raises ExpressionError and, if callers have records but
        these cannot be read, Misconfigured.
        """
        if self.has_records:
            self._require_records()
        self._custom[defined.name] = Expression(defined.expression, names=("user",))


_Compiler: TypeAlias = Callable[[CallerProperties, UserPropertyDefinition], None]
_COMPILERS: Mapping[str, _Compiler] = {
    "field": CallerProperties._compile_field,
    "related": CallerProperties._compile_related,
    "custom": CallerProperties._compile_custom,
}


def _records(type: CallerTypeDefinition, platform: Platform) -> CallerRecords | None:
    """Return how to read the records of a type of callers; None when the type has no records. Raises
    UnknownEntity.
    """
    if not type.is_of_users:
        return records_in(type.entity, platform) if type.entity else None
    users = platform.conventions.users
    return None if users is None else records_of_users(users)


def _entity(attribute: str, value: Value, records: CallerRecords) -> str | None:
    """Return the entity of the record that a value names: the caller's record, or the target of a lookup.
    Else None.
    """
    if attribute == records.id:
        return records.entity
    return value.entity if isinstance(value, Reference) else None


def _evaluate(name: str, expression: Expression, user: Mapping[str, Any]) -> Any:
    """Return the value of a custom property; None, with a line in the log, when the expression has no
    value.
    """
    try:
        return expression.evaluate({"user": user}, present())
    except ExpressionError as error:
        # Null, as for an empty column: one user without a manager must not lose the whole context.
        logger.warning("user property %s has no value: %s", name, for_log(error))
        return None
