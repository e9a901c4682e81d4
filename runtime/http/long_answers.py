"""Long answers: packed where the reader can unpack them, and sent in pieces.

The first piece waits for none of the others, and other threads take turns.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

GZIP = "gzip"
# The first level of gzip packs these documents to a twentieth. Higher ones take several times as long.
_LEVEL = 1
# Bytes. Smaller pieces take a third longer to be sent, and larger ones are no quicker.
_PIECE = 1024 * 1024


def takes_gzip(request: HttpRequest) -> bool:
    """Whether `Accept-Encoding` names gzip, and does not refuse it by a weight of 0."""
    accepted = request.META.get("HTTP_ACCEPT_ENCODING", "")
    names = (coding.partition(";") for coding in accepted.split(","))
    return any(
        name.strip().lower() == GZIP and weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
        for name, _, weight in names
    )


def compressed(content: bytes) -> bytes:
    """Return the content in gzip's form. The same content gives the same bytes."""
    # gzip would write the present time into the result.
    return gzip.compress(content, _LEVEL, mtime=0)


def unpacked(content: bytes) -> bytes:
    """Return the content that `compressed` was given."""
    return gzip.decompress(content)


def in_pieces(
    request: HttpRequest, content: bytes, content_type: str, headers: Mapping[str, str]
) -> HttpResponseBase:
    """Return `content` as a response, which is sent in pieces if it is long."""
    if len(content) <= _PIECE or request.method == "HEAD":
        return HttpResponse(content, content_type=content_type, headers=dict(headers))
    length = {"Content-Length": str(len(content))}
    return StreamingHttpResponse(_pieces(content), content_type=content_type, headers={**headers, **length})


def _pieces(content: bytes) -> Iterator[bytes]:
    """Yield the content piece by piece."""
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
