"""Calculated columns: an expression over each row that is answered."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from crmclient import ProcessValues
from crmclient.metadata import Attribute
from crmclient.sentences import for_log
from designer.definitions import ColumnDefinition
from designer.endpoint_facts.column_keys import row_keys
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.expressions.results import is_exact
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.request_context import Exchange
from runtime.values.evaluation import evaluate, with_link_objects

logger = logging.getLogger("portico.columns")


class Calculation:
    """A calculated column over rows with the keys of `attributes`, of which `answered` are columns, too.

    `needs` are the keys of a row that the expression reads; for an expression that reads `record` as a whole,
    all that are answered. `attribute` is the attribute whose value the expression returns unchanged, as
    `record.name` does; None for any other expression. `is_exact`: the result is a number with exact digits.
    Raises Misconfigured.
    """

    def __init__(
        self, column: ColumnDefinition, attributes: Mapping[str, Attribute], answered: Iterable[str]
    ) -> None:
        self._name = column.name
        try:
            self._expression = Expression(column.expression, ENDPOINT_NAMES)
        except ExpressionError as error:
            raise Misconfigured(
                Sentence("the column %(name)s: %(reason)s", name=repr(column.name), reason=str(error))
            ) from error
        self.is_exact = is_exact(column.expression)
        paths = self._expression.paths("record")
        self.needs = tuple(answered) if paths is None else _keys_read(paths, attributes)
        # Not empty for an expression that is a path alone, such as `record.name`.
        path = self._expression.path
        self.attribute = attributes.get(".".join(path[1:])) if path and path[0] == "record" else None

    def value(self, values: ProcessValues, exchange: Exchange) -> Any:
        """Return the expression's value for one row; None, with a line in the log, when it cannot be
        calculated.

        So one row does not spoil the others. Raises Problem 401, 403 when the expression needs a user and
        there is none.
        """
        record = with_link_objects({key: values.get(key) for key in self.needs})
        try:
            return evaluate(self._expression, exchange, record=record)
        except ExpressionError as error:
            if self._name not in exchange.without_value:
                exchange.without_value.add(self._name)
                logger.warning("column %s has no value: %s", self._name, for_log(error))
            return None


def _keys_read(paths: Iterable[tuple[str, ...]], attributes: Mapping[str, Attribute]) -> tuple[str, ...]:
    """Return the keys of a row that these paths read. Raises Misconfigured for a path that leads to none.

    A path is without `record` itself: `("contact", "email")`.
    """
    needs: dict[str, None] = {}
    # Sorted, so that the same expression always gives the same order.
    for path in sorted(paths):
        keys = row_keys(path, attributes)
        if not keys:
            raise Misconfigured(
                Sentence("there is no %(name)s to calculate with", name=f"record.{'.'.join(path)}")
            )
        needs |= dict.fromkeys(keys)
    return tuple(needs)
