"""Public keys as people paste them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from designer.definitions import Algorithm
from designer.sentences import Sentence

# By the name of a curve (RFC 7518, 3.4).
_OF_CURVE: Mapping[str, Algorithm] = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_OF_RSA: tuple[Algorithm, ...] = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
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


def algorithms_of(key: PublicKeyTypes) -> tuple[Algorithm, ...]:
    """Return the algorithms whose signatures a public key can verify."""
    match key:
        case rsa.RSAPublicKey():
            return _OF_RSA
        case ec.EllipticCurvePublicKey() if key.curve.name in _OF_CURVE:
            return (_OF_CURVE[key.curve.name],)
        case ed25519.Ed25519PublicKey() | ed448.Ed448PublicKey():
            return ("EdDSA",)
    return ()
