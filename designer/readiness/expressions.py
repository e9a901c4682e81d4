"""What is wrong with an expression at its place, given samples of all that it sees there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from designer.expressions import Expression, ExpressionError
from designer.expressions.errors import mistake_at
from designer.expressions.members import reads_of_name
from designer.expressions.nearest import did_you_mean
from designer.readiness.samples import UNKNOWN, Sample
from designer.sentences import Sentence as _

# A message names this many of the fields that exist.
_MOST_NAMED = 15


def faults(text: str, samples: Mapping[str, Sample]) -> Iterator[str]:
    """Yield a sentence for each reason why the expression `text` cannot work.

    It has a mistake, or reads a name or field that does not exist. `samples`: a sample of each value that the
    expression may read, by name.
    """
    try:
        expression = Expression(text, samples)
    except ExpressionError as error:
        yield str(error)
        return
    for name in sorted(expression.references):
        for path, offset in reads_of_name(text, name):
            if missing := _sentence_on_missing_field(path, name, samples[name]):
                yield str(mistake_at(text, offset, missing))


def clash(text: str, samples: Mapping[str, Sample]) -> str:
    """Return which types of values do not fit together in the expression `text`; empty when all fit.

    The expression is evaluated with the samples `samples`, so that only one branch of a condition is tried.
    """
    try:
        expression = Expression(text, samples)
        samples_read = {name: samples[name] for name in expression.references}
        # What is not known may fit.
        if _reads_unknown(text, samples_read):
            return ""
        expression.evaluate({name: _without_unknown(sample) for name, sample in samples_read.items()})
    except ExpressionError as error:
        # Other errors may be due to the samples, such as a text that is no date.
        return str(error) if isinstance(error.__cause__, TypeError) else ""
    return ""


def result_for_samples(text: str, samples: Mapping[str, Sample]) -> Sample:
    """Return the result of the expression `text` for the samples `samples`.

    UNKNOWN when it reads a value without a sample, or fails for these samples.
    """
    try:
        expression = Expression(text, samples)
        samples_read = {name: samples[name] for name in expression.references}
        if _reads_unknown(text, samples_read):
            return UNKNOWN
        return expression.evaluate({name: _without_unknown(sample) for name, sample in samples_read.items()})
    except ExpressionError:
        return UNKNOWN


def path_of(text: str, samples: Mapping[str, Sample]) -> tuple[str, ...] | None:
    """Return the path that the expression reads, if it is a plain path such as `record.name`; else None."""
    try:
        return Expression(text, samples).path
    except ExpressionError:
        return None


def constant_result(text: str, samples: Mapping[str, Sample]) -> Sample:
    """Return the result of an expression that reads no names; UNKNOWN for any other expression.

    Raises ExpressionError when the evaluation fails.
    """
    try:
        expression = Expression(text, samples)
    except ExpressionError:
        return UNKNOWN
    return expression.evaluate({}) if expression.is_fixed else UNKNOWN


def _sentence_on_missing_field(path: tuple[str, ...], name: str, sample: Sample) -> str:
    """Return a sentence about the first field of `path` that the sample called `name` lacks, or an empty
    text.
    """
    parent = name
    for field in path:
        if not isinstance(sample, dict):
            return ""
        if field not in sample:
            present = ", ".join(sorted(sample)[:_MOST_NAMED]) or _("none")
            more = (
                _(" and %(count)s more", count=len(sample) - _MOST_NAMED) if len(sample) > _MOST_NAMED else ""
            )
            return _(
                "There is no %(name)s; there are: %(there)s%(more)s.%(hint)s",
                name=f"{parent}.{field}",
                there=present,
                more=more,
                hint=did_you_mean(field, sample),
            )
        parent, sample = f"{parent}.{field}", sample[field]
    return ""


def _reads_unknown(text: str, samples: Mapping[str, Sample]) -> bool:
    """Whether the expression `text` reads an unknown value. `samples` are those of the names that it uses."""
    return any(
        _is_unknown(path, sample)
        for name, sample in samples.items()
        for path, _offset in reads_of_name(text, name)
    )


def _is_unknown(path: tuple[str, ...], sample: Sample) -> bool:
    """Whether `path`, which an expression reads in `sample`, ends at UNKNOWN. Fields of a value that is no
    object are ignored.
    """
    for field in path:
        sample = sample.get(field) if isinstance(sample, dict) else sample
    return sample is UNKNOWN


def _without_unknown(sample: Sample) -> Sample:
    """Return the sample without its unknown fields, at any depth."""
    if not isinstance(sample, dict):
        return sample
    return {name: _without_unknown(inner) for name, inner in sample.items() if inner is not UNKNOWN}
