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
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
# Also of a PEM text without its end, and of a JSON Web Key.
_PRIVATE = re.compile(r'-----BEGIN [A-Z0-9 ]*PRIVATE KEY|"d"\s*:\s*"')
# Characters: about thirty keys of the longest kind in use. Looking for keys takes the square of the length.
_LONGEST = 30_000

_NO_PEM = Sentence("Write public keys in PEM form, which begin with “-----BEGIN PUBLIC KEY-----”.")
_IS_PRIVATE = Sentence(
    "This is a private key. Keep it secret, and paste the public key, which begins with "
    "“-----BEGIN PUBLIC KEY-----”."
)
_IS_CERTIFICATE = Sentence(
    "This is a certificate. Paste its public key, which begins with “-----BEGIN PUBLIC KEY-----”."
)
_IS_BROKEN = Sentence(
    "A public key is incomplete or damaged. Paste it again, from “-----BEGIN PUBLIC KEY-----” to "
    "“-----END PUBLIC KEY-----”."
)
_HAS_OTHER_TEXT = Sentence("Remove all text before, between and after the public keys.")


def pem_keys(text: str) -> list[PublicKeyTypes]:
    """Return the public keys of a PEM text, which may hold several.

    Raises ValueError, whose argument is a sentence about what is wrong with the text, without any of it.
    """
    refuse_private_keys(text)
    if len(text) > _LONGEST:
        raise ValueError(Sentence("Write at most %(count)s characters of public keys.", count=_LONGEST))
    parts = list(_PEM.finditer(text))
    if any(part[1].endswith("CERTIFICATE") for part in parts):
        raise ValueError(_IS_CERTIFICATE)
    rest = _PEM.sub("", text)
    if "-----BEGIN" in rest:
        raise ValueError(_IS_BROKEN)
    if not parts:
        raise ValueError(_NO_PEM)
    if rest.strip():
        raise ValueError(_HAS_OTHER_TEXT)
    try:
        return [load_pem_public_key(part[0].encode()) for part in parts]
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(_IS_BROKEN) from error


def refuse_private_keys(text: str) -> None:
    """Raise ValueError, with a sentence, for a text that has a private key or the beginning of one."""
    if _PRIVATE.search(text):
        raise ValueError(_IS_PRIVATE)


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
