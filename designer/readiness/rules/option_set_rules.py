"""Option sets and their filters."""

from __future__ import annotations

from crmclient.metadata import OptionSet
from designer.endpoint_facts.served_options import served_options
from designer.expressions import Expression, ExpressionError
from designer.kinds.option_sets import FILTER_NAMES, OptionSetSettings
from designer.readiness.registry import Found, blocking_of, warning_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@blocking_of(OptionSetSettings, "option-set-unknown")
def option_set_exists(subject: EndpointSubject, settings: OptionSetSettings) -> Found:
    """Find an option set that is not chosen, or that does not exist."""
    if not settings.option_set:
        yield _("Choose an option set."), "settings.option_set"
    elif not subject.lacks_entity and _option_set(subject, settings) is None:
        missing = (
            _(
                "%(entity)s has no choice attribute “%(option_set)s”.",
                entity=subject.entity,
                option_set=settings.option_set,
            )
            if subject.entity
            else _("The platform has no option set “%(option_set)s”.", option_set=settings.option_set)
        )
        yield missing, "settings.option_set"


@warning_of(OptionSetSettings, "option-filter-values")
def filter_values_exist(subject: EndpointSubject, settings: OptionSetSettings) -> Found:
    """Find a filter without values, and values that are no options."""
    if settings.filter.mode not in {"keep", "leave_out"}:
        return
    if not settings.filter.values:
        yield _("The filter names no values."), "settings.filter.values"
    option_set = _option_set(subject, settings)
    # Without a known option set, no value is called wrong.
    option_values = (
        {option.value for option in option_set.options} if option_set else set(settings.filter.values)
    )
    for value in settings.filter.values:
        if value not in option_values:
            yield (
                _("The filter names %(value)s, which is not a value of the option set.", value=value),
                "settings.filter.values",
            )


@blocking_of(OptionSetSettings, "option-filter-expression")
def filter_can_be_evaluated(subject: EndpointSubject, settings: OptionSetSettings) -> Found:
    """Find mistakes in the expression of a filter, and options for which it fails."""
    if settings.filter.mode == "expression":
        try:
            Expression(settings.filter.expression, FILTER_NAMES)
            option_set = _option_set(subject, settings)
            if option_set is not None:
                served_options(settings, option_set)
        except ExpressionError as error:
            yield _("The filter: %(error)s", error=str(error)), "settings.filter.expression"


def _option_set(subject: EndpointSubject, settings: OptionSetSettings) -> OptionSet | None:
    """Return the option set that is served: where there is an entity, its choice attribute's; else a global
    one.

    None for an unknown one.
    """
    return subject.metadata.option_set(settings.option_set, subject.entity or None)
