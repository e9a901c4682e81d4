"""Authenticates a client at the token endpoint (RFC 6749, 2.3.1): by HTTP Basic, or in the body."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_plus

from django.http import HttpRequest

from runtime.callers.failed_logins import Wait
from runtime.callers.keys.api_key import ApiKey
from runtime.callers.keys.key_verification import WrongKey, verify
from runtime.callers.login import waiting
from runtime.callers.refusals import RefusedCaller
from runtime.http.addresses import client_address
from runtime.http.problems import FieldError
from runtime.values.inputs import invalid_input

_BASIC = re.compile(r"(?i:basic) +([A-Za-z0-9+/=_-]{1,4096})")


def client_of(request: HttpRequest, sent: Mapping[str, Any]) -> ApiKey:
    """Return the API key of the client. The client's id is the key's prefix, its secret the rest of the key.

    Raises Problem 401 `invalid_client`, 429, and 400 `invalid_input` when the body repeats the secret of the
    header, or names another client than the header.
    """
    id, secret = _credentials(request, sent)
    try:
        return verify(ApiKey, id, secret, client_address(request))
    except WrongKey as wrong:
        raise _refusal(wrong.wait, "wrong_key") from None
    except RefusedCaller as refusal:
        raise _refusal(None, refusal.reason, refusal.sentence) from None


def _credentials(request: HttpRequest, sent: Mapping[str, Any]) -> tuple[str, str]:
    """Return id and secret of the client, from the header or else from what was sent. Raises Problem 400."""
    in_header = _basic_credentials(request.META.get("HTTP_AUTHORIZATION", ""))
    id, secret = sent.get("client_id"), sent.get("client_secret")
    if in_header is None:
        return id or "", secret or ""
    errors = []
    if secret:
        message = "Is in the Authorization header already."
        errors.append(FieldError("not_allowed", message, pointer="/client_secret"))
    if id and id != in_header[0]:
        message = "Is another than in the Authorization header."
        errors.append(FieldError("not_allowed", message, pointer="/client_id"))
    if errors:
        raise invalid_input(errors)
    return in_header


def _basic_credentials(authorization: str) -> tuple[str, str] | None:
    """Return id and secret of a Basic header; None for another header.

    Both are empty if the header cannot be read.
    """
    if not authorization.lower().startswith("basic"):
        return None
    match = _BASIC.fullmatch(authorization)
    if match is None:
        return "", ""
    try:
        id, colon, secret = base64.b64decode(match[1], validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    # Each is URL-encoded by itself, so that a colon in an id is none between both.
    return (unquote_plus(id), unquote_plus(secret)) if colon else ("", "")


def _refusal(
    wait: Wait | None, reason: str, detail: str = "No client has this id and secret."
) -> RefusedCaller:
    """Return the refusal of a client: 429 with a `wait`, else 401. `reason` is for the log."""
    if wait is not None:
        return waiting(wait)
    challenge = {"WWW-Authenticate": 'Basic realm="token", charset="UTF-8"'}
    return RefusedCaller(401, "invalid_client", detail, reason, **challenge)
