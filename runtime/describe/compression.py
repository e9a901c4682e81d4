"""Long answers that hold many equal words travel packed, where the reader can unpack them."""

from __future__ import annotations

import gzip

from django.http import HttpRequest

GZIP = "gzip"
# The first level packs these documents to a twentieth; more would take several times as long.
_LEVEL = 1


def takes_gzip(request: HttpRequest) -> bool:
    accepted = request.META.get("HTTP_ACCEPT_ENCODING", "")
    names = (coding.partition(";") for coding in accepted.split(","))
    return any(
        name.strip().lower() == GZIP and weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
        for name, _, weight in names
    )


def compressed(content: bytes) -> bytes:
    # No time inside: the same document is the same bytes.
    return gzip.compress(content, _LEVEL, mtime=0)


def unpacked(content: bytes) -> bytes:
    return gzip.decompress(content)
