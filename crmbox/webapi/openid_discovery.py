"""What clients of Entra ID ask an authority before they ask it for tokens, such as Microsoft's library MSAL.

Every tenant is there, and `common` where none is named.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from crmbox.webapi.request import Response
from crmbox.webapi.token_refusals import TokenRefusal
from crmclient import exact_json

# OpenID Connect Discovery puts the document after the issuer. Entra ID's first version had no v2.0.
_CONFIGURATION: Final = re.compile(r"(?:/([^/]+))?(/v2\.0)?/\.well-known/openid-configuration")
_KEYS: Final = re.compile(r"/[^/]+/discovery/(?:v2\.0/)?keys")
_INSTANCE: Final = "/common/discovery/instance"


def discovery_response(method: str, path: str, query: str, root: str) -> Response | None:
    """Return the discovery document at `path`, or None if there is none.

    `root` is the URL that `path` is below.
    """
    if method not in ("GET", "HEAD"):
        return None
    if path == _INSTANCE:
        return _instance_discovery(query, root)
    if _KEYS.fullmatch(path):
        # Tokens are for this server alone, which makes them with a key that nobody else has.
        return _document({"keys": []})
    match = _CONFIGURATION.fullmatch(path)
    return None if match is None else _document(_configuration(root, match[1], match[2] or ""))


def _configuration(root: str, tenant: str | None, version: str) -> dict[str, Any]:
    """Return what OpenID Connect Discovery says of a tenant, or of the server itself (None).

    `version` is `/v2.0` or empty, as in the path that was asked for.
    """
    issuer = f"{root}/{tenant}{version}" if tenant else root
    tenant = tenant or "common"
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{root}/{tenant}/oauth2/v2.0/authorize",
        "token_endpoint": f"{root}/{tenant}/oauth2/v2.0/token",
        "jwks_uri": f"{root}/{tenant}/discovery/v2.0/keys",
        "token_endpoint_auth_methods_supported": [
            "client_secret_post",
            "client_secret_basic",
            "private_key_jwt",
        ],
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "scopes_supported": [],
        "claims_supported": ["sub", "aud", "iat", "exp"],
        "cloud_instance_name": urlsplit(root).hostname,
    }


def _instance_discovery(query: str, root: str) -> Response:
    """Answer whether the authority of the `authorization_endpoint` in the query is this server."""
    server = urlsplit(root)
    try:
        authority = urlsplit(parse_qs(query).get("authorization_endpoint", [""])[0])
    except ValueError:
        authority = urlsplit("")
    # MSAL leaves the port out.
    is_own = authority.hostname == server.hostname and authority.path.startswith(f"{server.path}/")
    tenant = authority.path.removeprefix(f"{server.path}/").split("/")[0]
    if not (is_own and tenant):
        refusal = TokenRefusal(
            400, "invalid_instance", 50049, f"Unknown or invalid instance. This one is {root}."
        )
        return _document(refusal.body, refusal.status)
    host = server.hostname
    return _document(
        {
            "tenant_discovery_endpoint": f"{root}/{tenant}/v2.0/.well-known/openid-configuration",
            "api-version": "1.1",
            "metadata": [{"preferred_network": host, "preferred_cache": host, "aliases": [host]}],
        }
    )


def _document(content: dict[str, Any], status: int = 200) -> Response:
    return Response(status, {"Content-Type": "application/json"}, exact_json.render(content))
