"""Guards of writes that would move a record out of the caller's row rule."""

from __future__ import annotations

from collections.abc import Mapping

from crmclient import Platform, Value
from crmclient.conventions import SystemAttributes
from crmclient.query.filter_match import Undecidable, matches
from designer.configuration import Endpoint
from runtime.http.problems import Problem
from runtime.request_context import Exchange
from runtime.steps.platform_changes import values_set_along
from runtime.steps.rules import OUTSIDE_ROW_RULE, CallersRule, RowRule, rule_of_record
from runtime.steps.steps import Steps

WOULD_MOVE_OUTSIDE = "This would move the record to where you may not reach it."


class MoveGuard:
    """Refuses writes of the attributes `written` that would move a record out of `rule`.

    The record was reached by this rule. `reads` are the attributes that have to be read of the record first.
    """

    def __init__(self, rule: RowRule | None, written: frozenset[str], platform: Platform) -> None:
        self._system_attributes = platform.conventions.of(rule.entity) if rule else SystemAttributes()
        rule_attributes = rule.attributes if rule else frozenset()
        # Attributes that no rule looks at move nothing: then there is nothing to check.
        self.reads = (
            ()
            if rule_attributes.isdisjoint(self._system_attributes.changed_by(written))
            else tuple(sorted(rule_attributes))
        )
        self._platform = platform
        self._rule = rule

    def stays(self, row: Mapping[str, Value], values: Mapping[str, Value], exchange: Exchange) -> bool:
        """Whether the record `row` stays within the row rule when `values` are written to it.

        False where only the platform could tell.
        """
        if self._rule is None:
            return True
        rule_of_caller = self._rule.of_caller(exchange)
        if rule_of_caller.attributes.isdisjoint(self._system_attributes.changed_by(values.keys())):
            return True
        return self._stays(self._rule.entity, rule_of_caller, row, values, exchange)

    def check(self, row: Mapping[str, Value], values: Mapping[str, Value], exchange: Exchange) -> None:
        """Raise Problem 403 unless the record stays within the row rule when `values` are written to it."""
        if not self.stays(row, values, exchange):
            raise Problem(403, OUTSIDE_ROW_RULE, WOULD_MOVE_OUTSIDE)

    def _stays(
        self,
        entity: str,
        rule: CallersRule,
        row: Mapping[str, Value],
        values: Mapping[str, Value],
        exchange: Exchange,
    ) -> bool:
        """Return whether the record in `row` is still inside the rule after `values` are written to it."""
        # The rule compares an attribute that the platform makes of those written, such as a full name of a
        # last name. Only the platform knows the result.
        if not rule.attributes.isdisjoint(self._system_attributes.composed_of(values.keys())):
            return False
        set_by_platform = values_set_along(entity, values, rule.attributes, self._platform, exchange.call)
        after = {**row, **values, **set_by_platform}
        rule_filter = rule.filter(exchange)
        try:
            return rule_filter is None or matches(rule_filter, after)
        except Undecidable:
            return False


class WriteGuard(MoveGuard):
    """Guards writes to the record whose id stands in the path. `steps` are those of its endpoint.

    `written` are the attributes that are written, `fetched` the names of data fetchers that the operation
    needs.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        written: frozenset[str],
        platform: Platform,
        fetched: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(rule_of_record(endpoint, platform), written, platform)
        self.steps = Steps(endpoint, platform, reads=self.reads, fetched=fetched)
