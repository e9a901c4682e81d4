"""Public keys as people paste them."""

from __future__ import annotations

import re

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from designer.sentences import Sentence

_PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", re.DOTALL)
_NO_PEM = Sentence("Write public keys in PEM form, which begin with “-----BEGIN PUBLIC KEY-----”.")


def pem_keys(text: str) -> list[PublicKeyTypes]:
    """Return the public keys of a PEM text, which may hold several. Raises ValueError."""
    parts = [match[0] for match in _PEM.finditer(text)]
    try:
        keys = [load_pem_public_key(part.encode()) for part in parts]
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(_NO_PEM) from error
    if not keys or _PEM.sub("", text).strip():
        raise ValueError(_NO_PEM)
    return keys
