"""A write may not move a record out of the row rule that let its caller reach it."""

from __future__ import annotations

from collections.abc import Mapping

from crmclient import Platform, Value
from crmclient.conventions import SystemAttributes
from crmclient.query.matching import Undecidable, matches
from designer.configuration import Endpoint
from runtime.http.problems import Problem
from runtime.request_context import Exchange
from runtime.steps.platform_changes import following
from runtime.steps.rules import RowRule, rule_of_record
from runtime.steps.steps import Found, Steps


class WriteGuard:
    """The steps of an endpoint that may write the attributes `written` of its record, and this check."""

    def __init__(self, endpoint: Endpoint, written: frozenset[str], platform: Platform) -> None:
        rule = rule_of_record(endpoint, platform)
        self._system = platform.conventions.of(rule.entity) if rule else SystemAttributes()
        looked_at = rule.attributes if rule else frozenset()
        # Attributes that no rule looks at move nothing: then there is nothing to check.
        reads = () if looked_at.isdisjoint(self._system.changed_by(written)) else sorted(looked_at)
        self.steps = Steps(endpoint, platform, reads=reads)
        self._platform = platform
        self._rule = rule

    def check(self, found: Found, values: Mapping[str, Value], exchange: Exchange) -> None:
        """Raises Problem 403 when `values`, written to what was found, would move it out of the rule.

        Where only the platform could tell, that counts as out of it.
        """
        if self._rule is None or self._rule.attributes.isdisjoint(self._system.changed_by(values.keys())):
            return
        if not self._stays(self._rule, found, values, exchange):
            raise Problem(
                403, "outside_row_rule", "This would move the record to where you may not reach it."
            )

    def _stays(self, rule: RowRule, found: Found, values: Mapping[str, Value], exchange: Exchange) -> bool:
        if not rule.attributes.isdisjoint(self._system.composed_of(values.keys())):
            return False
        then = following(self.steps.entity, values, rule.attributes, self._platform, exchange.call)
        after = {**found.values, **values, **then}
        try:
            return matches(rule.filter(exchange), after)
        except Undecidable:
            return False
