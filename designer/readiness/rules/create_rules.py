"""Creates under row rules: what could never be made, and what only the platform could tell."""

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
from crmclient.query.matching import DECIDED, HOLD_FOR_EMPTY
from designer.definitions import ExposedEntityDefinition
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import holds_records

_SETTING = "settings.may_create_outside_rule"
# An empty value is not the caller's.
_EMPTY_IS_OTHER = frozenset({UserOperator.NE_USER, UserOperator.NE_BUSINESS_UNIT})
_ONE_OF = frozenset({Operator.EQ, Operator.IN})


class Outcome(Enum):
    """Of a rule for a record that is to be made, before its values are known; from the best to the worst."""

    POSSIBLE = 0
    UNDECIDABLE = 1
    NEVER = 2


@dataclass(frozen=True, slots=True)
class _Made:
    """Records that a create makes: those that it is for, or those of a list."""

    filters: tuple[DesignedFilter, ...]
    attributes: Mapping[str, Attribute]
    system: SystemAttributes
    given: Collection[str]
    place: str

    def outcome(self, item: DesignedItem) -> Outcome:
        if isinstance(item, DesignedCondition):
            return self._of_condition(item)
        if isinstance(item, DesignedLink):
            return Outcome.UNDECIDABLE
        found = [self.outcome(inner) for inner in item.items]
        if not found:
            return Outcome.POSSIBLE
        return (min if item.any else max)(found, key=lambda one: one.value)

    def _of_condition(self, condition: DesignedCondition) -> Outcome:
        operator = condition.operator
        where = origin(condition.attribute, self.attributes, self.given, self.system)
        undecided = isinstance(operator, Operator) and operator not in DECIDED
        if where is Origin.PLATFORM or undecided or condition.value_of is not None or condition.link:
            return Outcome.UNDECIDABLE
        if where is Origin.EMPTY:
            return Outcome.POSSIBLE if operator in HOLD_FOR_EMPTY | _EMPTY_IS_OTHER else Outcome.NEVER
        is_new_id = where is Origin.DEFAULT and self.attributes[condition.attribute].is_primary_id
        return Outcome.NEVER if is_new_id and operator in _ONE_OF else Outcome.POSSIBLE

    def attributes_of(self, outcome: Outcome) -> Iterator[str]:
        """The attributes whose conditions and links have that outcome."""
        stack: list[DesignedItem] = list(self.filters)
        for item in stack:
            if isinstance(item, DesignedFilter):
                stack.extend(item.items)
            elif self.outcome(item) is outcome:
                yield item.attribute if isinstance(item, DesignedCondition) else item.to_attribute


@warning("create-outside-rule")
def creates_hold_to_the_rule(subject: EndpointSubject) -> Found:
    if subject.definition.settings.creates_outside_row_rule and any(_made(subject)):
        yield (
            _(
                "It may create records outside the row rule, which its caller cannot read afterwards. Switch "
                "“May create outside its rule” off, so that such calls are refused."
            ),
            _SETTING,
        )


@blocking("create-never-inside")
def creates_can_hold_to_the_rule(subject: EndpointSubject) -> Found:
    for made in _judged(subject):
        whole = made.outcome(DesignedFilter(made.filters))
        for attribute in made.attributes_of(whole) if whole is not Outcome.POSSIBLE else ():
            sentence = (
                _(
                    "Every call would be refused: the row rule wants a value of “%(attribute)s”, which "
                    "nothing sets. Bind “%(attribute)s”.",
                    attribute=attribute,
                )
                if whole is Outcome.NEVER
                else _(
                    "Every call would be refused: what the row rule says of “%(attribute)s” is known only "
                    "when the record is there. Bind “%(attribute)s”, change the rule, or switch “May create "
                    "outside its rule” on.",
                    attribute=attribute,
                )
            )
            yield sentence, made.place


@warning("create-undecidable")
def creates_are_decided_beforehand(subject: EndpointSubject) -> Found:
    for made in _judged(subject):
        if made.outcome(DesignedFilter(made.filters)) is Outcome.POSSIBLE:
            for attribute in made.attributes_of(Outcome.UNDECIDABLE):
                yield (
                    _(
                        "What the row rule says of “%(attribute)s” is known only when the record is there. A "
                        "call that depends on it is refused.",
                        attribute=attribute,
                    ),
                    made.place,
                )


def _judged(subject: EndpointSubject) -> Iterator[_Made]:
    """What has to be inside of its rule."""
    if not subject.definition.settings.creates_outside_row_rule:
        yield from _made(subject)


def _made(subject: EndpointSubject) -> Iterator[_Made]:
    """What the endpoint creates that is under a rule."""
    exposed = subject.endpoint.entity
    conventions = subject.metadata.conventions
    if subject.definition.settings.creates_records and exposed is not None:
        own = [*_alternatives([exposed])]
        if subject.definition.row_rule is not None:
            own.append(subject.definition.row_rule)
        if own:
            given = {binding.attribute for binding in subject.bindings} | subject.set_by_path
            attributes, system = subject.metadata.attributes(exposed.entity), conventions.of(exposed.entity)
            yield _Made(tuple(own), attributes, system, given, "bindings")
    offered = subject.definition.settings.record_groups(subject.entity, subject.metadata)
    for known in subject.inputs:
        group = offered.get(known.relationship) if holds_records(known.type) else None
        if group is None:
            continue
        exposures = (one for one in subject.endpoint.exposures if one.entity == group.entity)
        rules = tuple(_alternatives(exposures))
        if rules:
            given = {binding.attribute for binding in known.bindings} | {group.parent}
            attributes, system = subject.metadata.attributes(group.entity), conventions.of(group.entity)
            yield _Made(rules, attributes, system, given, f"inputs.{known.name}.bindings")


def _alternatives(exposures: Iterable[ExposedEntityDefinition]) -> Iterator[DesignedFilter]:
    """Each rule as one filter: a caller may have the roles of any of its entries."""
    for exposed in exposures:
        # Where all records are meant, every record is inside: an empty group holds.
        filters = tuple(entry.filter or DesignedFilter() for entry in exposed.row_rule)
        if filters:
            yield filters[0] if len(filters) == 1 else DesignedFilter(filters, any=True)
