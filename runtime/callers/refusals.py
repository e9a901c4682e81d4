"""The problems of callers. RFC 6750 gives the words of `WWW-Authenticate`."""

from __future__ import annotations

from runtime.http.problems import Problem


def authentication_required() -> Problem:
    return Problem(
        401,
        "authentication_required",
        "Send an access token: `Authorization: Bearer …`. POST /api/token gives one.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def invalid_token(reason: str) -> Problem:
    return Problem(401, "invalid_token", reason, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})


def no_platform_user(reason: str) -> Problem:
    return Problem(403, "no_platform_user", reason)
