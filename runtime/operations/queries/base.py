"""What the kinds of query have in common: from a request's parameters to a query that a platform runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from crmclient import Platform, Value
from crmclient.errors import InvalidQuery, UnfitValue
from crmclient.metadata import ENGLISH, Attribute
from crmclient.query.ast import ALL, Order, Page, Query
from crmclient.query.designed import DesignedQuery
from crmclient.query.resolving import Circumstances, PreparedQuery, prepare
from crmclient.values import QueryResult
from designer.calendar import calendar
from designer.configuration import Endpoint
from designer.definitions import ColumnDefinition
from designer.kinds.queries import QuerySettings
from designer.queries import answered, calculated
from designer.sentences import Sentence
from designer.types import InvalidInput
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError
from runtime.http.query_string import LCID, invalid_parameters, lcid_of, parse_parameters
from runtime.operations.base import Operation
from runtime.operations.queries.orders import settled
from runtime.operations.queries.rules import QueryRules
from runtime.request_context import Exchange
from runtime.steps import Steps, circumstances
from runtime.values.columns import Columns
from runtime.values.option_labels import OptionLabels
from runtime.values.outputs import rounded, rounded_float
from runtime.values.query_inputs import QueryInputs, option_set_of

T = TypeVar("T")

PROBLEMS: Mapping[int, tuple[str, ...]] = {
    400: ("invalid_parameter", "malformed_query_string"),
    414: ("query_string_too_long",),
}


@dataclass
class Asked:
    """A request's parameters as texts, and what is wrong with them."""

    texts: Mapping[str, str]
    errors: list[FieldError]
    lcid: int = ENGLISH

    def read(self, name: str, read: Callable[[str], T], default: T) -> T:
        """The value of one of the parameters that every query of a kind has."""
        text = self.texts.get(name.lower())
        if text is None:
            return default
        try:
            return read(text)
        except InvalidInput as error:
            self.errors.append(FieldError(error.code, error.message, parameter=name))
            return default

    def finish(self) -> None:
        """Raises Problem 400 with everything that is wrong."""
        if self.errors:
            raise invalid_parameters(self.errors)


def designed_query(endpoint: Endpoint) -> DesignedQuery:
    """The endpoint's own query. Raises Misconfigured where none is designed."""
    query = endpoint.definition.settings.designed_query
    if query is None:
        raise Misconfigured(Sentence("no query is designed"))
    return query


class QueryOperation(Operation):
    """What all kinds of queries share: the query, its parameters, rules and columns."""

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(QuerySettings)
        query = self.designed = designed_query(endpoint)
        self.prepared = _prepared(query, platform)
        self.default_orders: tuple[Order, ...] = settled(query.orders, query, platform)
        self.rules = QueryRules(endpoint, query, platform, linked=settings.linked_row_rules)
        fetched = self.prepared.needs.fetchers | self.rules.fetchers
        self.steps = Steps(endpoint, platform, fetched=fetched)
        self.inputs = QueryInputs(endpoint.definition, platform)
        self.has_labels = settings.labels
        # In which language: of labels, and of what pre-conditions say.
        self._speaks = self.has_labels or bool(endpoint.definition.preconditions)
        self.columns = _columns(endpoint, query, platform, labels=settings.labels)
        self._calculated = calculated(query, platform.attributes)
        self._names = self.inputs.names | ({"lcid"} if self._speaks else set())

    def accept(self, parameters: Set[str]) -> None:
        """Take these parameters of the kind, in lower case, beside the endpoint's inputs."""
        self._names |= parameters

    def asked(self, exchange: Exchange) -> Asked:
        """The parameters, inputs read into the exchange already. Call `finish` before using them."""
        texts, errors = parse_parameters(exchange.request, self._names)
        asked = Asked(texts, errors)
        exchange.inputs = self.inputs.read(texts, errors)
        asked.lcid = exchange.lcid = asked.read("lcid", lcid_of, ENGLISH)
        return asked

    def query(self, exchange: Exchange, orders: tuple[Order, ...], now: dt.datetime | None = None) -> Query:
        """What the platform is asked, once the endpoint's steps are done. `now` is the moment that its dates
        are relative to, if not the request's.

        Raises Problem 400 for a value that its condition cannot take, and what the steps raise.
        """
        self.steps.run(exchange)
        situation = circumstances(exchange, self.prepared.needs)
        if now is not None and now is not exchange.now:
            situation = replace(situation, now=now)
        try:
            found = self.prepared.resolve(situation)
        except UnfitValue as error:
            raise self._blamed(situation, error) from error
        if found.orders != orders:
            found = replace(found, orders=orders)
        return self.rules.applied(found, exchange)

    def ask(self, query: Query, exchange: Exchange, page: Page = ALL) -> QueryResult:
        """The platform's answer. Raises Problem 400 for a parameter that the platform cannot compare with."""
        try:
            return self.platform.query(query, page, call=exchange.call)
        except UnfitValue as error:
            given = [name for name, value in exchange.inputs.items() if value is not None]
            # Past the first page they have been compared with already.
            if not given or page.token is not None:
                raise
            which = "It" if len(given) == 1 else f"One of {', '.join(given)}"
            message = f"{which} is beyond what the platform can compare with."
            raise invalid_parameters([FieldError("invalid_value", message, parameter=given[0])]) from error

    def answers(
        self, rows: Sequence[Mapping[str, Value]], asked: Asked, exchange: Exchange
    ) -> list[dict[str, Any]]:
        if self._calculated:
            rows = [{**row, **self._rounded(row)} for row in rows]
        return self.columns.answers(rows, asked.lcid, exchange)

    def _rounded(self, row: Mapping[str, Value]) -> dict[str, Value]:
        """What a row holds of calculated values: platforms go to as many places as each of them likes."""
        found = {key: (row.get(key), places) for key, places in self._calculated.items()}
        return {
            key: rounded(value, places) if isinstance(value, Decimal) else rounded_float(value, places)
            for key, (value, places) in found.items()
            if isinstance(value, Decimal | float)
        }

    def parameters(self) -> tuple[dict[str, Any], ...]:
        """What every kind documents."""
        return (*self.inputs.document(), *((LCID,) if self._speaks else ()))

    def _blamed(self, situation: Circumstances, error: UnfitValue) -> Exception:
        """A refusal of the parameter whose value does not fit; else it is the configuration that does not."""
        given = situation.parameters
        for name, value in given.items():
            if value is not None:
                alone = {known: value if known == name else None for known in given}
                try:
                    self.prepared.resolve(replace(situation, parameters=alone))
                except UnfitValue as found:
                    reason = str(found.__cause__ or "it does not fit")
                    message = f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
                    return invalid_parameters([FieldError("invalid_value", message, parameter=name)])
        return Misconfigured(str(error))


def _prepared(query: DesignedQuery, platform: Platform) -> PreparedQuery:
    try:
        return prepare(query, platform.attributes, calendar())
    except InvalidQuery as error:
        raise Misconfigured(str(error)) from error


def _columns(endpoint: Endpoint, query: DesignedQuery, platform: Platform, *, labels: bool) -> Columns:
    known = answered(query, platform.attributes)
    chosen = endpoint.definition.columns or tuple(ColumnDefinition(attribute=key) for key in known)
    if not chosen:
        raise Misconfigured(Sentence("the query selects no columns"))
    return Columns(chosen, known, _labels(known, platform) if labels else {})


def _labels(known: Mapping[str, Attribute], platform: Platform) -> dict[str, OptionLabels]:
    return {
        key: OptionLabels(option_set_of(attribute, platform), platform)
        for key, attribute in known.items()
        if attribute.option_set is not None
    }
