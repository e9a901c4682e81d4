"""What is wrong with a document, all of it at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from designer.definitions import ConfigurationDocument
from designer.documents.keys import Key
from designer.sentences import listed


class DocumentError(Exception):
    """A document that cannot be used. Each of `problems` says where in it, and what to write."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: Sequence[str] = tuple(problems)
        super().__init__(listed(self.problems, "\n"))


class PartlyRead(DocumentError):
    """A document that cannot be used, of which `rest` could be read: it can be judged, so that what else is
    wrong is told at once.

    `incomplete` are the items of `rest`, by their list and key, that lack a member which is wrong.
    `is_as_meant`: whether the calls of what `rest` holds would be answered as the author means.
    """

    def __init__(
        self,
        problems: Iterable[str],
        rest: ConfigurationDocument,
        incomplete: Collection[tuple[str, Key]] = (),
        *,
        is_as_meant: bool,
    ) -> None:
        super().__init__(problems)
        self.rest = rest
        self.incomplete = incomplete
        self.is_as_meant = is_as_meant

    def after(self, problems: Iterable[str], *, is_as_meant: bool = True) -> PartlyRead:
        """Return the error with other problems of the same document before its own."""
        return PartlyRead(
            [*problems, *self.problems],
            self.rest,
            self.incomplete,
            is_as_meant=self.is_as_meant and is_as_meant,
        )
