"""Guards of writes that would create a record outside the caller's row rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crmclient import Call, Platform, Reference, Value, new_guid
from crmclient.errors import RecordNotFound
from crmclient.new_records import Origin, first_state, origin
from crmclient.query.filter_match import Undecidable, matches, names_compared
from designer.configuration import Endpoint
from runtime.http.problems import FieldError, Problem
from runtime.request_context import Exchange
from runtime.steps.platform_changes import values_set_along
from runtime.steps.rules import OUTSIDE_ROW_RULE, CallersRule, RowRule, rule_of_entity, rule_of_record

WOULD_CREATE_OUTSIDE = "This would create a record where you may not reach it."


class Child(NamedTuple):
    """A new record of the input `list`: `at` is its JSON Pointer in the body, `values` are its attributes."""

    list: str
    at: str
    values: Mapping[str, Value]


class CreateGuards:
    """The row rules for the records of a create: that of the record itself, and those of records in `lists`.

    `lists` has the entities by list. With `with_record_rule`, calls create a record of the exposed entity,
    too. Raises QueryProblems where a rule does not fit its entity.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        platform: Platform,
        lists: Mapping[str, str],
        *,
        with_record_rule: bool = True,
    ) -> None:
        is_unruled = endpoint.definition.settings.creates_outside_row_rule
        rule = rule_of_record(endpoint, platform) if with_record_rule and not is_unruled else None
        self._own = CreateGuard(rule, platform) if rule else None
        self._lists: dict[str, CreateGuard] = {}
        if is_unruled:
            return
        for name, entity in lists.items():
            if (list_rule := rule_of_entity(endpoint, entity, platform)) is not None:
                self._lists[name] = CreateGuard(list_rule, platform)

    @property
    def _guards(self) -> list[CreateGuard]:
        return [*([self._own] if self._own else []), *self._lists.values()]

    @property
    def fetchers(self) -> frozenset[str]:
        """The data fetchers whose rows the rules compare with."""
        return frozenset().union(*(guard.rule.needs.fetchers for guard in self._guards))

    @property
    def problems(self) -> dict[int, tuple[str, ...]]:
        """The problem codes of `check` by status, for the OpenAPI document."""
        return {403: (OUTSIDE_ROW_RULE,)} if self._guards else {}

    def check(
        self,
        values: Mapping[str, Value],
        exchange: Exchange,
        children: Sequence[Child] = (),
    ) -> None:
        """Raise Problem 403 if a new record would be outside its row rule. It names every such item of a
        list.
        """
        outside = [
            FieldError(OUTSIDE_ROW_RULE, WOULD_CREATE_OUTSIDE, pointer=child.at)
            for child in children
            if child.list in self._lists and not self._lists[child.list].allows(child.values, exchange)
        ]
        if outside or not (self._own is None or self._own.allows(values, exchange)):
            raise Problem(403, OUTSIDE_ROW_RULE, WOULD_CREATE_OUTSIDE, errors=outside)


class CreateGuard:
    """Judges new records by the row rule under which callers read them."""

    def __init__(self, rule: RowRule, platform: Platform) -> None:
        self.rule = rule
        self._platform = platform
        self._attributes = platform.attributes(rule.entity)
        self._system_attributes = platform.conventions.of(rule.entity)
        self._user_conventions = platform.conventions.users

    def allows(self, values: Mapping[str, Value], exchange: Exchange) -> bool:
        """Whether a record of `values` would be inside the rule; what only the platform could tell is not.

        Raises InvalidRecord for an owner that does not exist.
        """
        rule_of_caller = self.rule.of_caller(exchange)
        rule_filter = rule_of_caller.filter(exchange)
        if rule_filter is None:
            return True
        compared_by_name = frozenset(names_compared(rule_filter))
        new_record = self._values_of_new_record(values, rule_of_caller, compared_by_name, exchange)
        try:
            return matches(rule_filter, new_record)
        except Undecidable:
            return False

    def _values_of_new_record(
        self,
        values: Mapping[str, Value],
        callers_rule: CallersRule,
        compared_by_name: frozenset[str],
        exchange: Exchange,
    ) -> dict[str, Value]:
        """Return the attributes that the rule reads, with the values that the new record will have. An
        attribute whose value only the platform could tell is left out.

        `values` are those of the request. Lookups in `compared_by_name` have the name of their record, which
        costs a read.
        """
        attributes_to_judge = callers_rule.attributes | {self.rule.primary_id}
        # An owner or a state that is emptied is the default one.
        always_set = self._system_attributes.always_set
        given = {name: value for name, value in values.items() if value is not None or name not in always_set}
        given_or_default = {**self._defaults(given, attributes_to_judge, exchange.call), **given}
        # What the platform sets by itself because of these values, such as the unit of an owner.
        given_or_default |= values_set_along(
            self.rule.entity, given_or_default, attributes_to_judge, self._platform, exchange.call
        )
        known_values: dict[str, Value] = {}
        for name in attributes_to_judge:
            match origin(name, self._attributes, given.keys(), self._system_attributes):
                case Origin.EMPTY:
                    known_values[name] = None
                case Origin.GIVEN | Origin.DEFAULT if name in given_or_default:
                    value = given_or_default[name]
                    known_values[name] = (
                        self._with_name(value, exchange.call) if name in compared_by_name else value
                    )
                case _:
                    # Such as a value that the platform computes: it stays unknown.
                    pass
        ownership = self._system_attributes.ownership
        unit = ownership.unit if ownership else None
        if (
            unit is not None
            and given.get(unit) is not None
            and not _is_same_record(given[unit], known_values.get(unit))
        ):
            # A setting of the organisation decides whether the platform keeps a unit other than the owner's,
            # so it stays unknown.
            known_values.pop(unit, None)
        return known_values

    def _defaults(
        self, values: Mapping[str, Value], attributes: frozenset[str], call: Call
    ) -> dict[str, Value]:
        """Return what the platform sets in a new record where `values` do not: its id, owner and state."""
        # Nobody knows the id that the platform will choose, so a rule treats any new one alike.
        defaults: dict[str, Value] = {self.rule.primary_id: new_guid()}
        needed, system = attributes & self._attributes.keys(), self._system_attributes
        if self._user_conventions and not needed.isdisjoint(system.set_to_caller | system.set_with_owner):
            actor = Reference(self._user_conventions.entity, call.caller or self._platform.who())
            # Where the owner is among these, `values_set_along` adds what is set with it.
            defaults |= dict.fromkeys(system.set_to_caller, actor)
        if system.state and not needed.isdisjoint(system.life) and values.keys().isdisjoint(system.life):
            state = first_state(self.rule.entity, self._platform)
            if state is not None:
                defaults[system.state] = state
        return defaults

    def _with_name(self, value: Value, call: Call) -> Value:
        """Return a reference with the name of its record, if there is such a record."""
        if not isinstance(value, Reference) or value.name is not None:
            return value
        name = self._platform.entities()[value.entity].primary_name
        if name is None:
            return value
        try:
            record_name = self._platform.retrieve(value.entity, value.id, (name,), call=call).values[name]
        except RecordNotFound:
            return value
        return replace(value, name=record_name) if isinstance(record_name, str) else value


def _is_same_record(one: Value, other: Value) -> bool:
    """Whether two values refer to one record, whichever of them has its name."""
    return (
        isinstance(one, Reference)
        and isinstance(other, Reference)
        and (one.entity, one.id) == (other.entity, other.id)
    )
