"""What the portal's callers do: sessions of requests, in fixed parts, as a text file in the repository.

`python -m bench.portal.trace` writes the file anew, and `--check` says whether it is what the seed gives. A
line is one caller's session. A request is a letter, and a character for which of several it is.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("trace.txt")
SEED = 20_261_123
SESSIONS = 500
REQUESTS = 45_000
CALLERS = 2_000
SLOTS = 256
"""Callers at once."""

RATE = 600.0
"""Requests a second, all callers together."""

ARTICLES = 24
LOCALES = (1033, 1031, 1025)
CASES = 3

_SHORTER = 50
_STEP = re.compile(r"([LCMNPF]|A[a-x]|O[0-2]|[RU][0-2])")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of request: its part of the trace in percent, and the entity that it is about."""

    letter: str
    title: str
    percent: float
    subject: str
    is_signed_in: bool = True
    is_write: bool = False


KINDS = {
    kind.letter: kind
    for kind in (
        Kind("L", "list of articles", 24.0, "knowledgearticle", is_signed_in=False),
        Kind("A", "article", 40.0, "knowledgearticle", is_signed_in=False),
        Kind("O", "option set", 28.0, "", is_signed_in=False),
        Kind("C", "my context", 5.0, "contact"),
        Kind("M", "my cases, first page", 0.9, "incident"),
        Kind("N", "my cases, next page", 0.3, "incident"),
        Kind("R", "one of my cases", 1.2, "incident"),
        Kind("U", "change a case", 0.3, "incident", is_write=True),
        Kind("P", "report a case", 0.1, "incident", is_write=True),
        Kind("F", "attachment", 0.2, "annotation"),
    )
}


class Step(NamedTuple):
    """One request: the letter of its kind, and the number of the article, case or language."""

    letter: str
    number: int = 0


def sessions() -> list[list[Step]]:
    return [
        [_step(text) for text in _STEP.findall(line)] for line in FILE.read_text(encoding="ascii").split()
    ]


def timetable(rate: float = RATE) -> Iterator[tuple[float, int, int, Step]]:
    """When (in seconds), on which of SLOTS, which caller sends what. Without end: each time the file begins
    anew, its sessions are those of the next callers."""
    script = sessions()
    slots: list[tuple[int, Iterator[Step]]] = [(0, iter(()))] * SLOTS
    begun = number = 0
    while True:
        slot = number % SLOTS
        caller, steps = slots[slot]
        step = next(steps, None)
        if step is None:
            caller, steps = begun % CALLERS, iter(script[begun % len(script)])
            begun += 1
            slots[slot] = caller, steps
            step = next(steps)
        yield number / rate, slot, caller, step
        number += 1


def generate() -> str:
    """The same text for the same seed: exact parts of each kind, shuffled, cut into sessions."""
    chance = random.Random(SEED)
    weights = [1 / place for place in range(1, ARTICLES + 1)]
    requests: list[str] = []
    for kind in KINDS.values():
        count = round(REQUESTS * kind.percent / 100)
        if kind.letter == "A":
            requests += [f"A{_letter(at)}" for at in chance.choices(range(ARTICLES), weights, k=count)]
        elif kind.letter == "O":
            requests += [f"O{chance.randrange(len(LOCALES))}" for _ in range(count)]
        elif kind.letter in "RU":
            requests += [f"{kind.letter}{chance.randrange(CASES)}" for _ in range(count)]
        elif kind.letter == "M":
            # A next page follows a first one.
            following = round(REQUESTS * KINDS["N"].percent / 100)
            requests += ["MN"] * following + ["M"] * (count - following)
        elif kind.letter != "N":
            requests += [kind.letter] * count
    chance.shuffle(requests)
    mean, over = divmod(len(requests), SESSIONS)
    lengths = [mean + (number < over) for number in range(SESSIONS)]
    for number in range(0, SESSIONS, 2):
        difference = chance.randint(-_SHORTER, _SHORTER)
        lengths[number] += difference
        lengths[number + 1] -= difference
    remaining = iter(requests)
    return "".join("".join(itertools.islice(remaining, length)) + "\n" for length in lengths)


def _letter(number: int) -> str:
    return chr(ord("a") + number)


def _step(text: str) -> Step:
    letter, which = text[0], text[1:]
    if not which:
        return Step(letter)
    return Step(letter, int(which) if which.isdigit() else ord(which) - ord("a"))


def main() -> int:
    text = generate()
    if sys.argv[1:] == ["--check"]:
        is_same = FILE.read_text(encoding="ascii") == text
        print(f"{FILE.name} is {'what the seed gives' if is_same else 'another one: write it anew'}.")
        return 0 if is_same else 1
    FILE.write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
