"""The guard of writes that name records which the caller does not reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crmclient import Platform, Reference, Value
from crmclient.errors import InvalidRecord, InvalidValue, UnknownTarget
from crmclient.metadata import Attribute
from crmclient.values import references
from designer.configuration import Endpoint
from runtime.request_context import Exchange
from runtime.steps.rules import RowRule, rule_of_entity


class LookupGuard:
    """Refuses lookups to records that the caller does not reach in the same module.

    It guards those of `attributes` that are lookups or party lists, and whose targets have row rules.
    `owner` is the entity or process that has the attributes.
    """

    def __init__(
        self, endpoint: Endpoint, owner: str, attributes: Iterable[Attribute], platform: Platform
    ) -> None:
        self._owner = owner
        self._rules: dict[str, RowRule] = {}
        lookups = [
            attribute
            for attribute in attributes
            if attribute.type.is_reference or attribute.type.holds_parties
        ]
        for target in {target for attribute in lookups for target in attribute.targets}:
            rule = rule_of_entity(endpoint, target, platform)
            if rule is not None:
                self._rules[target] = rule
        self._guarded = frozenset(
            attribute.logical_name
            for attribute in lookups
            if not self._rules.keys().isdisjoint(attribute.targets)
        )

    def check(self, values: Mapping[str, Value], exchange: Exchange) -> None:
        """Raise InvalidRecord for a lookup to a record that the caller does not reach.

        The error is the one of a record that does not exist, so that callers cannot tell the two apart.
        """
        wrong: list[InvalidValue] = [
            UnknownTarget(name, f"There is no {record.entity} with id {record.id}.")
            for name in values.keys() & self._guarded
            for record in references(values[name])
            if not self._is_reached(record, exchange)
        ]
        if wrong:
            raise InvalidRecord(self._owner, wrong)

    def _is_reached(self, value: Reference, exchange: Exchange) -> bool:
        """Whether the caller reaches the record that a lookup refers to."""
        rule = self._rules.get(value.entity)
        return rule is None or rule.reaches(value.id, exchange)
