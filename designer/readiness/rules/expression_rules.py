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


class Written(NamedTuple):
    """An expression: what it is of, in words; its place in the definition; and what it sees."""

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


def expressions_of(subject: EndpointSubject) -> Iterator[Written]:
    """Every expression of the endpoint."""
    yield from _bindings(subject)
    yield from _preconditions(subject)
    yield from _columns(subject)


def _faults(expressions: Iterator[Written]) -> Found:
    for written in expressions:
        for fault in faults(written.text, written.seen):
            yield _("%(what)s: %(fault)s", what=written.what, fault=fault), written.field


def _bindings(subject: EndpointSubject) -> Iterator[Written]:
    # What is seen of a record of many attributes takes longer to say than all the rest, and few endpoints
    # have expressions.
    if own := _calculated(subject.bindings):
        seen = of_endpoint(subject, subject.inputs, _record(subject))
        for binding in own:
            what = _("The expression for “%(attribute)s”", attribute=binding.attribute)
            yield Written(what, f"bindings.{binding.attribute}.value", str(binding.value or ""), seen)
    for parent in subject.inputs:
        if of_list := _calculated(parent.bindings):
            seen = of_endpoint(subject, parent.inputs, None)
            for binding in of_list:
                place = f"inputs.{parent.name}.bindings.{binding.attribute}.value"
                what = _(
                    "The expression for “%(attribute)s” in “%(list)s”",
                    attribute=binding.attribute,
                    list=parent.name,
                )
                yield Written(what, place, str(binding.value or ""), seen)


def _calculated(bindings: Iterable[BindingDefinition]) -> list[BindingDefinition]:
    return [known for known in bindings if known.source == "expression"]


def _preconditions(subject: EndpointSubject) -> Iterator[Written]:
    preconditions = subject.definition.preconditions
    if Section.PRECONDITIONS not in subject.endpoint.kind.sections or not preconditions:
        return
    seen = of_endpoint(subject, subject.inputs, _record(subject))
    for at, known in enumerate(preconditions):
        yield Written(
            _("Pre-condition %(number)s", number=at + 1),
            f"preconditions.{at}.expression",
            known.expression,
            seen,
        )


def _columns(subject: EndpointSubject) -> Iterator[Written]:
    calculated = [column for column in subject.columns if column.expression]
    if not calculated:
        return
    row = subject.vocabulary.read if subject.vocabulary else {}
    seen = of_endpoint(subject, subject.inputs, row)
    for column in calculated:
        what = _("The expression of “%(name)s”", name=column.name)
        yield Written(what, f"columns.{column.name}.expression", column.expression, seen)


def _record(subject: EndpointSubject) -> Mapping[str, Attribute] | None:
    """The attributes of the path's record; None where there is no record."""
    return subject.metadata.attributes(subject.entity) if subject.endpoint.kind.is_on_record else None
