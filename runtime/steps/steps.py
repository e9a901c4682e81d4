"""The steps of one endpoint, compiled once: row rule → data fetchers → pre-conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from crmclient import Guid, Platform, Value
from crmclient.alternate_keys import key_text
from crmclient.errors import RecordNotFound, StateConflict, VersionMismatch
from crmclient.metadata import Attribute
from crmclient.query.ast import Column, Link, Page, Query
from designer.configuration import Endpoint
from designer.definitions import BindingDefinition, EndpointDefinition
from designer.expressions import Expression
from designer.expressions.members import ENDPOINT_NAMES
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.http.if_match import WantedVersions
from runtime.request_context import Exchange
from runtime.steps.fetchers import SEVERAL_RECORDS, Fetchers
from runtime.steps.keyed_records import KeyedRecords
from runtime.steps.preconditions import PRECONDITION_FAILED, Preconditions
from runtime.steps.rules import RowRule, rule_of_record
from runtime.values.key_values import KeyInPath

T = TypeVar("T")

# How often a write is tried on a record that others change at the same moment.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """The result of reading the path's record, under the row rule. `version` is None for records without
    versions.
    """

    id: Guid
    version: str | None
    values: Mapping[str, Value]


class Steps:
    """The steps of an endpoint between its inputs and its platform call.

    `reads` are attributes of the path's record that the operation itself needs, `fetched` are the names of
    data fetchers that it needs. `rule` is the row rule of the path's record; None without one. `version` is
    the attribute that holds the record's version; None where records have no versions.

    Raises Misconfigured, InvalidQuery, and ExpressionError for a mistake.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        platform: Platform,
        *,
        reads: Collection[str] = (),
        fetched: Collection[str] = (),
    ) -> None:
        definition = endpoint.definition
        self._platform = platform
        self._preconditions = Preconditions(definition.preconditions)
        expressions = [*self._preconditions.expressions, *_expressions_of_bindings(definition)]
        self.rule: RowRule | None = None
        self.entity = ""
        attributes: Mapping[str, Attribute] = {}
        self.version: str | None = None
        # What finds the record, where its id does not stand in the path.
        self._key: KeyInPath | None = None
        if endpoint.entity is not None and endpoint.kind.is_on_record:
            self.rule = rule_of_record(endpoint, platform)
            entity = self.entity = endpoint.entity.entity
            attributes = platform.attributes(entity)
            self.version = platform.conventions.version_of(entity, attributes)
            self._key = KeyInPath(endpoint, entity, platform) if endpoint.kind.is_by_key else None
        rule_fetchers = self.rule.needs.fetchers if self.rule else frozenset()
        all_fetchers = [fetcher.name for fetcher in definition.fetchers]
        fetchers_of_expressions = _members_read(
            [*expressions, *_expressions_of_columns(definition)], "fetch", all_fetchers
        )
        fetcher_names = {
            *rule_fetchers,
            *fetched,
            *_fetchers_of_bindings(definition),
            *fetchers_of_expressions,
        }
        # Those of the row rule run before the record is read. `_late` has them, too, but leaves out what has
        # been fetched already, and so runs the rest of the fetchers after the record is read.
        self._early = Fetchers(endpoint, rule_fetchers, platform)
        self._late = Fetchers(endpoint, fetcher_names, platform)
        if self._early.record_attributes:
            raise Misconfigured(Sentence("a data fetcher that the row rule needs reads the record"))
        # The steps after the record is read. Those that the endpoint does not have are left out.
        self._finishing: list[Callable[[Exchange], None]] = []
        if self._late.names:
            self._finishing.append(self._late.run)
        if definition.preconditions:
            self._finishing.append(self._preconditions.check)
        self._columns = tuple(dict.fromkeys((*reads, *self._record_attributes(expressions, attributes))))
        self._reads_record = bool(self._columns or self.rule)
        self._keyed = (
            None if self._key is None else KeyedRecords(self.entity, self._columns, self.version, platform)
        )

    def problems(self, operation_codes: Mapping[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
        """Return the problem codes by status, for the OpenAPI document: those of the steps, and the
        operation itself (`operation_codes`).
        """
        codes_by_status = dict(operation_codes)
        codes_of_steps = [(status, PRECONDITION_FAILED) for status in sorted(self._preconditions.statuses)]
        if self._late.names:
            codes_of_steps.append((409, SEVERAL_RECORDS))
        for status, code in codes_of_steps:
            codes_by_status[status] = (*codes_by_status.get(status, ()), code)
        return codes_by_status

    def run(self, exchange: Exchange, wanted_versions: WantedVersions = None) -> FoundRecord | None:
        """Do all steps. Return what was read of the record; None if no step needed it.

        Raises RecordNotFound for a record outside the row rule, VersionMismatch, and the Problem of a fetcher
        or pre-condition.
        """
        # A single version needs no read: the platform compares it when it writes.
        if self._reads_record or (wanted_versions is not None and len(wanted_versions) != 1):
            return self.read(exchange, wanted_versions)
        self._finish(exchange)
        return None

    def read(self, exchange: Exchange, wanted_versions: WantedVersions = None) -> FoundRecord:
        """Do all steps as `run` does, but read the record in any case."""
        record = self._find(exchange)
        if wanted_versions is not None and record.version not in wanted_versions:
            raise VersionMismatch(self.entity, record.id)
        exchange.record_values = record.values
        self._finish(exchange)
        return record

    @property
    def asks_rules_only(self) -> bool:
        """Whether all that the steps ask of the path's record is that the caller reaches it."""
        return self.rule is not None and not self._columns and not self._finishing

    def link(self, exchange: Exchange, attribute: str) -> Link:
        """Return a link that keeps the rows whose lookup `attribute` names the path's record, if the caller
        reaches it.

        Only to be used with `asks_rules_only`.
        """
        assert self.rule is not None  # noqa: S101  for the type checker: `asks_rules_only`
        return Link(
            self.entity,
            from_attribute=self.rule.primary_id,
            to_attribute=attribute,
            alias="_path",
            filter=self.rule.filter_of(exchange.record_id, exchange),
        )

    def write(
        self,
        exchange: Exchange,
        wanted_versions: WantedVersions,
        write: Callable[[FoundRecord | None, str | None], T],
    ) -> T:
        """Do all steps, then call `write` with what was read of the record and the version that it must
        have.

        If others change the record between reading and writing, it is read again, unless the caller named the
        version. Where records keep no versions, such a change goes unnoticed, and the version is None. Raises
        what `run` raises, and StateConflict when the record changes all the time.
        """
        for _ in range(_ATTEMPTS):
            record = self.run(exchange, wanted_versions)
            # `run` leaves a record unread if the caller wants one version, which the platform compares.
            version = next(iter(wanted_versions), None) if record is None and wanted_versions else None
            try:
                return write(record, record.version if record else version)
            except VersionMismatch:
                if wanted_versions is not None or record is None:
                    raise
                # What was fetched by the record as it was may be another row by now.
                exchange.fetched = {}
        raise StateConflict(f"The {self.entity} is changed by others all the time.")

    def _finish(self, exchange: Exchange) -> None:
        """Do the steps that come after reading the record."""
        for finish in self._finishing:
            finish(exchange)

    def _find(self, exchange: Exchange) -> FoundRecord:
        """Read the path's record under the row rule, after the steps that come first. Raises RecordNotFound,
        and Problem 400 for a wrong id or key.
        """
        self._early.run(exchange)
        if self._key is not None and self._keyed is not None:
            return self._find_by_key(self._key, self._keyed, exchange)
        id = exchange.record_id
        if self.rule is None:
            record = self._platform.retrieve(self.entity, id, self._columns, call=exchange.call)
            return FoundRecord(id, record.version if self.version else None, record.values)
        # Platforms differ in what a query without columns answers, so this one has a column in any case.
        marker = self.version or self.rule.primary_id
        query = Query(
            self.entity,
            columns=tuple(Column(name) for name in dict.fromkeys((*self._columns, marker))),
            filter=self.rule.filter_of(id, exchange),
        )
        rows = self._platform.query(query, Page(size=1), call=exchange.call).rows
        if not rows:
            raise RecordNotFound(self.entity, id)
        return FoundRecord(id, str(rows[0][self.version]) if self.version else None, rows[0])

    def _find_by_key(self, key: KeyInPath, keyed: KeyedRecords, exchange: Exchange) -> FoundRecord:
        """Read the record that has the key in the path. Raises RecordNotFound, and Problem 400 for a wrong
        key.
        """
        values = key.read(exchange.record)
        row = keyed.find(values, exchange, self.rule)
        if row is None:
            raise RecordNotFound(self.entity, key_text(values))
        id = str(row[keyed.primary_id])
        return FoundRecord(id, str(row[self.version]) if self.version else None, row)

    def _record_attributes(
        self, expressions: Iterable[Expression], attributes: Mapping[str, Attribute]
    ) -> Collection[str]:
        """Return the attributes of the record that later steps read. Raises Misconfigured for one that does
        not exist.
        """
        if not self.entity:
            return ()
        attribute_names = {*self._late.record_attributes, *_members_read(expressions, "record", None)}
        if unknown := attribute_names - attributes.keys():
            raise Misconfigured(Sentence("the record has no %(name)s", name=repr(min(unknown))))
        return sorted(attribute_names)


def _bindings(definition: EndpointDefinition) -> list[BindingDefinition]:
    """Return the endpoint's bindings, and those of the items of its lists."""
    return [*definition.bindings, *(binding for entry in definition.inputs for binding in entry.bindings)]


def _fetchers_of_bindings(definition: EndpointDefinition) -> set[str]:
    """Return the names of the data fetchers that bindings read."""
    fetch_bindings = (binding for binding in _bindings(definition) if binding.source == "fetch")
    # Their value is `fetcher.column`.
    return {str(binding.value).partition(".")[0] for binding in fetch_bindings}


def _expressions_of_bindings(definition: EndpointDefinition) -> list[Expression]:
    """Return the compiled expressions of bindings. Raises ExpressionError."""
    computed = (binding for binding in _bindings(definition) if binding.source == "expression")
    return [Expression(str(binding.value or ""), ENDPOINT_NAMES) for binding in computed]


def _expressions_of_columns(definition: EndpointDefinition) -> list[Expression]:
    """Return the compiled expressions of calculated columns, which are asked only for the fetchers that they
    read: their `record` is a row of the answer, which the operation reads. Raises ExpressionError.
    """
    return [
        Expression(column.expression, ENDPOINT_NAMES) for column in definition.columns if column.expression
    ]


def _members_read(
    expressions: Iterable[Expression], name: str, all_members: Collection[str] | None
) -> set[str]:
    """Return the fields of the variable `name` that expressions read. For an expression that may read any
    field, these are `all_members`.

    Raises Misconfigured for such an expression when `all_members` is None.
    """
    fields: set[str] = set()
    for expression in expressions:
        members = expression.members(name)
        if members is None and all_members is None:
            raise Misconfigured(
                Sentence(
                    "%(expression)s: say which attribute, as in %(example)s",
                    expression=expression.text,
                    example=f"{name}.name",
                )
            )
        fields.update((all_members or ()) if members is None else members)
    return fields
