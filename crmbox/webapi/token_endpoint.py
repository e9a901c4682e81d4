"""`POST {root}/{tenant}/oauth2/v2.0/token`: client credentials for a token of the client's user."""

from __future__ import annotations

import base64
import binascii
from typing import BinaryIO, Final
from urllib.parse import parse_qs, unquote

from django.conf import settings

from crmbox.webapi.client_assertions import ASSERTION_TYPE, check_assertion
from crmbox.webapi.credentials import Client, client_of
from crmbox.webapi.request import Headers, Response
from crmbox.webapi.token_refusals import TokenRefusal
from crmbox.webapi.tokens import mint
from crmclient import exact_json

_LARGEST: Final = 64 * 1024
"""Bytes of a form."""

_WHOLE_RESOURCE: Final = "/.default"


def token_response(method: str, headers: Headers, stream: BinaryIO, *, root: str, path: str) -> Response:
    """Answer with a token, or with the refusal. `path` is that of the request below the URL `root`."""
    try:
        client = _authenticated_client(_form(method, stream), headers, root, path)
    except TokenRefusal as refusal:
        return _answer(refusal.status, refusal.body)
    lifetime = settings.PORTICO["CRM_SERVER_TOKEN_SECONDS"]
    return _answer(
        200,
        {
            "token_type": "Bearer",
            "expires_in": lifetime,
            "ext_expires_in": lifetime,
            "access_token": mint(client.user, lifetime),
        },
    )


def _form(method: str, stream: BinaryIO) -> dict[str, str]:
    """Return the fields of the form in the body. Raises TokenRefusal."""
    if method != "POST":
        raise TokenRefusal(405, "invalid_request", 900561, "The endpoint only accepts POST requests.")
    raw = stream.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise TokenRefusal(413, "invalid_request", 90015, "The body is too large.")
    try:
        return {name: values[0] for name, values in parse_qs(raw.decode("utf-8")).items()}
    except (UnicodeError, ValueError):
        raise TokenRefusal(400, "invalid_request", 90014, "The body is not a form.") from None


def _authenticated_client(form: dict[str, str], headers: Headers, root: str, path: str) -> Client:
    """Return the client that asks for a token. Raises TokenRefusal."""
    if form.get("grant_type") != "client_credentials":
        raise TokenRefusal(400, "unsupported_grant_type", 70003, "The grant_type must be client_credentials.")
    if not form.get("scope", _WHOLE_RESOURCE).endswith(_WHOLE_RESOURCE):
        raise TokenRefusal(
            400,
            "invalid_scope",
            1002012,
            "The scope is not valid. Client credential flows must have a scope value with /.default "
            "suffixed to the resource identifier.",
        )
    basic = _basic(headers)
    id, secret = basic or (form.get("client_id", ""), form.get("client_secret", ""))
    if not id:
        raise TokenRefusal(401, "invalid_client", 900144, "The client_id is missing.")
    client = client_of(id)
    if client is None:
        raise TokenRefusal(
            400,
            "unauthorized_client",
            700016,
            f"Application with identifier {id[:100]!r} was not found in the directory.",
        )
    if "client_assertion" in form:
        if form.get("client_assertion_type") != ASSERTION_TYPE:
            raise TokenRefusal(
                400, "invalid_request", 70002, f"The client_assertion_type must be {ASSERTION_TYPE}."
            )
        # Clients sign for the address of this endpoint, or for the issuer of the tenant that begins the path.
        issuer = f"{root}/{path.split('/')[1]}/v2.0"
        check_assertion(form["client_assertion"], client, [f"{root}{path}", issuer])
    elif not secret:
        raise TokenRefusal(
            401, "invalid_client", 7000216, "'client_assertion' or 'client_secret' is required."
        )
    elif not client.has_secret(secret):
        raise TokenRefusal(
            401,
            "invalid_client",
            7000215,
            f"Invalid client secret provided for the application {id[:100]!r}. "
            "Send the secret's value, not its id.",
        )
    return client


def _basic(headers: Headers) -> tuple[str, str] | None:
    """Return the id and secret of HTTP's basic authentication; None without it."""
    scheme, _, encoded = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeError):
        return None
    return unquote(client), unquote(secret)


def _answer(status: int, content: dict[str, object]) -> Response:
    """Answer with JSON that nobody on the way may keep."""
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return Response(status, headers, exact_json.render(content))
