"""Dataverse's query functions: `Microsoft.Dynamics.CRM.LastXDays(PropertyName='createdon',PropertyValue=7)`.

Each is an operator of FetchXML. Those relative to now and to the caller become definite as in a
FetchXML text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from odata_query import ast

from crmbox.webapi.errors import bad_url, unsupported
from crmclient.query.ast import Operator
from crmclient.query.designed import (
    DateOperator,
    DesignedCondition,
    DesignedOperator,
    Literal,
    UserOperator,
    values_taken,
)

NAMESPACE: Final = ("Microsoft", "Dynamics", "CRM")

FUNCTIONS: Final[Mapping[str, DesignedOperator]] = {
    "Above": Operator.ABOVE,
    "AboveOrEqual": Operator.EQ_OR_ABOVE,
    "Between": Operator.BETWEEN,
    "ContainValues": Operator.CONTAIN_VALUES,
    "DoesNotContainValues": Operator.NOT_CONTAIN_VALUES,
    "EqualBusinessId": UserOperator.EQ_BUSINESS_UNIT,
    "EqualUserId": UserOperator.EQ_USER,
    "EqualUserOrUserHierarchy": UserOperator.EQ_USER_OR_HIERARCHY,
    "EqualUserOrUserHierarchyAndTeams": UserOperator.EQ_USER_OR_HIERARCHY_AND_TEAMS,
    "EqualUserOrUserTeams": UserOperator.EQ_USER_OR_TEAMS,
    "EqualUserTeams": UserOperator.EQ_USER_TEAMS,
    "In": Operator.IN,
    "InFiscalPeriod": Operator.IN_FISCAL_PERIOD,
    "InFiscalPeriodAndYear": DateOperator.IN_FISCAL_PERIOD_AND_YEAR,
    "InFiscalYear": DateOperator.IN_FISCAL_YEAR,
    "InOrAfterFiscalPeriodAndYear": DateOperator.IN_OR_AFTER_FISCAL_PERIOD_AND_YEAR,
    "InOrBeforeFiscalPeriodAndYear": DateOperator.IN_OR_BEFORE_FISCAL_PERIOD_AND_YEAR,
    "Last7Days": DateOperator.LAST_SEVEN_DAYS,
    "LastFiscalPeriod": DateOperator.LAST_FISCAL_PERIOD,
    "LastFiscalYear": DateOperator.LAST_FISCAL_YEAR,
    "LastMonth": DateOperator.LAST_MONTH,
    "LastWeek": DateOperator.LAST_WEEK,
    "LastXDays": DateOperator.LAST_X_DAYS,
    "LastXFiscalPeriods": DateOperator.LAST_X_FISCAL_PERIODS,
    "LastXFiscalYears": DateOperator.LAST_X_FISCAL_YEARS,
    "LastXHours": DateOperator.LAST_X_HOURS,
    "LastXMonths": DateOperator.LAST_X_MONTHS,
    "LastXWeeks": DateOperator.LAST_X_WEEKS,
    "LastXYears": DateOperator.LAST_X_YEARS,
    "LastYear": DateOperator.LAST_YEAR,
    "Next7Days": DateOperator.NEXT_SEVEN_DAYS,
    "NextFiscalPeriod": DateOperator.NEXT_FISCAL_PERIOD,
    "NextFiscalYear": DateOperator.NEXT_FISCAL_YEAR,
    "NextMonth": DateOperator.NEXT_MONTH,
    "NextWeek": DateOperator.NEXT_WEEK,
    "NextXDays": DateOperator.NEXT_X_DAYS,
    "NextXFiscalPeriods": DateOperator.NEXT_X_FISCAL_PERIODS,
    "NextXFiscalYears": DateOperator.NEXT_X_FISCAL_YEARS,
    "NextXHours": DateOperator.NEXT_X_HOURS,
    "NextXMonths": DateOperator.NEXT_X_MONTHS,
    "NextXWeeks": DateOperator.NEXT_X_WEEKS,
    "NextXYears": DateOperator.NEXT_X_YEARS,
    "NextYear": DateOperator.NEXT_YEAR,
    "NotBetween": Operator.NOT_BETWEEN,
    "NotEqualBusinessId": UserOperator.NE_BUSINESS_UNIT,
    "NotEqualUserId": UserOperator.NE_USER,
    "NotIn": Operator.NOT_IN,
    "NotUnder": Operator.NOT_UNDER,
    "OlderThanXDays": DateOperator.OLDER_THAN_X_DAYS,
    "OlderThanXHours": DateOperator.OLDER_THAN_X_HOURS,
    "OlderThanXMinutes": DateOperator.OLDER_THAN_X_MINUTES,
    "OlderThanXMonths": DateOperator.OLDER_THAN_X_MONTHS,
    "OlderThanXWeeks": DateOperator.OLDER_THAN_X_WEEKS,
    "OlderThanXYears": DateOperator.OLDER_THAN_X_YEARS,
    "On": DateOperator.ON,
    "OnOrAfter": DateOperator.ON_OR_AFTER,
    "OnOrBefore": DateOperator.ON_OR_BEFORE,
    "ThisFiscalPeriod": DateOperator.THIS_FISCAL_PERIOD,
    "ThisFiscalYear": DateOperator.THIS_FISCAL_YEAR,
    "ThisMonth": DateOperator.THIS_MONTH,
    "ThisWeek": DateOperator.THIS_WEEK,
    "ThisYear": DateOperator.THIS_YEAR,
    "Today": DateOperator.TODAY,
    "Tomorrow": DateOperator.TOMORROW,
    "Under": Operator.UNDER,
    "UnderOrEqual": Operator.EQ_OR_UNDER,
    "Yesterday": DateOperator.YESTERDAY,
}


def full_name(identifier: ast.Identifier) -> str:
    """Return a name with its namespace, such as `Microsoft.Dynamics.CRM.In`."""
    return ".".join((*identifier.namespace, identifier.name))


def path_and_condition(call: ast.Call) -> tuple[tuple[str, ...], DesignedCondition]:
    """Return the path in `PropertyName` and a condition on its last segment. Raises WebApiError."""
    name = call.func.name
    operator = FUNCTIONS.get(name)
    if operator is None:
        raise unsupported(f"the query function {full_name(call.func)}")
    arguments = {item.name.name: item.param for item in call.args if isinstance(item, ast.NamedParam)}
    path = _text(arguments.pop("PropertyName", None), name).split("/")
    values = _values(arguments, name)
    number_taken = values_taken(operator)
    if (number_taken is None and not values) or (number_taken is not None and len(values) != number_taken):
        expected = (
            "at least one value"
            if number_taken is None
            else ("no value", "one value", "two values")[number_taken]
        )
        raise bad_url(f"The query function {name} takes {expected}.")
    return tuple(path), DesignedCondition(path[-1], operator, tuple(Literal(value) for value in values))


def _values(arguments: Mapping[str, ast._Node], name: str) -> list[str]:
    """Return the `PropertyValue`, or the `PropertyValues` in brackets. Raises WebApiError."""
    unknown = arguments.keys() - {"PropertyValue", "PropertyValues"}
    if unknown:
        raise bad_url(f"The query function {name} has no parameter '{min(unknown)}'.")
    if "PropertyValues" in arguments:
        values = arguments["PropertyValues"]
        if not isinstance(values, ast.List):
            raise bad_url(f'{name}: PropertyValues is a list, such as ["1","2"].')
        return [_text(value, name) for value in values.val]
    return [_text(arguments["PropertyValue"], name)] if "PropertyValue" in arguments else []


def _text(value: ast._Node | None, name: str) -> str:
    """Return the text of a literal among the arguments of the function `name`. Raises WebApiError."""
    text = getattr(value, "val", None) if isinstance(value, ast._Literal) else None
    if not isinstance(text, str):
        raise bad_url(f"The query function {name} needs a PropertyName and values that are literals.")
    return text
