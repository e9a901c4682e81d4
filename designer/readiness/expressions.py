"""What is wrong with an expression at its place, given samples of all that it sees there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from designer.expressions import Expression, ExpressionError
from designer.expressions.errors import mistake_at
from designer.expressions.members import reads
from designer.expressions.nearest import did_you_mean
from designer.readiness.samples import UNKNOWN, Sample
from designer.sentences import Sentence as _

_MOST_NAMED = 15


def faults(text: str, seen: Mapping[str, Sample]) -> Iterator[str]:
    """Why it cannot work: a mistake in it, or a name or field that there is not."""
    try:
        expression = Expression(text, seen)
    except ExpressionError as error:
        yield str(error)
        return
    for name in sorted(expression.references):
        for path, offset in reads(text, name):
            if missing := _missing(path, name, seen[name]):
                yield str(mistake_at(text, offset, missing))


def clash(text: str, seen: Mapping[str, Sample]) -> str:
    """How kinds of values do not fit together in it, tried with samples; empty where they do.

    Only what it does with the samples is tried: one branch of a condition, say.
    """
    try:
        expression = Expression(text, seen)
        read = {name: seen[name] for name in expression.references}
        if any(_is_unknown(path, read[name]) for name in read for path, _offset in reads(text, name)):
            return ""
        expression.evaluate({name: _known(sample) for name, sample in read.items()})
    except ExpressionError as error:
        return str(error) if isinstance(error.__cause__, TypeError) else ""
    return ""


def outcome(text: str, seen: Mapping[str, Sample]) -> Sample:
    """What it gives for the samples; UNKNOWN where that is not known, or it has no value for them."""
    try:
        expression = Expression(text, seen)
        read = {name: seen[name] for name in expression.references}
        if any(_is_unknown(path, read[name]) for name in read for path, _offset in reads(text, name)):
            return UNKNOWN
        return expression.evaluate({name: _known(sample) for name, sample in read.items()})
    except ExpressionError:
        return UNKNOWN


def path_of(text: str, seen: Mapping[str, Sample]) -> tuple[str, ...] | None:
    """What an expression names that is nothing but a name with fields; None for any other."""
    try:
        return Expression(text, seen).path
    except ExpressionError:
        return None


def fixed(text: str, seen: Mapping[str, Sample]) -> Sample:
    """What an expression gives that always gives the same; UNKNOWN for any other.

    Raises ExpressionError where it never has a value.
    """
    try:
        expression = Expression(text, seen)
    except ExpressionError:
        return UNKNOWN
    return expression.evaluate({}) if expression.is_fixed else UNKNOWN


def _missing(path: tuple[str, ...], name: str, known: Sample) -> str:
    at = name
    for field in path:
        if not isinstance(known, dict):
            return ""
        if field not in known:
            there = ", ".join(sorted(known)[:_MOST_NAMED]) or _("none")
            more = (
                _(" and %(count)s more", count=len(known) - _MOST_NAMED) if len(known) > _MOST_NAMED else ""
            )
            return _(
                "There is no %(name)s; there are: %(there)s%(more)s.%(hint)s",
                name=f"{at}.{field}",
                there=there,
                more=more,
                hint=did_you_mean(field, known),
            )
        at, known = f"{at}.{field}", known[field]
    return ""


def _is_unknown(path: tuple[str, ...], known: Sample) -> bool:
    for field in path:
        known = known.get(field) if isinstance(known, dict) else known
    return known is UNKNOWN


def _known(sample: Sample) -> Sample:
    if not isinstance(sample, dict):
        return sample
    return {name: _known(inner) for name, inner in sample.items() if inner is not UNKNOWN}
