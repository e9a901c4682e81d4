"""What is wrong with a document, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from designer.sentences import listed


class DocumentError(Exception):
    """A document that cannot be used. Each of `problems` says where in it, and what to write."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: Sequence[str] = tuple(problems)
        super().__init__(listed(self.problems, "\n"))
