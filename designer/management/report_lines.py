"""Reports as lines that commands write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from designer.endpoint_calls import DAYS
from designer.example_calls.call_runs import CallResult
from designer.history.effects import Effect
from designer.history.taken_back_changes import TakenBack
from designer.imports.import_report import ImportReport


def count_in_words(results: Sequence[CallResult]) -> str:
    """Return the number of example calls in words: `Example calls: 12 made, 1 failed.`"""
    failed = sum(result.failed for result in results)
    return f"Example calls: {len(results)} made, {failed} failed."


def failure_lines(results: Sequence[CallResult]) -> Iterator[str]:
    """Yield a line for each problem of an example call."""
    for result in results:
        yield from (f"  {result.endpoint}, {result.name}: {problem}" for problem in result.problems)


def effect_lines(report: ImportReport) -> Iterator[str]:
    """Yield lines with the changes, grouped by their effect on callers; additive changes are only counted."""
    for effect, lines in report.by_effect.items():
        if effect is Effect.ADDITIVE:
            yield f"Additive: {len(lines)}"
        else:
            yield f"{effect.value.capitalize()}:"
            yield from (f"  {heading}: {line.text}" for heading, line in lines)


def affected_lines(report: ImportReport) -> Iterator[str]:
    """Yield a line for each endpoint that may answer otherwise, after a headline."""
    if report.affected:
        yield f"Callers affected (calls of the last {DAYS} days):"
    for affected in report.affected:
        last = f", the last on {affected.last_at:%Y-%m-%d}" if affected.last_at else ""
        yield f"  {affected.endpoint}: {affected.calls} calls{last} ({affected.effect.value})"


def taken_back_lines(report: ImportReport) -> Iterator[str]:
    """Yield a line for each recorded change that the plan undoes, after a headline."""
    if report.taken_back:
        yield "Takes back what was changed here before:"
        yield from _lines_of_later_changes(report.taken_back)


def kept_lines(report: ImportReport) -> Iterator[str]:
    """Yield a line for each recorded change that stays, as its item is left as it is, after a headline."""
    if report.kept:
        yield "Leaves as they are, with what was changed here before:"
        yield from _lines_of_later_changes(report.kept)


def _lines_of_later_changes(undone_changes: Sequence[TakenBack]) -> Iterator[str]:
    """Yield a line for each change: its version, time, account, item and what it was."""
    for undone in undone_changes:
        version, account = undone.version, undone.version.account
        who = f" by {account}" if account else ""
        texts = "; ".join(line.text for line in undone.lines)
        yield f"  #{version.pk} of {version.made_at:%Y-%m-%d %H:%M}{who}, {undone.what}: {texts}"
