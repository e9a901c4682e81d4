"""The portal's records and callers, by numbers: their ids are the same in every run."""

from __future__ import annotations

import re
import uuid

from bench.portal.trace import LOCALES, Step

SPACE = uuid.UUID("6f0d7f52-0b0f-4f0e-9a51-6a3b8a1c2d10")
FIRST_ACCOUNT_ID = 100_000
"""The account of caller 0; the others' follow."""

PAGE = 2
NEW = 9
"""The number that a case has which a caller reports."""

STAMP = "at 0000000000000"
"""Where the platform's answers say when they were given, in milliseconds: `bench.replay` fills it in."""

STAMPED = re.compile(rb"at (\d{13})")
REVISED = re.compile(rb"Case \d+/(\d) rev (\d{8})")


def contact(caller: int) -> str:
    return _id("contact", caller)


def case(caller: int, number: int) -> str:
    return _id("incident", caller, number)


def note(caller: int) -> str:
    return _id("annotation", caller)


def article(number: int) -> str:
    return _id("knowledgearticle", number)


def case_title(caller: int, number: int, revision: int) -> str:
    return f"Case {caller}/{number} rev {revision:08d} {STAMP}"


def path(step: Step, caller: int, cursor: str) -> str:
    """Where all applications serve it."""
    if step.letter == "A":
        return f"/api/portal/articles/{article(step.number)}"
    if step.letter == "O":
        return f"/optionsets/priorities?lcid={LOCALES[step.number]}"
    if step.letter in "RU":
        return f"/api/portal/cases/{case(caller, step.number)}"
    if step.letter == "F":
        return f"/api/portal/cases/{case(caller, 0)}/files/attachments/{note(caller)}"
    if step.letter == "N" and cursor:
        return f"{_MY_CASES}&cursor={cursor}"
    return _PATHS[step.letter]


_MY_CASES = f"/api/portal/queries/my-cases?pageSize={PAGE}"
_PATHS = {
    "L": "/api/portal/queries/articles",
    "C": "/api/context",
    "M": _MY_CASES,
    "N": _MY_CASES,
    "P": "/api/portal/cases",
}


def _id(entity: str, *numbers: int) -> str:
    return str(uuid.uuid5(SPACE, f"{entity}/{'/'.join(map(str, numbers))}"))
