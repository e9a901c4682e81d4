"""Signed tokens by which clients show who they are, instead of a secret (RFC 7523, section 2.2).

A client with a certificate signs one itself; one that is federated shows what another issuer signed.
Refusals have the numbers of Entra ID, which its clients and their users know.
"""

from __future__ import annotations

import base64
import datetime as dt
from typing import Any, Final

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from crmbox.webapi.credentials import Client, Federation
from crmbox.webapi.token_refusals import TokenRefusal

ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

_CERTIFICATE_ALGORITHMS: Final = ["RS256", "PS256"]
_ISSUER_ALGORITHMS: Final = ["RS256", "PS256", "ES256"]
_LONGEST: Final = 16 * 1024
"""Characters of an assertion."""

_LEEWAY: Final = 60
"""Seconds by which clocks may differ."""

_REQUIRED_CLAIMS: Final = ["exp", "iss", "sub", "aud"]


def check_assertion(assertion: str, client: Client, audiences: list[str]) -> None:
    """Raise TokenRefusal unless `assertion` proves that it comes from `client`.

    `audiences` are the addresses that the client may have signed it for.
    """
    head, claims = _unverified_parts(assertion)
    if claims.get("iss") == client.id:
        _check_signed_by_certificate(assertion, head, client, audiences)
    elif client.federation is not None:
        _check_federated(assertion, head, claims, client.federation)
    else:
        raise _refusal(700027, "The application has no certificate or federated credential of this issuer.")


def _unverified_parts(assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the head and claims of an assertion.

    They are not verified: they only tell which keys to verify it with. Raises TokenRefusal.
    """
    if len(assertion) > _LONGEST:
        raise _refusal(50027, "The client assertion is too long.")
    try:
        parts = jwt.decode_complete(assertion, options={"verify_signature": False})
    except jwt.PyJWTError:
        raise _refusal(50027, "The client assertion is not a JWT.") from None
    return parts["header"], parts["payload"]


def _check_signed_by_certificate(
    assertion: str, head: dict[str, Any], client: Client, audiences: list[str]
) -> None:
    """Raise TokenRefusal unless the client's certificate is valid now and has signed the assertion."""
    certificate = client.x509_certificate()
    if certificate is None or not _is_named(certificate, head):
        raise _refusal(
            700027,
            "The certificate with identifier used to sign the client assertion is not registered on "
            "application. [Reason - The key was not found.]",
        )
    now = dt.datetime.now(dt.UTC)
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise _refusal(700027, "The certificate is not valid now. [Reason - The key used is expired.]")
    claims = _verified_claims(assertion, certificate.public_key(), _CERTIFICATE_ALGORITHMS, audiences, 700023)
    if claims["sub"] != client.id:
        raise _refusal(700021, "Client assertion subject does not match the application.")


def _is_named(certificate: x509.Certificate, head: dict[str, Any]) -> bool:
    """Return whether the head names the certificate by its thumbprint."""
    hashes_by_name = {"x5t": hashes.SHA1(), "x5t#S256": hashes.SHA256()}  # noqa: S303  a name, as RFC 7515 has it
    thumbprints = {name: head[name] for name in hashes_by_name if name in head}
    return bool(thumbprints) and all(
        str(value).rstrip("=") == _base64_url(certificate.fingerprint(hashes_by_name[name]))
        for name, value in thumbprints.items()
    )


def _check_federated(
    assertion: str, head: dict[str, Any], claims: dict[str, Any], federation: Federation
) -> None:
    """Raise TokenRefusal unless the federated issuer has signed the assertion for the federated subject."""
    if claims.get("iss") != federation.issuer:
        raise _refusal(
            700211,
            "No matching federated identity record found for presented assertion issuer "
            f"{_quoted_claim(claims, 'iss')}.",
        )
    keys = {key.key_id: key for key in federation.key_set().keys}
    key = keys.get(head.get("kid"))
    if key is None:
        raise _refusal(700027, "The key that signed the federated token is not among its issuer's keys.")
    claims = _verified_claims(assertion, key.key, _ISSUER_ALGORITHMS, [federation.audience], 700212)
    if claims["sub"] != federation.subject:
        raise _refusal(
            700213,
            "No matching federated identity record found for presented assertion subject "
            f"{_quoted_claim(claims, 'sub')}.",
        )


def _verified_claims(
    assertion: str, key: Any, algorithms: list[str], audiences: list[str], wrong_audience: int
) -> dict[str, Any]:
    """Return the claims of an assertion whose signature, time and audience are right. Raises TokenRefusal.

    `wrong_audience` is Entra ID's number for the refusal of an audience.
    """
    try:
        return jwt.decode(
            assertion,
            key,
            algorithms,
            options={"require": _REQUIRED_CLAIMS},
            audience=audiences,
            leeway=_LEEWAY,
        )
    except (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError):
        raise _refusal(700024, "Client assertion is not within its valid time range.") from None
    except jwt.InvalidAudienceError:
        raise _refusal(
            wrong_audience, f"Client assertion audience does not match. Expected: {audiences[0]}."
        ) from None
    except (jwt.PyJWTError, TypeError, ValueError):
        # Keys of another type than the algorithm's raise TypeError.
        raise _refusal(700027, "The signature of the client assertion is not valid.") from None


def _refusal(number: int, description: str) -> TokenRefusal:
    """Return the refusal of an assertion. `number` is that of Entra ID's message."""
    return TokenRefusal(401, "invalid_client", number, description)


def _quoted_claim(claims: dict[str, Any], name: str) -> str:
    """Return a claim as messages quote it."""
    return repr(str(claims.get(name, ""))[:200])


def _base64_url(print: bytes) -> str:
    """Return a thumbprint as heads of tokens write it: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(print).rstrip(b"=").decode()
