"""Expressions of endpoints, wherever they stand: what they see there, and whether they can work with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition
from designer.kinds import Section
from designer.readiness.expressions import clash, faults
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.samples import Sample, samples_for_endpoint
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


class PlacedExpression(NamedTuple):
    """An expression of the endpoint: what it is for, in words; its place; its text; and samples of what it
    sees.
    """

    what: str
    field: str
    text: str
    seen: Mapping[str, Sample]


@blocking("binding-expression")
def bindings_can_be_evaluated(subject: EndpointSubject) -> Found:
    """Find mistakes in the expressions of bindings."""
    yield from _findings_of_faults(_binding_expressions(subject))


@blocking("precondition-expression")
def preconditions_can_be_evaluated(subject: EndpointSubject) -> Found:
    """Find mistakes in the expressions of pre-conditions."""
    yield from _findings_of_faults(_precondition_expressions(subject))


@blocking("column-expression")
def columns_can_be_calculated(subject: EndpointSubject) -> Found:
    """Find mistakes in the expressions of calculated columns."""
    yield from _findings_of_faults(_column_expressions(subject))


@warning("expression-kinds")
def kinds_of_values_fit_together(subject: EndpointSubject) -> Found:
    """Find expressions that combine values of different types, such as a text and a date."""
    for expression in expressions_of(subject):
        if reason := clash(expression.text, expression.seen):
            yield _("%(what)s: %(reason)s", what=expression.what, reason=reason), expression.field


def expressions_of(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    """Yield every expression of the endpoint."""
    yield from _binding_expressions(subject)
    yield from _precondition_expressions(subject)
    yield from _column_expressions(subject)


def _findings_of_faults(expressions: Iterator[PlacedExpression]) -> Found:
    """Yield a finding for each reason why one of the expressions cannot work."""
    for expression in expressions:
        for fault in faults(expression.text, expression.seen):
            yield _("%(what)s: %(fault)s", what=expression.what, fault=fault), expression.field


def _binding_expressions(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    """Yield the expressions of bindings: those of the endpoint, and those of each list, which read the inputs
    of one item.
    """
    # Samples of a record with many attributes take longer to make than all the rest, and few endpoints have
    # expressions.
    if calculated := _calculated_bindings(subject.bindings):
        samples = samples_for_endpoint(subject, subject.inputs, _attributes_of_path_record(subject))
        for binding in calculated:
            label = _("The expression for “%(attribute)s”", attribute=binding.attribute)
            yield PlacedExpression(
                label, f"bindings.{binding.attribute}.value", str(binding.value or ""), samples
            )
    for parent in subject.inputs:
        if calculated_in_list := _calculated_bindings(parent.bindings):
            samples = samples_for_endpoint(subject, parent.inputs, None)
            for binding in calculated_in_list:
                place = f"inputs.{parent.name}.bindings.{binding.attribute}.value"
                label = _(
                    "The expression for “%(attribute)s” in “%(list)s”",
                    attribute=binding.attribute,
                    list=parent.name,
                )
                yield PlacedExpression(label, place, str(binding.value or ""), samples)


def _calculated_bindings(bindings: Iterable[BindingDefinition]) -> list[BindingDefinition]:
    """Return the bindings that take the result of an expression."""
    return [binding for binding in bindings if binding.source == "expression"]


def _precondition_expressions(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    """Yield the expressions of pre-conditions, where the kind of the endpoint has any."""
    preconditions = subject.definition.preconditions
    if Section.PRECONDITIONS not in subject.endpoint.kind.sections or not preconditions:
        return
    samples = samples_for_endpoint(subject, subject.inputs, _attributes_of_path_record(subject))
    for position, precondition in enumerate(preconditions):
        yield PlacedExpression(
            _("Pre-condition %(number)s", number=position + 1),
            f"preconditions.{position}.expression",
            precondition.expression,
            samples,
        )


def _column_expressions(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    """Yield the expressions of calculated columns. Their `record` is the row that is answered."""
    calculated = [column for column in subject.columns if column.expression]
    if not calculated:
        return
    row = subject.vocabulary.read if subject.vocabulary else {}
    samples = samples_for_endpoint(subject, subject.inputs, row)
    for column in calculated:
        label = _("The expression of “%(name)s”", name=column.name)
        yield PlacedExpression(label, f"columns.{column.name}.expression", column.expression, samples)


def _attributes_of_path_record(subject: EndpointSubject) -> Mapping[str, Attribute] | None:
    """Return the attributes of the record in the path; None where the path has no record."""
    return subject.metadata.attributes(subject.entity) if subject.endpoint.kind.is_on_record else None
