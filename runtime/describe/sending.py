"""Long documents leave in pieces: the first waits for none of the others, and other threads take turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

# Smaller ones take a third longer to be sent, larger ones no less.
_PIECE = 1024 * 1024


def sent(
    request: HttpRequest, content: bytes, content_type: str, headers: Mapping[str, str]
) -> HttpResponseBase:
    if len(content) <= _PIECE or request.method == "HEAD":
        return HttpResponse(content, content_type=content_type, headers=dict(headers))
    length = {"Content-Length": str(len(content))}
    return StreamingHttpResponse(_pieces(content), content_type=content_type, headers={**headers, **length})


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
