"""Makes the query that is sent, and the readers of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.queries.choices import Choices
from crmclient.dataverse.queries.outputs import Output, aggregate_output, output_of
from crmclient.dataverse.queries.readable_attributes import refuse_unreadable, refuse_unreadable_conditions
from crmclient.dataverse.queries.sources import Sources, source_named, sources_of
from crmclient.dataverse.records.file_facts import FileFacts
from crmclient.dataverse.records.parties import AskedParties, Parties
from crmclient.errors import InvalidQuery
from crmclient.platform import Call
from crmclient.query.ast import Column, Link, Order, Query
from crmclient.query.comparable_columns import refuse_incomparable_columns
from crmclient.query.lookup_names import lookup_named_by
from crmclient.values import Value


@dataclass(frozen=True, slots=True)
class Plan:
    """`query` is what the platform runs. Columns have no aliases there unless it aggregates.

    With `has_references`, the answer must come with the names of the records that lookups point at.
    """

    query: Query
    outputs: tuple[Output, ...]
    entity_set: str
    primary_id: str
    has_references: bool

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Value]]:
        """Return the rows of an answer, by key."""
        for output in self.outputs:
            if output.prepare is not None:
                output.prepare(rows)
        return [{output.key: output.read(row) for output in self.outputs} for row in rows]


def plan_of(query: Query, catalogue: Catalogue, files: FileFacts, parties: Parties, call: Call) -> Plan:
    """Return the plan to run a query. Raises UnknownEntity, InvalidQuery."""
    sources = sources_of(query, catalogue)
    root = sources[None]
    # A query without columns answers with rows that have only an id.
    if not any(source.columns for source in sources.values()):
        sources[None] = root = replace(root, columns=(Column(root.entity.primary_id),))
    refuse_unreadable_conditions(query, sources)
    refuse_incomparable_columns(query, lambda entity: catalogue.document(entity).attributes)
    asked_parties = AskedParties(parties, call)
    outputs: dict[str | None, list[Output]] = {
        alias: [
            aggregate_output(source, column)
            if query.is_aggregate
            else output_of(source, column, files, asked_parties, call)
            for column in source.columns
        ]
        for alias, source in sources.items()
    }
    all_outputs = [output for of_source in outputs.values() for output in of_source]
    _check_keys(all_outputs)
    writer = _Writer(query, sources, outputs, catalogue)
    return Plan(
        query=writer.query(),
        outputs=tuple(all_outputs),
        entity_set=root.entity.entity_set,
        primary_id=root.entity.primary_id,
        has_references=any(output.has_references for output in all_outputs),
    )


class _Writer:
    """Writes a query as Dataverse takes it: with the columns that its answer is read from."""

    def __init__(
        self,
        query: Query,
        sources: Sources,
        outputs: Mapping[str | None, list[Output]],
        catalogue: Catalogue,
    ) -> None:
        self._query = query
        self._sources = sources
        self._outputs = outputs
        self._choices = Choices(sources, catalogue)

    def query(self) -> Query:
        """Return the query with the columns that the answer is read from, and with filters that Dataverse can
        compare.
        """
        query = self._query
        return replace(
            query,
            # The alias None stands for the entity of the query itself, as in `Sources`.
            columns=self._columns(None),
            filter=None if query.filter is None else self._choices.rewrite_filter(query.filter, None),
            links=tuple(self._link(link) for link in query.links),
            orders=tuple(self._order(order) for order in query.orders),
        )

    def _link(self, link: Link) -> Link:
        """Return a link with the columns that the answer is read from, and with filters that Dataverse can
        compare.
        """
        if not link.type.joins:
            # It only filters, such as EXISTS, so it has no columns.
            return self._choices.rewrite_link(link)
        return replace(
            link,
            columns=self._columns(link.alias),
            filter=None if link.filter is None else self._choices.rewrite_filter(link.filter, link.alias),
            links=tuple(self._link(nested) for nested in link.links),
        )

    def _columns(self, alias: str | None) -> tuple[Column, ...]:
        """Return what the outputs of the entity, or of the link `alias`, are read from, each column once."""
        selected = [column for output in self._outputs[alias] for column in output.selected]
        return tuple(dict.fromkeys(selected))

    def _order(self, order: Order) -> Order:
        """Return an order by an attribute. Raises InvalidQuery.

        An alias is replaced by its attribute, and the name of a lookup's record by the lookup, which sorts by
        that name.
        """
        if self._query.is_aggregate:
            return order
        attribute, link = order.attribute, order.link
        if attribute is None:
            attribute, link = self._column_named(order.alias)
        construct = f"order {order.attribute or order.alias}"
        source = source_named(self._sources, link, None, construct)
        refuse_unreadable(source, attribute, construct)
        if self._query.distinct and not any(column.attribute == attribute for column in source.columns):
            raise InvalidQuery(f"{construct}: a distinct query is sorted by columns that it selects only.")
        lookup = lookup_named_by(attribute, source.document.attributes)
        name = attribute if lookup is None else lookup.logical_name
        return Order(name, None, source.alias, order.descending)

    def _column_named(self, alias: str | None) -> tuple[str, str | None]:
        """Return the attribute of the column with this key, and the alias of its link. Raises
        InvalidQuery.
        """
        for link, source in self._sources.items():
            for column in source.columns:
                if alias in (column.alias, source.key(column.attribute)):
                    return column.attribute, link
        raise InvalidQuery(f"order {alias}: no column has this alias.")


def _check_keys(outputs: list[Output]) -> None:
    """Raise InvalidQuery when two outputs have the same key in a row."""
    keys = [output.key for output in outputs]
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidQuery(f"attribute {key!r}: two columns have this name; give one of them an alias.")
