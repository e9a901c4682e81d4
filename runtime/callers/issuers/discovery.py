"""An issuer's OpenID configuration (OpenID Connect Discovery 1.0): where its keys are, how it signs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from crmclient.sentences import Sentence
from designer.definitions import TENANT
from runtime.callers.issuers.remote_documents import NotFetched, fetch_json


@dataclass(frozen=True, slots=True)
class Discovered:
    """The content of the discovery document.

    `algorithms` are those of ID tokens, a hint for access tokens.
    """

    issuer: str
    keys_url: str
    algorithms: tuple[str, ...] = ()


def discover(address: str, *, allow_private: bool = False) -> Discovered:
    """Return the content of the OpenID configuration at `address`. Raises NotFetched."""
    document = fetch_json(address, allow_private=allow_private)
    issuer, keys_url = _text_member(document, "issuer"), _text_member(document, "jwks_uri")
    if not issuer or not keys_url:
        raise NotFetched(
            Sentence(
                "%(address)s is not an OpenID configuration: it lacks “issuer” or “jwks_uri”.",
                address=address,
            )
        )
    values = document.get("id_token_signing_alg_values_supported")
    algorithms = [name for name in values if isinstance(name, str)] if isinstance(values, list) else []
    return Discovered(issuer, keys_url, tuple(algorithms))


def check_issuer(document: Discovered, name: str, address: str) -> None:
    """Raise NotFetched unless the document names the issuer `name`.

    The keys of another issuer would prove nothing about this issuer's tokens.
    """
    if not is_issuer_of_one(document.issuer, (name,)):
        raise NotFetched(
            Sentence(
                "%(address)s is the configuration of the issuer “%(found)s”, not of “%(expected)s”.",
                address=address,
                found=document.issuer,
                expected=name,
            )
        )


def is_issuer_of_one(issuer: str, names: Collection[str]) -> bool:
    """Whether the `issuer` of a document stands for one of `names`.

    A document for all tenants of a provider has a placeholder in place of the tenant.
    """
    if TENANT not in issuer:
        return issuer in names
    before, _, after = issuer.partition(TENANT)
    return any(
        name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)
        for name in names
    )


def _text_member(document: Any, name: str) -> str:
    """Return the member `name` of a document; empty unless it is a text."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""
