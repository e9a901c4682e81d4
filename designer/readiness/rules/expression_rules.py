"""Expressions of endpoints, wherever they stand: what they see there, and whether they can work with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from crmclient.metadata import Attribute
from designer.definitions import BindingDefinition
from designer.kinds import Section
from designer.readiness.expressions import clash, faults
from designer.readiness.registry import Found, blocking, warning
from designer.readiness.samples import Sample, of_endpoint
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
    yield from _faults(_bindings(subject))


@blocking("precondition-expression")
def preconditions_can_be_evaluated(subject: EndpointSubject) -> Found:
    yield from _faults(_preconditions(subject))


@blocking("column-expression")
def columns_can_be_calculated(subject: EndpointSubject) -> Found:
    yield from _faults(_columns(subject))


@warning("expression-kinds")
def kinds_of_values_fit_together(subject: EndpointSubject) -> Found:
    for written in expressions_of(subject):
        if reason := clash(written.text, written.seen):
            yield _("%(what)s: %(reason)s", what=written.what, reason=reason), written.field


def expressions_of(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    """Yield every expression of the endpoint."""
    yield from _bindings(subject)
    yield from _preconditions(subject)
    yield from _columns(subject)


def _faults(expressions: Iterator[PlacedExpression]) -> Found:
    for written in expressions:
        for fault in faults(written.text, written.seen):
            yield _("%(what)s: %(fault)s", what=written.what, fault=fault), written.field


def _bindings(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    # Samples of a record with many attributes take longer to make than all the rest, and few endpoints have
    # expressions.
    if calculated := _calculated(subject.bindings):
        samples = of_endpoint(subject, subject.inputs, _record(subject))
        for binding in calculated:
            label = _("The expression for “%(attribute)s”", attribute=binding.attribute)
            yield PlacedExpression(
                label, f"bindings.{binding.attribute}.value", str(binding.value or ""), samples
            )
    for parent in subject.inputs:
        if calculated_in_list := _calculated(parent.bindings):
            samples = of_endpoint(subject, parent.inputs, None)
            for binding in calculated_in_list:
                place = f"inputs.{parent.name}.bindings.{binding.attribute}.value"
                label = _(
                    "The expression for “%(attribute)s” in “%(list)s”",
                    attribute=binding.attribute,
                    list=parent.name,
                )
                yield PlacedExpression(label, place, str(binding.value or ""), samples)


def _calculated(bindings: Iterable[BindingDefinition]) -> list[BindingDefinition]:
    return [binding for binding in bindings if binding.source == "expression"]


def _preconditions(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    preconditions = subject.definition.preconditions
    if Section.PRECONDITIONS not in subject.endpoint.kind.sections or not preconditions:
        return
    samples = of_endpoint(subject, subject.inputs, _record(subject))
    for position, precondition in enumerate(preconditions):
        yield PlacedExpression(
            _("Pre-condition %(number)s", number=position + 1),
            f"preconditions.{position}.expression",
            precondition.expression,
            samples,
        )


def _columns(subject: EndpointSubject) -> Iterator[PlacedExpression]:
    calculated = [column for column in subject.columns if column.expression]
    if not calculated:
        return
    row = subject.vocabulary.read if subject.vocabulary else {}
    samples = of_endpoint(subject, subject.inputs, row)
    for column in calculated:
        label = _("The expression of “%(name)s”", name=column.name)
        yield PlacedExpression(label, f"columns.{column.name}.expression", column.expression, samples)


def _record(subject: EndpointSubject) -> Mapping[str, Attribute] | None:
    """Return the attributes of the record in the path; None where the path has no record."""
    return subject.metadata.attributes(subject.entity) if subject.endpoint.kind.is_on_record else None
