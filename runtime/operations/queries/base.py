"""The base of all kinds of query: from a request's parameters to a query that a platform runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from crmclient import Platform, Value
from crmclient.errors import InvalidQuery, UnfitValue
from crmclient.known_options import known_options
from crmclient.metadata import ENGLISH, Attribute
from crmclient.query.ast import ALL, Order, Page, Query
from crmclient.query.designed import DesignedQuery
from crmclient.query.resolving import Circumstances, PreparedQuery, prepare
from crmclient.values import QueryResult
from designer.calendar import calendar
from designer.configuration import Endpoint
from designer.definitions import ColumnDefinition
from designer.kinds.queries import QuerySettings
from designer.queries.answered_columns import answered_attributes, rounding_places
from designer.sentences import Sentence
from designer.types import InvalidInput
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError
from runtime.http.query_string import LCID, invalid_parameters, lcid_of, parse_parameters
from runtime.operations.base import Operation
from runtime.operations.queries.orders import with_primary_key
from runtime.operations.queries.rules import QueryRules
from runtime.request_context import Exchange
from runtime.steps import Steps, circumstances
from runtime.values.columns import Columns
from runtime.values.option_labels import OptionLabels
from runtime.values.outputs import rounded, rounded_float
from runtime.values.query_inputs import QueryInputs

T = TypeVar("T")

PROBLEMS: Mapping[int, tuple[str, ...]] = {
    400: ("invalid_parameter", "malformed_query_string"),
    414: ("query_string_too_long",),
}


@dataclass
class QueryParameters:
    """A request's parameters as texts, and what is wrong with them."""

    texts: Mapping[str, str]
    errors: list[FieldError]
    lcid: int = ENGLISH

    def read(self, name: str, read: Callable[[str], T], default: T) -> T:
        """Return the value of a query parameter, or `default` without it. A wrong value is added to
        `errors`.
        """
        text = self.texts.get(name.lower())
        if text is None:
            return default
        try:
            return read(text)
        except InvalidInput as error:
            self.errors.append(FieldError(error.code, error.message, parameter=name))
            return default

    def finish(self) -> None:
        """Raise Problem 400 with all errors, if there are any."""
        if self.errors:
            raise invalid_parameters(self.errors)


def designed_query(endpoint: Endpoint) -> DesignedQuery:
    """Return the endpoint's own query. Raises Misconfigured if none is designed."""
    query = endpoint.definition.settings.designed_query
    if query is None:
        raise Misconfigured(Sentence("no query is designed"))
    return query


class QueryOperation(Operation):
    """The parts that all kinds of queries share: the query, its parameters, rules and columns."""

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(QuerySettings)
        query = self.designed = designed_query(endpoint)
        self.prepared = _prepared_query(query, platform)
        self.default_orders: tuple[Order, ...] = with_primary_key(query.orders, query, platform)
        self.rules = QueryRules(endpoint, query, platform, linked=settings.linked_row_rules)
        fetched = self.prepared.needs.fetchers | self.rules.fetchers
        self.steps = Steps(endpoint, platform, fetched=fetched)
        self.inputs = QueryInputs(endpoint.definition, platform)
        self.has_labels = settings.labels
        # Whether the parameter `lcid` is accepted: labels and the messages of pre-conditions have languages.
        self._takes_lcid = self.has_labels or bool(endpoint.definition.preconditions)
        self.columns = _columns(endpoint, query, platform, labels=settings.labels)
        self._rounding_places = rounding_places(query, platform.attributes)
        self._names = self.inputs.names | ({"lcid"} if self._takes_lcid else set())

    def accept(self, parameters: Set[str]) -> None:
        """Accept these parameters, in lower case, beside the endpoint's inputs."""
        self._names |= parameters

    def read_parameters(self, exchange: Exchange) -> QueryParameters:
        """Read the request's parameters, and the inputs among them into the exchange.

        Call `finish` on the result before using the inputs: it raises the errors.
        """
        texts, errors = parse_parameters(exchange.request, self._names)
        parameters = QueryParameters(texts, errors)
        exchange.inputs = self.inputs.read(texts, errors)
        parameters.lcid = exchange.lcid = parameters.read("lcid", lcid_of, ENGLISH)
        return parameters

    def query(self, exchange: Exchange, orders: tuple[Order, ...], now: dt.datetime | None = None) -> Query:
        """Run the endpoint's steps, and return the query to send to the platform.

        Relative dates count from `now`, by default the time of the request. Raises Problem 400 for a value
        that its condition cannot take, and what the steps raise.
        """
        self.steps.run(exchange)
        situation = circumstances(exchange, self.prepared.needs)
        if now is not None and now is not exchange.now:
            situation = replace(situation, now=now)
        try:
            resolved = self.prepared.resolve(situation)
        except UnfitValue as error:
            raise self._refusal_of(situation, error) from error
        if resolved.orders != orders:
            resolved = replace(resolved, orders=orders)
        return self.rules.applied(resolved, exchange)

    def ask(self, query: Query, exchange: Exchange, page: Page = ALL) -> QueryResult:
        """Return the platform's answer to a query.

        Raises Problem 400 for a parameter that the platform cannot compare with.
        """
        try:
            return self.platform.query(query, page, call=exchange.call)
        except UnfitValue as error:
            given_inputs = [name for name, value in exchange.inputs.items() if value is not None]
            # After the first page, the platform has compared with them already.
            if not given_inputs or page.token is not None:
                raise
            which = "It" if len(given_inputs) == 1 else f"One of {', '.join(given_inputs)}"
            message = f"{which} is beyond what the platform can compare with."
            raise invalid_parameters(
                [FieldError("invalid_value", message, parameter=given_inputs[0])]
            ) from error

    def answers(
        self, rows: Sequence[Mapping[str, Value]], parameters: QueryParameters, exchange: Exchange
    ) -> list[dict[str, Any]]:
        """Return the JSON objects of an answer: the columns of each row, aggregates rounded."""
        if self._rounding_places:
            rows = [{**row, **self._rounded(row)} for row in rows]
        return self.columns.answers(rows, parameters.lcid, exchange)

    def _rounded(self, row: Mapping[str, Value]) -> dict[str, Value]:
        """Return the aggregates of a row, rounded, because platforms differ in how many decimal places they
        give.
        """
        with_places = {key: (row.get(key), places) for key, places in self._rounding_places.items()}
        return {
            key: rounded(value, places) if isinstance(value, Decimal) else rounded_float(value, places)
            for key, (value, places) in with_places.items()
            if isinstance(value, Decimal | float)
        }

    def parameters(self) -> tuple[dict[str, Any], ...]:
        """Return the parameters that the queries of every kind document."""
        return (*self.inputs.document(), *((LCID,) if self._takes_lcid else ()))

    def _refusal_of(self, situation: Circumstances, error: UnfitValue) -> Exception:
        """Return the refusal of the parameter whose value does not fit; Misconfigured when every parameter
        fits alone.
        """
        parameters = situation.parameters
        # The error does not say which parameter it is about. So each is tried alone, with all others left
        # out.
        for name, value in parameters.items():
            if value is not None:
                alone = {other: value if other == name else None for other in parameters}
                try:
                    self.prepared.resolve(replace(situation, parameters=alone))
                except UnfitValue as refusal:
                    reason = str(refusal.__cause__ or "it does not fit")
                    message = f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
                    return invalid_parameters([FieldError("invalid_value", message, parameter=name)])
        return Misconfigured(str(error))


def _prepared_query(query: DesignedQuery, platform: Platform) -> PreparedQuery:
    """Return the query, prepared once for all requests. Raises Misconfigured when the query is not valid."""
    try:
        return prepare(query, platform.attributes, calendar())
    except InvalidQuery as error:
        raise Misconfigured(str(error)) from error


def _columns(endpoint: Endpoint, query: DesignedQuery, platform: Platform, *, labels: bool) -> Columns:
    """Return the columns of an answer: those that the endpoint chooses, or all that the query selects.

    With `labels`, a column of an option set also answers its label. Raises Misconfigured when there is no
    column.
    """
    attributes = answered_attributes(query, platform.attributes)
    chosen = endpoint.definition.columns or tuple(ColumnDefinition(attribute=key) for key in attributes)
    if not chosen:
        raise Misconfigured(Sentence("the query selects no columns"))
    return Columns(chosen, attributes, _labels_by_key(attributes, platform) if labels else {})


def _labels_by_key(attributes: Mapping[str, Attribute], platform: Platform) -> dict[str, OptionLabels]:
    """Return the labels of the attributes that are choices, by the attribute's key in the row."""
    return {
        key: OptionLabels(known_options(attribute, platform.option_set), platform)
        for key, attribute in attributes.items()
        if attribute.type.has_options
    }
