"""The portal's scenes in words: a table of the contenders, and each goal with what was reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench.portal.judging import Figures
from bench.portal.play import Outcome, Played
from bench.portal.trace import KINDS
from bench.report import aligned

OURS = "ours, cached answers"
FACADE = "DRF facade"
MOST_OF_LEAST = 1.1
PART_OF_PERMITTED = 0.9
READERS_A_CALL = 50.0
MOST_REFUSED = 0.01
TIMES_THE_FACADE = 20.0


def told(figures: Mapping[str, Figures], limit: int, seconds: int) -> str:
    """`limit` is what the platform takes within the run, `seconds` the time of a cached answer."""
    heads = ["answered/s", "before", "during", "calls", "a call", "readers' a call", "refused", "wrong"]
    heads += ["oldest s", "late s", "context s", "p50 ms", "p99 ms", "CPU µs", "load CPU"]
    rows = [["", *heads]]
    for title, each in figures.items():
        row = [title, f"{each.goodput:.1f}", f"{each.before:.0f}"]
        row += ["" if each.during is None else f"{each.during:.1f}", f"{each.all_calls:,}"]
        row += [f"{each.answers_a_call:.1f}", f"{each.reader_answers_a_call:,.0f}", f"{each.refused:,}"]
        row += [str(each.wrong), f"{each.oldest:.1f}", f"{each.oldest_late:.1f}"]
        row += [f"{each.oldest_context:.1f}", f"{each.p50:.1f}"]
        row += [f"{each.p99:.0f}", f"{each.processor:.0f}", f"{each.player:.0%}"]
        rows.append(row)
    lines = [f"A portal before a platform that takes {limit:,} requests in this time", *aligned(rows), ""]
    lines += [f"{title}: {_errors(each.errors)}" for title, each in figures.items()]
    if OURS in figures:
        lines += [*_calls(figures[OURS]), "", *_goals(figures[OURS], figures.get(FACADE), limit, seconds)]
    return "\n".join(lines)


def _calls(ours: Figures) -> Sequence[str]:
    by_subject = [
        f"{subject or 'metadata'} {count} ({ours.least.get(subject, 0)})"
        for subject, count in ours.calls.items()
    ]
    return [
        f"Calls of {OURS}, in brackets those that cannot be spared: {', '.join(by_subject)}",
        *(f"  {count:,} × {kind}" for kind, count in ours.kinds.items()),
    ]


def _goals(ours: Figures, facade: Figures | None, limit: int, seconds: int) -> Sequence[str]:
    of_least, of_permitted = ours.all_calls / max(1, ours.all_least), ours.answered / max(1, ours.permitted)
    over = ours.refused / limit
    goals = [
        f"{_mark(of_least <= MOST_OF_LEAST)} {ours.all_calls:,} platform calls where {ours.all_least:,} "
        f"cannot be spared: {of_least:.2f}, goal at most {MOST_OF_LEAST}",
        f"{_mark(of_permitted >= PART_OF_PERMITTED)} {ours.answered:,} answers where the budget permits "
        f"{ours.permitted:,}: {of_permitted:.2f}, goal at least {PART_OF_PERMITTED}",
        f"{_mark(ours.reader_answers_a_call >= READERS_A_CALL)} {ours.reader_answers_a_call:,.0f} answers of "
        f"readers for each of their calls, goal at least {READERS_A_CALL:g}",
        f"{_mark(over <= MOST_REFUSED)} {ours.refused} requests more than the platform takes: {over:.2%}, "
        f"goal at most {MOST_REFUSED:.0%}",
        f"{_mark(ours.oldest <= seconds and not ours.wrong)} the oldest answer was {ours.oldest:.1f} s old, "
        f"where {seconds} s are set; {ours.wrong} showed a state before an own write",
    ]
    if facade is not None:
        times = ours.goodput / max(0.001, facade.goodput)
        goals.append(
            f"{_mark(times >= TIMES_THE_FACADE)} {times:.1f} times the answers of the facade, goal at least "
            f"{TIMES_THE_FACADE:g}"
        )
    return goals


def away_told(
    played: Played, failed: Sequence[Outcome], begin: float, end: float
) -> tuple[str, dict[str, Any]]:
    """In words, and as figures: what was answered from `begin` to `end`, while the platform was away."""
    meanwhile = [each for each in played.outcomes if begin <= each.sent < end]
    answered: Counter[str] = Counter(each.step.letter for each in meanwhile if each.is_answered)
    asked: Counter[str] = Counter(each.step.letter for each in meanwhile)
    errors = Counter(f"{each.status} {each.code}".strip() for each in meanwhile if not each.is_answered)
    kinds = ", ".join(
        f"{KINDS[letter].title} {answered[letter]} of {count}" for letter, count in asked.most_common()
    )
    lines = [
        f"The platform away for {end - begin:g} s: {sum(answered.values()):,} of {len(meanwhile):,} requests "
        f"answered ({kinds})",
        f"Errors: {_errors(errors)}",
        f"{_mark(not failed)} {len(failed)} failed although their answer was cached, goal none",
    ]
    lines += [f"  {each.step} at {each.sent:.1f} s: {each.status} {each.code}" for each in failed[:10]]
    results = {
        "asked": len(meanwhile),
        "answered": sum(answered.values()),
        "errors": dict(errors),
        "failed though cached": len(failed),
    }
    return "\n".join(lines), results


def _errors(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} × {what}" for what, count in errors.items()) or "no errors"


def _mark(is_reached: bool) -> str:
    return "✓" if is_reached else "✗"
