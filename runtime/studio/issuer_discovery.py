"""Reads the OpenID configuration of an issuer, for the form that sets the issuer up."""

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
    """Return what the OpenID configuration at `address` says of an issuer, or why it cannot be read.

    When `address` is empty, the configuration is read from its standard address below `issuer`.
    """
    address = address or discovery_address(issuer)
    try:
        document = discover(address)
        key_ids = _key_ids(document.keys_url)
    except NotFetched as error:
        return DiscoveredIssuer(address, problem=said(error.args[0]))
    return DiscoveredIssuer(
        address=address,
        issuer=document.issuer,
        keys_url=document.keys_url,
        algorithms=document.algorithms,
        keys=key_ids,
    )


def key_problem(issuer: IssuerDefinition) -> str:
    """Return why the keys of an issuer cannot be read now; empty when they can.

    Of an issuer with several tenants, only the first tenant's keys are read.
    """
    keys = issuer.keys
    if keys.source == "pem" or not issuer.names:
        return ""
    try:
        if keys.source == "jwks":
            _key_ids(keys.url)
        else:
            _key_ids(_own_configuration(issuer).keys_url)
    except NotFetched as error:
        return said(error.args[0])
    return ""


def _own_configuration(issuer: IssuerDefinition) -> Discovered:
    """Return the OpenID configuration of an issuer. Raises NotFetched, also for the configuration of another
    issuer.
    """
    name = issuer.names[0]
    address = issuer.keys.url or discovery_address(name)
    document = discover(address)
    check_issuer(document, name, address)
    return document


def _key_ids(address: str) -> tuple[str, ...]:
    """Return the ids (`kid`) of the keys at `address`, sorted. Raises NotFetched."""
    try:
        return tuple(sorted(public_keys(fetch_json(address))))
    except (jwt.PyJWTError, ValueError) as error:
        raise NotFetched(Sentence("%(address)s has no keys that can be used.", address=address)) from error
