"""Caches documents that are put together from fragments, by their entity tags."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

from runtime.describe.audience import Audience
from runtime.describe.fragment_digests import program_digest
from runtime.serving.served import Served

# A reader chooses language, module and form: what is kept for all of them is bounded.
MOST_BYTES = 96 * 1024 * 1024


class DocumentCache:
    """The documents requested last, by entity tag or another text that identifies the content."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def find(self, tag: str) -> bytes | None:
        """Return the document with this tag, which becomes the one requested last; None when it is not
        cached.
        """
        with self._lock:
            document = self._kept.get(tag)
            if document is not None:
                self._kept.move_to_end(tag)
            return document

    def get(self, tag: str, make: Callable[[], bytes]) -> bytes:
        """Return the document with this tag: the cached one, or what `make` returns."""
        document = self.find(tag)
        if document is None:
            document = make()
            self._keep(tag, document)
        return document

    def _keep(self, tag: str, content: bytes) -> None:
        """Keep a document, even one that is too large by itself. While all together are too large, those go
        that were not requested for the longest time.
        """
        with self._lock:
            if tag in self._kept:
                return
            self._kept[tag] = content
            self._size += len(content)
            while self._size > MOST_BYTES and len(self._kept) > 1:
                _, removed = self._kept.popitem(last=False)
                self._size -= len(removed)


def tag_of(served: Served, audience: Audience, *form: str) -> str:
    """Return the entity tag, in quotes, of a document that describes `served` to `audience`.

    `form` is everything else that the document depends on, such as its language.
    """
    revision = served.configuration.revision
    readers = "anonymous" if audience.roles is None else " ".join((audience.type, *sorted(audience.roles)))
    state = (program_digest().hex(), str(revision.number), revision.token, served.metadata)
    text = "\n".join((*state, readers, *form))
    # 24 hexadecimal digits keep the tag short, and no two documents are likely to share them.
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'


DOCUMENTS = DocumentCache()
