"""A write may not move a record out of the row rule that let its caller reach it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from crmclient import Call, Platform, Reference, Value
from crmclient.errors import InvalidRecord, RecordNotFound, UnknownTarget
from crmclient.query.matching import Undecidable, matches
from designer.configuration import Endpoint
from runtime.http.problems import Problem
from runtime.request_context import Exchange
from runtime.steps.rules import RowRule, rule_of_record
from runtime.steps.steps import Found, Steps

_OWNER, _BUSINESS_UNIT = "ownerid", "owningbusinessunit"
# The owner once more, under its own kind.
_OWNERS = {"owninguser": "systemuser", "owningteam": "team"}
_STATE, _STATUS = "statecode", "statuscode"
# What the platform changes itself along with an attribute.
_FOLLOWING = {_OWNER: (_BUSINESS_UNIT, *_OWNERS), _STATE: (_STATUS,), _STATUS: (_STATE,)}
# What it makes of several attributes in its own way: the organisation's order of names, its currencies.
_NAME, _NAME_PARTS = "fullname", frozenset({"firstname", "middlename", "lastname"})
_IN_BASE_CURRENCY = "_base"


class WriteGuard:
    """The steps of an endpoint that may write the attributes `written` of its record, and this check."""

    def __init__(self, endpoint: Endpoint, written: frozenset[str], platform: Platform) -> None:
        rule = rule_of_record(endpoint, platform)
        looked_at = rule.attributes if rule else frozenset()
        # Attributes that no rule looks at move nothing: then there is nothing to check.
        reads = () if looked_at.isdisjoint(_with_following(written)) else sorted(looked_at)
        self.steps = Steps(endpoint, platform, reads=reads)
        self._platform = platform
        self._rule = rule

    def check(self, found: Found, values: Mapping[str, Value], exchange: Exchange) -> None:
        """Raises Problem 403 when `values`, written to what was found, would move it out of the rule.

        Where only the platform could tell, that counts as out of it.
        """
        if self._rule is None or self._rule.attributes.isdisjoint(_with_following(values.keys())):
            return
        if not self._stays(self._rule, found, values, exchange):
            raise Problem(
                403, "outside_row_rule", "This would move the record to where you may not reach it."
            )

    def _stays(self, rule: RowRule, found: Found, values: Mapping[str, Value], exchange: Exchange) -> bool:
        if not rule.attributes.isdisjoint(_made_of(values.keys())):
            return False
        after = {**found.values, **values, **self._following(values, exchange.call)}
        try:
            return matches(rule.filter(exchange), after)
        except Undecidable:
            return False

    def _following(self, values: Mapping[str, Value], call: Call) -> dict[str, Value]:
        following: dict[str, Value] = {}
        owner = values.get(_OWNER)
        if isinstance(owner, Reference):
            following[_BUSINESS_UNIT] = self._business_unit_of(owner, call)
            for name, kind in _OWNERS.items():
                following[name] = owner if owner.entity == kind else None
        state, status = values.get(_STATE), values.get(_STATUS)
        if status is not None:
            following[_STATE] = self._state_of(status)
        elif state is not None:
            following[_STATUS] = self._status_of(state)
        return following

    def _business_unit_of(self, owner: Reference, call: Call) -> Value:
        try:
            found = self._platform.retrieve(owner.entity, owner.id, ("businessunitid",), call=call)
        except RecordNotFound as error:
            raise InvalidRecord(
                self.steps.entity, [UnknownTarget(_OWNER, f"There is no {owner.entity} with id {owner.id}.")]
            ) from error
        return found.values["businessunitid"]

    def _state_of(self, status: Value) -> Value:
        options = self._platform.option_set(_STATUS, entity=self.steps.entity).options
        return next((option.state for option in options if option.value == status), None)

    def _status_of(self, state: Value) -> Value:
        options = self._platform.option_set(_STATE, entity=self.steps.entity).options
        return next((option.default_status for option in options if option.value == state), None)


def _with_following(written: Collection[str]) -> frozenset[str]:
    following = (_FOLLOWING.get(name, ()) for name in written)
    return frozenset(written).union(_made_of(written), *following)


def _made_of(written: Collection[str]) -> frozenset[str]:
    """The attributes that change along with what is written, to what only the platform can tell."""
    names = () if _NAME_PARTS.isdisjoint(written) else (_NAME,)
    return frozenset((*names, *(f"{name}{_IN_BASE_CURRENCY}" for name in written)))
