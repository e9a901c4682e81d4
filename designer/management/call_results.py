"""The results of example calls, as commands write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from designer.example_calls.running import CallResult


def counted(results: Sequence[CallResult]) -> str:
    """`Example calls: 12 made, 1 failed.`"""
    failed = sum(result.failed for result in results)
    return f"Example calls: {len(results)} made, {failed} failed."


def failures(results: Sequence[CallResult]) -> Iterator[str]:
    """A line for each problem."""
    for result in results:
        yield from (f"  {result.endpoint}, {result.name}: {problem}" for problem in result.problems)
