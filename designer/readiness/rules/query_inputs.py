"""Inputs of queries: parameters in a query string, each compared with attributes."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query.ast import Operator
from crmclient.query.designed import WHOLE_DAYS, DateOperator
from crmclient.query.families import FAMILY, Family
from crmclient.query.shape import LISTS
from designer.definitions import InputDefinition
from designer.names import RESERVED_PARAMETERS
from designer.query_parameters import Use, parameters_of
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

_PATTERNS = frozenset(
    {
        *(Operator.LIKE, Operator.NOT_LIKE, Operator.CONTAINS),
        *(Operator.BEGINS_WITH, Operator.NOT_BEGINS_WITH),
        *(Operator.ENDS_WITH, Operator.NOT_ENDS_WITH),
    }
)
_TEXTS = ("String", "Text")
_BY_FAMILY: dict[Family, tuple[str, ...]] = {
    Family.TEXT: _TEXTS,
    Family.BOOLEAN: ("Boolean",),
    Family.GUID: ("Guid", "EntityReference"),
    Family.REFERENCE: ("EntityReference", "Guid"),
    Family.CHOICE: ("OptionSet", "Integer"),
    Family.CHOICES: ("MultiOptionSet",),
}
_NUMBERS: dict[AttributeType, tuple[str, ...]] = {
    AttributeType.INTEGER: ("Integer", "BigInt"),
    AttributeType.BIGINT: ("BigInt", "Integer"),
    AttributeType.DECIMAL: ("Decimal", "Money", "Integer", "BigInt"),
    AttributeType.MONEY: ("Money", "Decimal", "Integer", "BigInt"),
    AttributeType.DOUBLE: ("Double", "Integer"),
}
_NO_PARAMETERS = frozenset({"List", "File"})


@blocking("query-input-name")
def names_are_free(subject: EndpointSubject) -> Found:
    for known in _inputs(subject):
        if known.name.lower() in RESERVED_PARAMETERS:
            yield (
                _("“%(name)s” is every query's own parameter: take another name.", name=known.name),
                _at(known, "name"),
            )


@blocking("query-input-type")
def types_fit_the_conditions(subject: EndpointSubject) -> Found:
    uses = parameters_of(subject.definition)
    for known in _inputs(subject):
        if known.type in _NO_PARAMETERS:
            yield (
                _("“%(name)s”: a query string holds no %(type)s.", name=known.name, type=known.type),
                _at(known, "type"),
            )
            continue
        for use in uses.get(known.name, ()):
            attribute = subject.metadata.attributes(use.entity).get(use.attribute)
            wanted = _wanted(use, attribute)
            if wanted and known.type not in wanted:
                yield (
                    _(
                        "“%(attribute)s” %(operator)s @%(name)s takes %(wanted)s; the input is %(type)s.",
                        attribute=use.attribute,
                        operator=use.operator.value,
                        name=known.name,
                        wanted=wanted[0],
                        type=known.type,
                    ),
                    _at(known, "type"),
                )


@blocking("query-input-list")
def lists_are_lists_everywhere(subject: EndpointSubject) -> Found:
    uses = parameters_of(subject.definition)
    for known in _inputs(subject):
        several = {use.operator in LISTS for use in uses.get(known.name, ())}
        if len(several) > 1:
            yield (
                _(
                    "@%(name)s stands for several values in one condition and for one in "
                    "another: make two inputs of it.",
                    name=known.name,
                ),
                _at(known, "name"),
            )


def _wanted(use: Use, attribute: Attribute | None) -> tuple[str, ...]:
    """The types of input that fit a condition, the best first; none where that is not known."""
    if isinstance(use.operator, DateOperator):
        return ("Date", "DateTime") if use.operator in WHOLE_DAYS else ("Integer",)
    if attribute is None:
        return ()
    if use.operator in _PATTERNS:
        return _TEXTS
    family = FAMILY[attribute.type]
    if family is Family.NUMBER:
        return _NUMBERS[attribute.type]
    if family is Family.TIME:
        return _times(use, attribute)
    if use.operator in LISTS and family in (Family.CHOICE, Family.CHOICES):
        return ("OptionSet", "MultiOptionSet", "Integer")
    return _BY_FAMILY.get(family, ())


def _times(use: Use, attribute: Attribute) -> tuple[str, ...]:
    if attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return ("Date",)
    exact = use.operator in {Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN}
    return ("DateTime",) if exact else ("DateTime", "Date")


def _inputs(subject: EndpointSubject) -> Iterator[InputDefinition]:
    if subject.definition.settings.asks_query:
        yield from subject.inputs


def _at(known: InputDefinition, field: str) -> str:
    return f"inputs.{known.name}.{field}"
