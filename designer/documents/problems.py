"""What is wrong with a document, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from designer.definitions import ConfigurationDocument
from designer.sentences import listed


class DocumentError(Exception):
    """A document that cannot be used. Each of `problems` says where in it, and what to write."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: Sequence[str] = tuple(problems)
        super().__init__(listed(self.problems, "\n"))


class PartlyRead(DocumentError):
    """A document that cannot be used, of which `rest` could be read: it can be judged, so that what else is
    wrong is told at once."""

    def __init__(self, problems: Iterable[str], rest: ConfigurationDocument) -> None:
        super().__init__(problems)
        self.rest = rest
