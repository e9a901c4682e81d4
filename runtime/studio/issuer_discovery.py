"""What an issuer's own address says of it, for the form that sets it up."""

from __future__ import annotations

import jwt

from designer.definitions import IssuerDefinition
from designer.ports import DiscoveredIssuer
from designer.sentences import Sentence, said
from runtime.callers.issuers.discovery import Discovered, check_issuer, discover
from runtime.callers.issuers.issuer import discovery_address
from runtime.callers.issuers.jwks import public_keys
from runtime.callers.issuers.remote_documents import NotFetched, fetch_json


def discovered(issuer: str, address: str) -> DiscoveredIssuer:
    """What the OpenID configuration at `address` says; empty: of the one where that of `issuer` is."""
    address = address or discovery_address(issuer)
    try:
        found = discover(address)
        keys = _kids(found.keys_url)
    except NotFetched as error:
        return DiscoveredIssuer(address, problem=said(error.args[0]))
    return DiscoveredIssuer(address, found.issuer, found.keys_url, found.algorithms, keys)


def unreachable(issuer: IssuerDefinition) -> str:
    """Why keys of an issuer cannot be read just now; empty where they can. Of tenants, the first is asked."""
    keys = issuer.keys
    if keys.source == "pem" or not issuer.names:
        return ""
    try:
        if keys.source == "jwks":
            _kids(keys.url)
        else:
            _kids(_checked(issuer).keys_url)
    except NotFetched as error:
        return said(error.args[0])
    return ""


def _checked(issuer: IssuerDefinition) -> Discovered:
    name = issuer.names[0]
    address = issuer.keys.url or discovery_address(name)
    found = discover(address)
    check_issuer(found, name, address)
    return found


def _kids(address: str) -> tuple[str, ...]:
    """The names of the keys at `address`. Raises NotFetched."""
    try:
        return tuple(sorted(public_keys(fetch_json(address))))
    except (jwt.PyJWTError, ValueError) as error:
        raise NotFetched(Sentence("%(address)s has no keys that can be used.", address=address)) from error
