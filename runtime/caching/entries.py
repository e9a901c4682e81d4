"""A cached answer: its status, headers and body, and when the platform was asked for it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import orjson
from django.http import HttpResponse

from runtime.http.checked_headers import Prepared, set_header
from runtime.http.conditions import digest
from runtime.http.rendering import JSON

# Bytes. A longer entry is compressed in the store that processes share.
_LONG = 2_048
_PLAIN, _COMPRESSED = b"0", b"1"
_BREAK = b"\n"

# Headers that belong to one request, or that are set on each answer anew.
_NOT_KEPT = frozenset({"cache-control", "vary", "content-length", "x-request-id"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored answer.

    `made` is the time at which the platform was asked, in seconds of `time.time()`: the answer is as old as
    that.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    made: float
    _prepared: Prepared = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_prepared", Prepared(dict(self.headers)))

    @classmethod
    def of(cls, response: HttpResponse, made: float) -> Entry:
        """Return the entry for a response. `made` is when the platform was asked. An answer 200 gets an ETag
        if it has none.
        """
        headers = {name: value for name, value in response.items() if name.lower() not in _NOT_KEPT}
        if response.status_code == 200:
            headers.setdefault("ETag", f'"{digest(response.content)}"')
        return cls(response.status_code, tuple(headers.items()), response.content, made)

    @property
    def tag(self) -> str | None:
        """The entity tag (`ETag`) of the answer, in quotes; None without one."""
        return self._prepared.value("etag")

    def response(self, **more: str) -> HttpResponse:
        """Return the stored answer as a response.

        `more` are further headers with plain text values; `_` in a name stands for `-`.
        """
        response = HttpResponse(self.body, status=self.status, content_type=JSON)
        self._prepared.put(response)
        for key, value in more.items():
            set_header(response, key.replace("_", "-"), value)
        return response

    @property
    def size(self) -> int:
        """The approximate size in memory, in bytes. The objects themselves take about 512."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers) + 512

    def packed(self) -> bytes:
        """Return the entry as bytes, for another process."""
        head = orjson.dumps((self.status, self.headers, self.made))
        content = head + _BREAK + self.body
        if len(content) < _LONG:
            return _PLAIN + content
        return _COMPRESSED + zlib.compress(content, 1)

    @classmethod
    def unpacked(cls, content: bytes, most: int) -> Entry | None:
        """Return the entry that `packed` made; None for one that is larger than `most` bytes."""
        marker, content = content[:1], content[1:]
        if marker == _COMPRESSED:
            inflate = zlib.decompressobj()
            content = inflate.decompress(content, most)
            if not inflate.eof:
                return None
        head, _, body = content.partition(_BREAK)
        status, headers, made = orjson.loads(head)
        return cls(status, tuple((name, value) for name, value in headers), body, made)
