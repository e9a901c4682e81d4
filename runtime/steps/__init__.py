"""The steps between a request's inputs and its platform call: row rule → data fetchers → pre-conditions."""

from runtime.steps.circumstances import circumstances
from runtime.steps.create_guards import CreateGuards
from runtime.steps.move_guards import WriteGuard
from runtime.steps.rules import RowRule, both, narrowed, rule_of_entity, rule_of_query
from runtime.steps.steps import FoundRecord, Steps

__all__ = [
    "CreateGuards",
    "FoundRecord",
    "RowRule",
    "Steps",
    "WriteGuard",
    "both",
    "circumstances",
    "narrowed",
    "rule_of_entity",
    "rule_of_query",
]
