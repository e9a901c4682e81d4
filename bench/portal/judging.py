"""What a run is judged by: the least possible number of platform calls, and what the budget permits.

A call of the platform serves all requests of its key until its time is over or a write to its entity has
been acknowledged: the least possible number is one for each such period, and the calls of each write. Who
calls is a key, too, of one minute; the context is answered by it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bench.portal.play import Outcome, Played
from bench.portal.trace import KINDS, Step

CALLER_SECONDS = 60.0
READERS = "LAO"
"""The kinds of those who are not signed in."""

READ_CALLS = ("knowledgearticle", "")
"""What the platform is asked about for them; without a name, metadata."""

SUBJECTS = {"caller": "contact", "F": "annotation"} | {
    letter: kind.subject for letter, kind in KINDS.items() if letter != "F"
}
CHANGE_CALLS = 2
"""A change under a row rule reads the record, to see whether the caller reaches it, and writes it."""

_CONTEXT, _CHANGE = "C", "U"
_CASES = "MNRF"
Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Period:
    """Calls of the platform that cannot be spared, most often one, and how many requests they serve."""

    key: Key
    began: float
    requests: int
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Figures:
    """One contender's run. Rates are answers a second; `least` is of what was answered, `permitted` the most
    answers that the budget permits of the whole trace. `before` and `during`: until the first refusal, and
    from then on; None where there was none. `calls` and `least` are by what the platform is asked about,
    `kinds` has the same calls by what they do.
    `oldest` is the age in seconds of the oldest answer within its time, `oldest_late` of one past it, and
    `oldest_context` of a caller's context, which has a time of its own.
    """

    sent: int
    answered: int
    goodput: float
    before: float
    during: float | None
    calls: Mapping[str, int]
    kinds: Mapping[str, int]
    refused: int
    least: Mapping[str, int]
    permitted: int
    reader_answers: int
    reader_calls: int
    errors: Mapping[str, int]
    oldest: float
    oldest_late: float
    oldest_context: float
    wrong: int
    p50: float
    p99: float
    player: float
    behind: float
    processor: float

    @property
    def all_calls(self) -> int:
        return sum(self.calls.values())

    @property
    def all_least(self) -> int:
        return sum(self.least.values())

    @property
    def answers_a_call(self) -> float:
        return self.answered / max(1, self.all_calls)

    @property
    def reader_answers_a_call(self) -> float:
        return self.reader_answers / max(1, self.reader_calls)


def figures(
    played: Played,
    counted: Mapping[str, Mapping[str, int]],
    *,
    seconds: int,
    limit: int,
    processor_seconds: float,
) -> Figures:
    """`counted` is the platform's, `seconds` the time of a cached answer, `limit` the requests permitted."""
    outcomes = played.outcomes
    answered = [each for each in outcomes if each.is_answered]
    errors = Counter(f"{each.status} {each.code}".strip() for each in outcomes if not each.is_answered)
    throttled = min((each.done for each in outcomes if each.status in (429, 503)), default=None)
    latencies = sorted(each.done - each.due for each in answered)
    admitted = counted["admitted"]
    ages: dict[str, float] = defaultdict(float)
    for each in answered:
        if each.asked is not None:
            which = "late" if each.is_late else "context" if each.step.letter == _CONTEXT else "in time"
            ages[which] = max(ages[which], each.sent - each.asked)
    return Figures(
        sent=len(outcomes),
        answered=len(answered),
        goodput=len(answered) / played.seconds,
        before=_rate(answered, 0.0, played.seconds if throttled is None else throttled),
        during=None if throttled is None else _rate(answered, throttled, played.seconds),
        calls=dict(admitted),
        kinds=dict(Counter(counted["kinds"]).most_common()),
        refused=sum(counted["refused"].values()),
        least=_least(answered, seconds),
        permitted=_permitted(outcomes, seconds, limit),
        reader_answers=sum(each.step.letter in READERS for each in answered),
        reader_calls=sum(admitted.get(subject, 0) for subject in READ_CALLS),
        errors=dict(errors.most_common()),
        oldest=ages["in time"],
        oldest_late=ages["late"],
        oldest_context=ages["context"],
        wrong=sum(each.is_wrong for each in answered),
        p50=latencies[len(latencies) // 2] * 1000,
        p99=latencies[len(latencies) * 99 // 100] * 1000,
        player=played.processor,
        behind=played.behind,
        processor=processor_seconds / len(outcomes) * 1_000_000,
    )


def periods(outcomes: Iterable[Outcome], seconds: float, *, as_planned: bool = False) -> list[Period]:
    """The calls that cannot be spared for these requests; `as_planned` had each been answered when due."""
    reads: dict[Key, list[tuple[float, float, bool]]] = defaultdict(list)
    spans, ends = [], []
    for each in outcomes:
        kind = KINDS[each.step.letter]
        sent, done = (each.due, each.due) if as_planned else (each.sent, each.done)
        if kind.is_signed_in:
            reads["caller", each.caller].append((sent, done, False))
        if kind.is_write:
            ends.append(done)
            calls = CHANGE_CALLS if kind.letter == _CHANGE else 1
            spans.append(Period((kind.letter,), sent, 1, calls))
        elif (key := _key(each.step, each.caller)) is not None:
            reads[key].append((sent, done, each.is_late))
    ends.sort()
    for key, moments in reads.items():
        lasts = CALLER_SECONDS if key[0] == "caller" else seconds
        spans += _periods(key, sorted(moments), lasts, ends if key[0] in _CASES else ())
    return spans


def _periods(
    key: Key, moments: Sequence[tuple[float, float, bool]], seconds: float, ends: Sequence[float]
) -> Iterable[Period]:
    asked, requests = None, 0
    for sent, done, is_late in moments:
        is_over = asked is None or bisect_right(ends, sent) > bisect_right(ends, asked)
        if is_over or (sent - (asked or 0.0) > seconds and not is_late):
            if asked is not None:
                yield Period(key, asked, requests)
            asked, requests = done, 0
        requests += 1
    if asked is not None:
        yield Period(key, asked, requests)


def _key(step: Step, caller: int) -> Key | None:
    """What is cached: None for what the platform need not be asked for of its own."""
    if step.letter in "OC":
        return None
    return step if step.letter in "LA" else (*step, caller)


def _least(answered: Iterable[Outcome], seconds: float) -> dict[str, int]:
    """The calls that cannot be spared, by what the platform is asked about."""
    calls: dict[str, int] = defaultdict(int)
    for period in periods(answered, seconds):
        calls[SUBJECTS[period.key[0]]] += period.calls
    return dict(calls)


def _permitted(outcomes: Sequence[Outcome], seconds: float, limit: int) -> int:
    """The most requests of the trace that so many calls can answer: the calls that serve most come first.

    Whose caller must be found out is not reckoned for their reads and writes, which would make it less.
    """
    free = sum(each.step.letter == "O" for each in outcomes)
    contexts: Counter[int] = Counter(each.caller for each in outcomes if each.step.letter == "C")
    served = [
        each.requests for each in periods(outcomes, seconds, as_planned=True) if each.key[0] != "caller"
    ]
    served += contexts.values()
    return free + sum(sorted(served, reverse=True)[:limit])


def _rate(answered: Iterable[Outcome], begin: float, end: float) -> float:
    return sum(begin <= each.done < end for each in answered) / max(end - begin, 0.001)


def refused_though_cached(
    played: Played, begin: float, end: float, seconds: float, stale: float
) -> list[Outcome]:
    """Requests between `begin` and `end`, while the platform was away, that failed although an answer was
    there which no write had ended and which could still be served."""
    latest: dict[Key, float] = {}
    ended = 0.0
    failed = []
    for each in sorted(played.outcomes, key=lambda outcome: outcome.done):
        kind = KINDS[each.step.letter]
        if kind.is_write:
            # Also where its outcome is not known, or it was refused on its way.
            ended = max(ended, each.done)
            continue
        is_context = each.step.letter == _CONTEXT
        key = (_CONTEXT, each.caller) if is_context else _key(each.step, each.caller)
        lasts = CALLER_SECONDS if is_context else seconds + stale
        is_meanwhile = begin <= each.sent < end and not each.is_answered
        if key is None:
            failed += [each] if is_meanwhile else []
        elif each.is_answered and each.asked is not None:
            latest[key] = max(latest.get(key, each.asked), each.asked)
        elif is_meanwhile and key in latest:
            is_over = kind.subject == "incident" and latest[key] <= ended
            if not is_over and each.done < latest[key] + lasts:
                failed.append(each)
    return failed
