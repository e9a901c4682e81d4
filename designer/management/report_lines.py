"""What reports say, as lines that commands write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from designer.endpoint_calls import DAYS
from designer.example_calls.running import CallResult
from designer.history.effects import Effect
from designer.import_report import ImportReport


def counted(results: Sequence[CallResult]) -> str:
    """`Example calls: 12 made, 1 failed.`"""
    failed = sum(result.failed for result in results)
    return f"Example calls: {len(results)} made, {failed} failed."


def failures(results: Sequence[CallResult]) -> Iterator[str]:
    """A line for each problem of an example call."""
    for result in results:
        yield from (f"  {result.endpoint}, {result.name}: {problem}" for problem in result.problems)


def effects(report: ImportReport) -> Iterator[str]:
    """What changes, by what it means to callers; additive changes are only counted."""
    for effect, told in report.by_effect.items():
        if effect is Effect.ADDITIVE:
            yield f"Additive: {len(told)}"
        else:
            yield f"{effect.value.capitalize()}:"
            yield from (f"  {what}: {line.text}" for what, line in told)


def affected(report: ImportReport) -> Iterator[str]:
    """A line for each endpoint that may answer otherwise."""
    if report.affected:
        yield f"Callers affected (calls of the last {DAYS} days):"
    for known in report.affected:
        last = f", the last on {known.last_at:%Y-%m-%d}" if known.last_at else ""
        yield f"  {known.endpoint}: {known.calls} calls{last} ({known.effect.value})"
