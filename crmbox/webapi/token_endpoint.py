"""`POST {root}/{tenant}/oauth2/v2.0/token`: client credentials for a token of the client's user."""

from __future__ import annotations

import base64
import binascii
from typing import BinaryIO
from urllib.parse import parse_qs, unquote

from crmbox.webapi.credentials import user_of_client
from crmbox.webapi.request import Headers, Response
from crmbox.webapi.tokens import LIFETIME, mint
from crmclient import exact_json

_LARGEST = 64 * 1024


def token_response(method: str, headers: Headers, stream: BinaryIO) -> Response:
    """Errors are OAuth's: `invalid_request`, `unsupported_grant_type`, `invalid_client`."""
    if method != "POST":
        return _refused(405, "invalid_request", "Ask for a token with POST.")
    raw = stream.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        return _refused(413, "invalid_request", "The body is too large.")
    try:
        form = {name: values[0] for name, values in parse_qs(raw.decode("utf-8")).items()}
    except (UnicodeError, ValueError):
        return _refused(400, "invalid_request", "The body is no form.")
    if form.get("grant_type") != "client_credentials":
        return _refused(400, "unsupported_grant_type", "The grant_type must be client_credentials.")
    client, secret = _basic(headers) or (form.get("client_id", ""), form.get("client_secret", ""))
    user = user_of_client(client, secret)
    if user is None:
        return _refused(401, "invalid_client", "The client_id or client_secret is wrong.")
    return _answer(
        200,
        {
            "token_type": "Bearer",
            "expires_in": LIFETIME,
            "ext_expires_in": LIFETIME,
            "access_token": mint(user),
        },
    )


def _basic(headers: Headers) -> tuple[str, str] | None:
    scheme, _, encoded = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeError):
        return None
    return unquote(client), unquote(secret)


def _refused(status: int, error: str, description: str) -> Response:
    return _answer(status, {"error": error, "error_description": description})


def _answer(status: int, content: dict[str, object]) -> Response:
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return Response(status, headers, exact_json.render(content))
