"""Tokens as an attacker, or an issuer with ideas of its own, would write them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from enum import Enum
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings


class Sign(Enum):
    """With a name of its own: what tests are called by is the same in every process."""

    OMIT = "left out"


OMIT: Any = Sign.OMIT


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a good access token of the service's own, with `changes`; OMIT leaves one out."""
    now = int(time.time())
    good = {
        "iss": "portico",
        "aud": "portico-api",
        "sub": "1",
        "iat": now,
        "exp": now + 300,
        "jti": "0123456789abcdef",
        "token_type": "access",
    }
    return {name: value for name, value in (good | changes).items() if value is not OMIT}


def signed(
    payload: dict[str, Any], key: Any = None, algorithm: str = "HS256", headers: dict[str, Any] | None = None
) -> str:
    """`payload` signed with `key`: the service's own, unless given."""
    return jwt.encode(payload, settings.TOKEN_SIGNING_KEY if key is None else key, algorithm, headers)


def raw(header: dict[str, Any], payload: object, signature: bytes = b"") -> str:
    """A token of any header and payload, with no regard to sense."""
    parts = (json.dumps(header).encode(), json.dumps(payload).encode(), signature)
    return ".".join(map(_base64, parts))


def sealed(header: dict[str, Any], payload: object) -> str:
    """A token of any header and payload whose HS256 signature, by the service's own key, is right."""
    signed_part = raw({"alg": "HS256", "typ": "JWT", **header}, payload).removesuffix(".")
    return f"{signed_part}.{seal(signed_part, settings.TOKEN_SIGNING_KEY.encode())}"


def seal(signed_part: str, key: bytes) -> str:
    """The HS256 signature by any key, one that PyJWT would not sign with included."""
    return _base64(hmac.new(key, signed_part.encode(), hashlib.sha256).digest())


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def jwk(key: rsa.RSAPrivateKey, kid: str, **more: str) -> dict[str, Any]:
    return {
        **jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True),
        "kid": kid,
        "use": "sig",
        **more,
    }


def _base64(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()
