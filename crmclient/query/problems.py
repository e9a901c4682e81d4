"""What is wrong with a query, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crmclient.errors import InvalidQuery


@dataclass(frozen=True, slots=True)
class Problem:
    """`construct` names the part of the query, `line` where it begins in a text (None: not from a text)."""

    construct: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.construct}: {self.message}"


class QueryProblems(InvalidQuery):
    """Every problem of one query, in the order of the query."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
