"""The options that an option set endpoint serves."""

from __future__ import annotations

from collections.abc import Callable

from crmclient.metadata import Option, OptionSet
from designer.calendar import present
from designer.expressions import Expression
from designer.kinds.option_sets import FILTER_NAMES, OptionFilter, OptionSetSettings


def served_options(settings: OptionSetSettings, option_set: OptionSet) -> tuple[Option, ...]:
    """Return the options of `option_set` that are served, in their order.

    Raises ExpressionError for a filter's expression that has a mistake, and for one that fails for an option.
    """
    keeps = _passes_filter(settings.filter)
    return tuple(
        option
        for option in option_set.options
        if (settings.include_inactive or not option_set.is_inactive(option)) and keeps(option)
    )


def _passes_filter(chosen: OptionFilter) -> Callable[[Option], bool]:
    """Return the function that says whether an option passes the filter. Raises ExpressionError, as the
    function does.
    """
    values = frozenset(chosen.values)
    match chosen.mode:
        case "keep":
            return lambda option: option.value in values
        case "leave_out":
            return lambda option: option.value not in values
        case "expression":
            return _evaluates_to_true(Expression(chosen.expression, FILTER_NAMES))
        case _:
            return lambda option: True


def _evaluates_to_true(expression: Expression) -> Callable[[Option], bool]:
    """Return the function that says whether `expression` gives true for an option; any other value is no."""

    def keeps(option: Option) -> bool:
        """Whether the expression gives true for the option. Raises ExpressionError when it fails."""
        seen = (option.value, option.label.text(), option.color, option.state)
        return expression.evaluate(dict(zip(FILTER_NAMES, seen, strict=True)), present()) is True

    return keeps
