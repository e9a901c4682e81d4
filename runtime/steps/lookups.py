"""Lookups that callers set: the record pointed at must be one that they reach in the same module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crmclient import Platform, Reference, Value
from crmclient.errors import InvalidRecord, InvalidValue, UnknownTarget
from crmclient.metadata import Attribute
from designer.configuration import Endpoint
from runtime.request_context import Exchange
from runtime.steps.rules import RowRule, rule_of_entity


class Lookups:
    """Those among `attributes` of `owner` whose targets have row rules."""

    def __init__(
        self, endpoint: Endpoint, owner: str, attributes: Iterable[Attribute], platform: Platform
    ) -> None:
        self._owner = owner
        self._rules: dict[str, RowRule] = {}
        lookups = [attribute for attribute in attributes if attribute.type.is_reference]
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
        """Raises InvalidRecord as the platform does for records that do not exist: for a caller, none is."""
        wrong: list[InvalidValue] = [
            UnknownTarget(name, f"There is no {value.entity} with id {value.id}.")
            for name in values.keys() & self._guarded
            if isinstance(value := values[name], Reference) and not self._is_reached(value, exchange)
        ]
        if wrong:
            raise InvalidRecord(self._owner, wrong)

    def _is_reached(self, value: Reference, exchange: Exchange) -> bool:
        rule = self._rules.get(value.entity)
        return rule is None or rule.reaches(value.id, exchange)
