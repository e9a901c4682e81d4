"""Creates under row rules: records that would always be refused, and cases that only the platform can
decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from crmclient.conventions import SystemAttributes
from crmclient.metadata import Attribute
from crmclient.new_records import Origin, origin
from crmclient.query.ast import Operator
from crmclient.query.designed import (
    DesignedCondition,
    DesignedFilter,
    DesignedItem,
    DesignedLink,
    UserOperator,
)
from crmclient.query.filter_match import DECIDED, HOLD_FOR_EMPTY
from designer.definitions import ExposedEntityDefinition
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import holds_records

_SETTING_NAME = "may_create_outside_rule"
_SETTING = f"settings.{_SETTING_NAME}"
# Operators that an empty value meets, because it is not the caller's.
_EMPTY_IS_OTHER = frozenset({UserOperator.NE_USER, UserOperator.NE_BUSINESS_UNIT})
_ONE_OF = frozenset({Operator.EQ, Operator.IN})


class Outcome(Enum):
    """Whether a new record can meet a rule, before its values are known; from the best to the worst."""

    POSSIBLE = 0
    UNDECIDABLE = 1
    NEVER = 2


@dataclass(frozen=True, slots=True)
class _NewRecords:
    """Records that a create makes, of its own entity or of a list, and the row rules they have to meet.

    `given` are the attributes that bindings, the path or the kind's settings set; `place` is where the
    bindings are.
    """

    filters: tuple[DesignedFilter, ...]
    attributes: Mapping[str, Attribute]
    system_attributes: SystemAttributes
    given: Collection[str]
    place: str

    def outcome(self, item: DesignedItem) -> Outcome:
        """Return whether the new records can meet a condition, link or filter.

        For a filter, the worst outcome of its items counts; for a filter with `any`, the best.
        """
        if isinstance(item, DesignedCondition):
            return self._outcome_of_condition(item)
        if isinstance(item, DesignedLink):
            return Outcome.UNDECIDABLE
        outcomes = [self.outcome(inner) for inner in item.items]
        if not outcomes:
            return Outcome.POSSIBLE
        return (min if item.any else max)(outcomes, key=lambda outcome: outcome.value)

    def _outcome_of_condition(self, condition: DesignedCondition) -> Outcome:
        """Return whether new records can meet a condition, by where the attribute gets its value from."""
        operator = condition.operator
        value_origin = origin(condition.attribute, self.attributes, self.given, self.system_attributes)
        undecided = isinstance(operator, Operator) and operator not in DECIDED
        if value_origin is Origin.PLATFORM or undecided or condition.value_of is not None or condition.link:
            return Outcome.UNDECIDABLE
        if value_origin is Origin.EMPTY:
            return Outcome.POSSIBLE if operator in HOLD_FOR_EMPTY | _EMPTY_IS_OTHER else Outcome.NEVER
        # No value that can be compared with is the id that a record is about to get.
        is_new_id = value_origin is Origin.DEFAULT and self.attributes[condition.attribute].is_primary_id
        return Outcome.NEVER if is_new_id and operator in _ONE_OF else Outcome.POSSIBLE

    def never_inside(self) -> Iterator[tuple[str, Outcome]]:
        """Yield the attributes for which no create can be let through, with why not; none where one can."""
        outcome = self.outcome(DesignedFilter(self.filters))
        if outcome is not Outcome.POSSIBLE:
            yield from ((attribute, outcome) for attribute in self.attributes_of(outcome))

    def attributes_of(self, outcome: Outcome) -> Iterator[str]:
        """Yield the attributes whose conditions and links have `outcome`."""
        # Items are added while the loop runs, so that it reaches those of inner filters.
        stack: list[DesignedItem] = list(self.filters)
        for item in stack:
            if isinstance(item, DesignedFilter):
                stack.extend(item.items)
            elif self.outcome(item) is outcome:
                yield item.attribute if isinstance(item, DesignedCondition) else item.to_attribute


@warning("create-outside-rule", row_rules=True)
def creates_hold_to_the_rule(subject: EndpointSubject) -> Found:
    """Find that creates under a row rule are set up to ignore it."""
    if not subject.definition.settings.creates_outside_row_rule:
        return
    all_new_records = [*_new_records(subject)]
    unmet = [
        (attribute, attribute in new_records.given)
        for new_records in all_new_records
        for attribute, _outcome in new_records.never_inside()
    ]
    if unmet:
        attribute, is_set = unmet[0]
        yield (
            _(
                "It may create records outside the row rule, which its caller cannot read afterwards. "
                "Before you switch “May create outside its rule” off, change what the rule says of "
                "“%(attribute)s”: otherwise every call would be refused.",
                attribute=attribute,
            )
            if is_set
            else _(
                "It may create records outside the row rule, which its caller cannot read afterwards. "
                "Before you switch “May create outside its rule” off, bind “%(attribute)s” or change the "
                "rule: otherwise every call would be refused.",
                attribute=attribute,
            ),
            _SETTING,
        )
    elif all_new_records:
        yield (
            _(
                "It may create records outside the row rule, which its caller cannot read afterwards. Switch "
                "“May create outside its rule” off, so that such calls are refused."
            ),
            _SETTING,
        )


@blocking("create-never-inside", row_rules=True)
def creates_can_hold_to_the_rule(subject: EndpointSubject) -> Found:
    """Find row rules that no new record can meet, or that nobody can judge before the record is there."""
    for new_records in _records_under_rule(subject):
        for attribute, rule_outcome in new_records.never_inside():
            sentence = (
                _(
                    "Every call would be refused: the row rule wants a value of “%(attribute)s”, which "
                    "nothing sets. %(remedy)s",
                    attribute=attribute,
                    remedy=_remedy(subject, new_records, attribute),
                )
                if rule_outcome is Outcome.NEVER
                else _(
                    "Every call would be refused: what the row rule says of “%(attribute)s” is known only "
                    "when the record is there. %(remedy)s",
                    attribute=attribute,
                    remedy=_remedy(subject, new_records, attribute),
                )
            )
            yield sentence, new_records.place


@warning("create-undecidable", row_rules=True)
def creates_are_decided_beforehand(subject: EndpointSubject) -> Found:
    """Find parts of a row rule that are known only after the create, where the record may meet the rule
    without them.
    """
    for new_records in _records_under_rule(subject):
        if new_records.outcome(DesignedFilter(new_records.filters)) is Outcome.POSSIBLE:
            for attribute in new_records.attributes_of(Outcome.UNDECIDABLE):
                yield (
                    _(
                        "What the row rule says of “%(attribute)s” is known only when the record is there. A "
                        "call that depends on it is refused.",
                        attribute=attribute,
                    ),
                    new_records.place,
                )


def _remedy(subject: EndpointSubject, new_records: _NewRecords, attribute: str) -> str:
    """Return what lets calls through. Only some kinds have the setting that lifts the rule.

    An attribute that is set already has a value in time: it is the comparison that nobody can judge, such as
    a pattern.
    """
    can_lift = _SETTING_NAME in type(subject.definition.settings).model_fields
    if attribute in new_records.given:
        return (
            _(
                "Change what the rule says of “%(attribute)s”, or switch “May create outside its rule” on.",
                attribute=attribute,
            )
            if can_lift
            else _("Change what the rule says of “%(attribute)s”.", attribute=attribute)
        )
    if can_lift:
        return _(
            "Bind “%(attribute)s”, change the rule, or switch “May create outside its rule” on.",
            attribute=attribute,
        )
    return _("Bind “%(attribute)s”, or change the rule.", attribute=attribute)


def _records_under_rule(subject: EndpointSubject) -> Iterator[_NewRecords]:
    """Yield the new records that have to meet their row rule."""
    if not subject.definition.settings.creates_outside_row_rule:
        yield from _new_records(subject)


def _new_records(subject: EndpointSubject) -> Iterator[_NewRecords]:
    """Yield the records that the endpoint creates and that have a row rule."""
    own_entity = subject.endpoint.entity
    conventions = subject.metadata.conventions
    if subject.definition.settings.creates_records and own_entity is not None:
        filters = [*_rules_as_filters([own_entity])]
        if subject.definition.row_rule is not None:
            filters.append(subject.definition.row_rule)
        if filters:
            set_attributes = {binding.attribute for binding in subject.bindings} | subject.set_without_binding
            attributes = subject.metadata.attributes(own_entity.entity)
            system_attributes = conventions.of(own_entity.entity)
            yield _NewRecords(
                filters=tuple(filters),
                attributes=attributes,
                system_attributes=system_attributes,
                given=set_attributes,
                place="bindings",
            )
    offered = subject.definition.settings.record_groups(subject.entity, subject.metadata)
    for record_input in subject.inputs:
        group = offered.get(record_input.relationship) if holds_records(record_input.type) else None
        if group is None:
            continue
        exposures = (exposed for exposed in subject.endpoint.exposures if exposed.entity == group.entity)
        rules = tuple(_rules_as_filters(exposures))
        if rules:
            set_attributes = {binding.attribute for binding in record_input.bindings} | {group.parent}
            attributes = subject.metadata.attributes(group.entity)
            system_attributes = conventions.of(group.entity)
            yield _NewRecords(
                filters=rules,
                attributes=attributes,
                system_attributes=system_attributes,
                given=set_attributes,
                place=f"inputs.{record_input.name}.bindings",
            )


def _rules_as_filters(exposures: Iterable[ExposedEntityDefinition]) -> Iterator[DesignedFilter]:
    """Yield each row rule as one filter: a caller may have the roles of any of its entries."""
    for exposed in exposures:
        # An entry for all records has no filter. An empty filter matches every record.
        filters = tuple(entry.filter or DesignedFilter() for entry in exposed.row_rule)
        if filters:
            yield filters[0] if len(filters) == 1 else DesignedFilter(filters, any=True)
