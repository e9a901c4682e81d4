"""Refusals of the token endpoint: a problem or, where a grant is named, an error of OAuth 2."""

from __future__ import annotations

from typing import Any

from runtime.describe.documentation import PROBLEM, response, response_name
from runtime.http.rendering import JSON
from runtime.tokens.oauth_answers import ERRORS

OAUTH_ERROR: dict[str, Any] = {
    **PROBLEM,
    "description": "A refusal in OAuth 2's words (RFC 6749, 5.2), with the members of a problem.",
    "properties": {
        "error": {"type": "string", "enum": list(ERRORS)},
        "error_description": {"type": "string"},
        **PROBLEM["properties"],
    },
    "required": ["error", "error_description", *PROBLEM["required"]],
}


def oauth_name(status: int, codes: tuple[str, ...]) -> str:
    """Return the name of the component for a response of a route that speaks OAuth 2."""
    return f"{response_name(status, codes)}.oauth"


def oauth_response(status: int, codes: tuple[str, ...]) -> dict[str, Any]:
    """Return the component for a response: a problem or, in the other media type, an error of OAuth 2."""
    component = response(status, codes)
    in_oauth = {JSON: {"schema": {"$ref": "#/components/schemas/OAuthError"}}}
    return {**component, "content": {**component["content"], **in_oauth}}
