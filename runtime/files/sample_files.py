"""Made-up files, so that a call that sends one can be repeated without a file of one's own."""

from __future__ import annotations

from runtime.files.allowed_files import first_bytes_of, type_of

# Plain text in every encoding: formats without a signature are judged by what they must not hold.
_FILLER = b"sample\n"


def sample_content(name: str, content_type: str, size: int) -> bytes:
    """Return `size` bytes that begin as files of that name and type do. The same arguments give the same
    bytes.
    """
    first_bytes = first_bytes_of(name, type_of(name, content_type))
    return (first_bytes + _FILLER * (size // len(_FILLER) + 1))[:size]
