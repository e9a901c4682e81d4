"""The problems of callers. RFC 6750 gives the words of `WWW-Authenticate`."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.http.problems import Problem


class RefusedCaller(Problem):
    """A refusal with what the log may say of it: a `reason` in one word, and the token's issuer and key.

    Those three are all: whatever else a token claims may be about a person, and a log is read by many.
    """

    def __init__(self, status: int, code: str, detail: str, reason: str, **headers: str) -> None:
        super().__init__(status, code, detail, headers=headers)
        self.reason = reason
        self.issuer = ""
        self.key_id = ""

    @property
    def logged(self) -> Mapping[str, str]:
        told = {"reason": self.reason, "issuer": self.issuer, "key_id": self.key_id}
        return {name: value for name, value in told.items() if value}


def authentication_required() -> Problem:
    return Problem(
        401,
        "authentication_required",
        "Send an access token: `Authorization: Bearer …`. POST /api/token gives one.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def invalid_token(detail: str, reason: str = "malformed") -> RefusedCaller:
    return RefusedCaller(
        401, "invalid_token", detail, reason, **{"WWW-Authenticate": 'Bearer error="invalid_token"'}
    )


def no_platform_user(issuer: str, detail: str, reason: str = "no_platform_user") -> RefusedCaller:
    refusal = RefusedCaller(403, "no_platform_user", detail, reason)
    refusal.issuer = issuer
    return refusal


def forbidden(issuer: str) -> RefusedCaller:
    refusal = RefusedCaller(403, "forbidden", "You hold none of the roles that may call this.", "no_role")
    refusal.issuer = issuer
    return refusal


def issuer_unavailable(seconds: int) -> RefusedCaller:
    return RefusedCaller(
        503,
        "issuer_unavailable",
        "The keys of the token's issuer cannot be read just now.",
        "issuer_unavailable",
        **{"Retry-After": str(seconds)},
    )
