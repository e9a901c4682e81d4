"""Documents put together from fragments: kept while nothing changes, and known by their entity tags."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

from runtime.describe.audience import Audience
from runtime.describe.fragments import program
from runtime.serving.served import Served

# A reader chooses language, module and form: what is kept for all of them is bounded.
MOST_BYTES = 96 * 1024 * 1024


class DocumentCache:
    """What was asked for last, by entity tag or any other text that stands for the content."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def find(self, tag: str) -> bytes | None:
        with self._lock:
            known = self._kept.get(tag)
            if known is not None:
                self._kept.move_to_end(tag)
            return known

    def get(self, tag: str, make: Callable[[], bytes]) -> bytes:
        """The document that `tag` stands for, made if need be."""
        known = self.find(tag)
        if known is None:
            known = make()
            self._keep(tag, known)
        return known

    def _keep(self, tag: str, content: bytes) -> None:
        with self._lock:
            if tag in self._kept:
                return
            self._kept[tag] = content
            self._size += len(content)
            while self._size > MOST_BYTES and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._size -= len(gone)


def tag_of(served: Served, audience: Audience, *form: str) -> str:
    """The entity tag, in quotes, of what `audience` is told of `served` in this form."""
    revision = served.configuration.revision
    readers = "anonymous" if audience.roles is None else " ".join((audience.type, *sorted(audience.roles)))
    state = (program().hex(), str(revision.number), revision.token, served.metadata)
    text = "\n".join((*state, readers, *form))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'


DOCUMENTS = DocumentCache()
