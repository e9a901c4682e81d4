"""The problems of a query, all reported at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crmclient.errors import InvalidQuery
from crmclient.sentences import Sentence, listed


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a query.

    `construct` names the part of the query; `line` is where that begins in the text, None without a text.
    """

    construct: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        return str(self.sentence)

    @property
    def sentence(self) -> Sentence:
        """The whole problem as a sentence that can be translated."""
        if self.line is None:
            return Sentence("%(construct)s: %(message)s", construct=self.construct, message=self.message)
        return Sentence(
            "line %(line)s: %(construct)s: %(message)s",
            line=self.line,
            construct=self.construct,
            message=self.message,
        )


class QueryProblems(InvalidQuery):
    """Every problem of one query, in the order of the query."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(listed((problem.sentence for problem in self.problems), "\n"))
