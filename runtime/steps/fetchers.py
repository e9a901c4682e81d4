"""Data fetchers: queries for one row each, run with the service's rights before the operation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from crmclient import Platform, Value
from crmclient.query.ast import Page
from crmclient.query.resolving import prepare
from crmclient.query.resolving.prepared_queries import PreparedQuery
from designer.calendar import calendar
from designer.configuration import Endpoint
from designer.definitions import FetcherDefinition
from designer.queries.answered_columns import answered_attributes
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.request_context import Exchange
from runtime.steps.circumstances import circumstances
from runtime.steps.rules import RowRule, narrowed, rule_of_entity

SEVERAL_RECORDS = "several_records"


@dataclass(frozen=True, slots=True)
class _Fetcher:
    """A compiled data fetcher.

    `rule` is the row rule that narrows its rows; None without one. `first`: of several rows it takes the
    first. `empty` is its result when no row is found: None for each column.
    """

    name: str
    query: PreparedQuery
    rule: RowRule | None
    first: bool
    empty: dict[str, Value]

    def run(self, platform: Platform, exchange: Exchange) -> dict[str, Value]:
        """Return the row by column.

        Raises Problem 409 for several rows, unless the fetcher takes the first.
        """
        query = self.query.resolve(circumstances(exchange, self.query.needs))
        if self.rule is not None:
            query = narrowed(query, self.rule.filter(exchange))
        # Two rows are enough to see that there are several. A query with `top` has no pages.
        page = Page() if query.top is not None else Page(size=1 if self.first else 2)
        # Without a caller in the call, the platform answers with the service's rights.
        rows = platform.query(query, page, call=replace(exchange.call, caller=None)).rows
        if len(rows) > 1 and not self.first:
            raise Problem(409, SEVERAL_RECORDS, "Several records were found where one is needed.")
        return {**self.empty, **rows[0]} if rows else self.empty


class Fetchers:
    """The endpoint's fetchers that `names` has, and those that they read, in the order in which they run.

    Raises Misconfigured for an unknown name, and for a fetcher that is defined after one that reads it.
    """

    def __init__(self, endpoint: Endpoint, names: Collection[str], platform: Platform) -> None:
        self._platform = platform
        defined = endpoint.definition.fetchers
        compiled = {definition.name: _compile(definition, endpoint, platform) for definition in defined}
        self._fetchers = tuple(compiled[name] for name in _names_in_order(defined, set(names), compiled))
        # The attributes of the path's record that they compare with.
        self.record_attributes = frozenset().union(
            *(fetcher.query.needs.record for fetcher in self._fetchers)
        )

    @property
    def names(self) -> frozenset[str]:
        return frozenset(fetcher.name for fetcher in self._fetchers)

    def run(self, exchange: Exchange) -> None:
        """Add the missing rows to `exchange.fetched`. Raises Problem 409 for several rows."""
        for fetcher in self._fetchers:
            if fetcher.name not in exchange.fetched:
                row = fetcher.run(self._platform, exchange)
                exchange.fetched = {**exchange.fetched, fetcher.name: row}


def _compile(definition: FetcherDefinition, endpoint: Endpoint, platform: Platform) -> _Fetcher:
    """Compile a data fetcher. Raises Misconfigured without a query, and what preparing the query raises."""
    query = definition.query
    if query is None:
        raise Misconfigured(Sentence("the data fetcher %(name)s has no query", name=definition.name))
    rule = rule_of_entity(endpoint, query.entity, platform) if definition.apply_row_rules else None
    return _Fetcher(
        name=definition.name,
        query=prepare(query, platform.attributes, calendar()),
        rule=rule,
        first=definition.first,
        empty=dict.fromkeys(answered_attributes(query, platform.attributes)),
    )


def _names_in_order(
    defined: Sequence[FetcherDefinition], missing_names: set[str], compiled: dict[str, _Fetcher]
) -> list[str]:
    """Return `missing_names` and, transitively, the fetchers that they read, each after those it reads.

    `compiled` has the fetchers by name. `missing_names` is used up. Raises Misconfigured for a name that is
    not defined, or is defined after a fetcher that reads it.
    """
    ordered: list[str] = []
    # From the last to the first: a fetcher may read only those that are defined before it.
    for definition in reversed(defined):
        if definition.name in missing_names:
            fetcher = compiled[definition.name]
            missing_names |= fetcher.query.needs.fetchers
            missing_names |= fetcher.rule.needs.fetchers if fetcher.rule else frozenset()
            missing_names.discard(definition.name)
            ordered.insert(0, definition.name)
    if missing_names:
        raise Misconfigured(
            Sentence(
                "there is no data fetcher %(name)s, or it comes after what uses it",
                name=repr(min(missing_names)),
            )
        )
    return ordered
