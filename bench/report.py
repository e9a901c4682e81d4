"""From measurements to medians, ratios, a table and JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.contenders import Contender
from bench.load import Measurement
from bench.scenarios import Scenario


@dataclass(frozen=True, slots=True)
class Round:
    """One contender's part of one round: requests a second, milliseconds, CPU microseconds a request, and the
    most memory in megabytes."""

    rate: float
    p50: float
    p99: float
    processor: float
    memory: float

    @classmethod
    def of(cls, measurement: Measurement, processor_seconds: float, memory: float) -> Round:
        latencies = sorted(measurement.latencies)
        count = len(latencies)
        return cls(
            rate=count / measurement.seconds,
            p50=latencies[count // 2] * 1000,
            p99=latencies[min(count - 1, count * 99 // 100)] * 1000,
            processor=processor_seconds / count * 1_000_000,
            memory=memory,
        )


@dataclass(frozen=True, slots=True)
class Line:
    contender: Contender
    rounds: list[Round]

    def median(self, figure: str) -> float:
        return float(statistics.median(getattr(each, figure) for each in self.rounds))

    def rates(self) -> list[float]:
        return [each.rate for each in self.rounds]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Requests a second, ours to another's, round by round.

    `by_processor` is what the same would be if only processor time counted: less moved by what else runs.
    """

    median: float
    least: float
    most: float
    by_processor: float
    goal: float | None

    @classmethod
    def of(cls, ours: Line, other: Line, goal: float | None) -> Ratio:
        each = [mine / theirs for mine, theirs in zip(ours.rates(), other.rates(), strict=True)]
        by_processor = other.median("processor") / ours.median("processor")
        return cls(statistics.median(each), min(each), max(each), by_processor, goal)

    def __str__(self) -> str:
        verdict = "" if self.goal is None else " ✓" if self.median >= self.goal else " ✗"
        return f"{self.median:.2f} ({self.by_processor:.2f}){verdict}"


def table(scenario: Scenario, lines: Sequence[Line]) -> str:
    """Plain text: a line a contender, a column of ratios for each of ours (by processor time in brackets)."""
    ours = [line for line in lines if line.contender.is_ours]
    heads = ["requests/s", "least–most", "p50 ms", "p99 ms", "CPU µs", "MB"]
    heads += [f"{line.contender.title.partition(', ')[2]} / it" for line in ours]
    rows = [["", *heads, "goal"]]
    for line in lines:
        rates = line.rates()
        row = [line.contender.title, f"{line.median('rate'):,.0f}", f"{min(rates):,.0f}–{max(rates):,.0f}"]
        row += [f"{line.median('p50'):.2f}", f"{line.median('p99'):.2f}", f"{line.median('processor'):.0f}"]
        row.append(f"{line.median('memory'):.0f}")
        if not line.contender.is_ours and not line.contender.is_bare:
            goal = scenario.goals.get(line.contender.application)
            row += [str(Ratio.of(mine, line, goal)) for mine in ours]
            row.append("" if goal is None else f"≥ {goal:g}")
        rows.append(row)
    return "\n".join([scenario.title, *aligned(rows)])


def aligned(rows: list[list[str]]) -> Iterable[str]:
    """Lines with equally wide columns; all but the first are to the right."""
    full = [row + [""] * (len(rows[0]) - len(row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    for first, *others in full:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def as_json(scenario: Scenario, lines: Sequence[Line]) -> dict[str, Any]:
    ours = [line for line in lines if line.contender.is_ours]
    others = [line for line in lines if not line.contender.is_ours and not line.contender.is_bare]
    return {
        "title": scenario.title,
        "contenders": {
            line.contender.key: {
                "title": line.contender.title,
                "median": {
                    figure: line.median(figure) for figure in ("rate", "p50", "p99", "processor", "memory")
                },
                "rounds": [asdict(each) for each in line.rounds],
            }
            for line in lines
        },
        "ratios": {
            f"{mine.contender.key}/{other.contender.key}": asdict(
                Ratio.of(mine, other, scenario.goals.get(other.contender.application))
            )
            for mine in ours
            for other in others
        },
    }
