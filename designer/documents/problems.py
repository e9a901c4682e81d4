"""What is wrong with a document, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from designer.definitions import ConfigurationDocument
from designer.documents.keys import ENDPOINTS, Collection, Key
from designer.documents.unread_queries import UnreadQuery
from designer.readiness import Finding
from designer.sentences import listed


class DocumentError(Exception):
    """A document that cannot be used. Each of `problems` says where in it, and what to write."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: Sequence[str] = tuple(problems)
        super().__init__(listed(self.problems, "\n"))


class Gap(NamedTuple):
    """A part of an item that is wrong and was left out, so that the rest of the item can be judged.

    `place` is where it would be, as in findings, such as `bindings.name`.
    """

    collection: Collection
    key: Key
    place: str

    def explains(self, finding: Finding) -> bool:
        """Whether the finding may only follow from the gap, and is no mistake by itself."""
        if finding.subject != self.collection.subject(self.key):
            return False
        return self.collection.field != ENDPOINTS or not finding.field or finding.is_about(self.place)


class PartlyRead(DocumentError):
    """A document that cannot be used, of which `rest` could be read: it can be judged, so that what else is
    wrong is told at once.

    `gaps` are those of items in `rest`; `queries` are those of the document that cannot be read whole.
    `is_as_meant`: whether endpoints without gaps would answer calls as the author means.
    """

    def __init__(
        self,
        problems: Iterable[str],
        rest: ConfigurationDocument,
        gaps: Sequence[Gap] = (),
        queries: Sequence[UnreadQuery] = (),
        *,
        is_as_meant: bool = True,
    ) -> None:
        super().__init__(problems)
        self.rest = rest
        self.gaps = gaps
        self.queries = queries
        self.is_as_meant = is_as_meant and all(gap.collection.field == ENDPOINTS for gap in gaps)

    def preceded_by(self, problems: Iterable[str], *, is_as_meant: bool = True) -> PartlyRead:
        """Return the error with other problems of the same document before its own."""
        return PartlyRead(
            [*problems, *self.problems],
            self.rest,
            self.gaps,
            self.queries,
            is_as_meant=self.is_as_meant and is_as_meant,
        )
