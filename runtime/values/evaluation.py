"""What an endpoint's expressions see of a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crmclient.query.calendar import Moment
from designer.calendar import calendar
from designer.expressions import Expression
from designer.names import RESERVED_PROPERTIES
from runtime.callers.caller import caller_facts, fields_of_user
from runtime.request_context import Exchange


def evaluate(expression: Expression, exchange: Exchange, **variables: Any) -> Any:
    """Return the value of an expression over ENDPOINT_NAMES. A value in `variables` replaces that of the
    exchange.

    Raises ExpressionError; Problem 401, 403 when the expression needs a user and there is none.
    """
    data = {
        name: variables[name] if name in variables else _VALUES[name](exchange, expression)
        for name in expression.references
    }
    return expression.evaluate(data, Moment(exchange.now, calendar()))


def with_link_objects(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row in which the columns of a link, `alias.attribute`, form an object under the
    link's alias.
    """
    nested_row: dict[str, Any] = {}
    for key, value in row.items():
        alias, dot, attribute = key.partition(".")
        if dot:
            nested_row.setdefault(alias, {})[attribute] = value
        else:
            nested_row[key] = value
    return nested_row


def _user(exchange: Exchange, expression: Expression) -> Mapping[str, Any]:
    """Return `user` as the expression sees it. Raises Problem 401, 403 when it reads a property and there is
    no user.
    """
    members = expression.members("user")
    if members is not None and RESERVED_PROPERTIES.issuperset(members):
        # Known of every caller who has a token, whether or not there is a record.
        return caller_facts(exchange.identified_caller)
    return fields_of_user(exchange.caller, exchange.user)


_VALUES: Mapping[str, Callable[[Exchange, Expression], Any]] = {
    "input": lambda exchange, _: exchange.inputs,
    "user": _user,
    "fetch": lambda exchange, _: {name: with_link_objects(row) for name, row in exchange.fetched.items()},
    "record": lambda exchange, _: with_link_objects(exchange.record_values),
    "now": lambda exchange, _: exchange.now,
}
