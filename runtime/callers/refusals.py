"""The problems of callers. RFC 6750 gives the words of `WWW-Authenticate`."""

from __future__ import annotations

from collections.abc import Mapping

from designer.names import USER_TYPE
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
        # Whether `issuer` is one that is set up here: nobody else may fill the counts with names.
        self.is_of_known_issuer = False

    def of_known(self, issuer: str) -> RefusedCaller:
        """Note that the token is of an issuer that is set up here. Return the refusal."""
        self.issuer = issuer
        self.is_of_known_issuer = True
        return self

    @property
    def logged(self) -> Mapping[str, str]:
        """The parts of the refusal that are known, for the log."""
        details = {"reason": self.reason, "issuer": self.issuer, "key_id": self.key_id}
        return {name: value for name, value in details.items() if value}


def authentication_required() -> Problem:
    """Return the Problem 401 for a request without a token."""
    return Problem(
        401,
        "authentication_required",
        "Send an access token: `Authorization: Bearer …`. POST /api/token gives one.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def invalid_token(detail: str, reason: str = "malformed") -> RefusedCaller:
    """Return the refusal 401 of a token. `detail` is the sentence for the caller, `reason` is for the log."""
    return RefusedCaller(
        401, "invalid_token", detail, reason, **{"WWW-Authenticate": 'Bearer error="invalid_token"'}
    )


def no_platform_user(issuer: str, detail: str, reason: str = "no_platform_user") -> RefusedCaller:
    """Return the refusal 403 of a caller whose platform user is missing or disabled. `reason` is for the
    log.
    """
    return RefusedCaller(403, "no_platform_user", detail, reason).of_known(issuer)


def without_record(issuer: str, type: str, reason: str) -> RefusedCaller:
    """Return the refusal of a caller whose record is missing or may not be used. `reason` is for the log."""
    code = "no_platform_user" if type == USER_TYPE else "no_record"
    detail = _DETAILS_BY_REASON.get(reason, "You have no record on the platform.")
    return RefusedCaller(403, code, detail, reason).of_known(issuer)


_DETAILS_BY_REASON: Mapping[str, str] = {
    "several_records": "More than one record on the platform may be yours.",
    "record_inactive": "Your record on the platform is not active.",
    "registration_limit": "Too many callers have registered within an hour. Try again later.",
    "registration_failed": "Your record on the platform could not be made.",
}


def no_record(caller_type: str, issuer: str, detail: str, reason: str = "no_record") -> RefusedCaller:
    """Return the refusal of a caller without a usable record, with the sentence `detail`."""
    if caller_type == USER_TYPE:
        return no_platform_user(issuer, detail, reason)
    refusal = without_record(issuer, caller_type, reason)
    refusal.sentence = detail
    return refusal


def type_not_admitted(issuer: str) -> RefusedCaller:
    """Return the refusal 403 of a caller type that the endpoint does not admit. Callers read the same as
    about roles.
    """
    refusal = forbidden(issuer)
    refusal.reason = "caller_type"
    return refusal


def forbidden(issuer: str) -> RefusedCaller:
    """Return the refusal 403 of a caller without any of the endpoint's roles."""
    detail = "You hold none of the roles that may call this."
    return RefusedCaller(403, "forbidden", detail, "no_role").of_known(issuer)


def issuer_unavailable(seconds: int) -> RefusedCaller:
    """Return the refusal 503 while the keys of an issuer are unknown. `seconds` is when to try again."""
    return RefusedCaller(
        503,
        "issuer_unavailable",
        "The keys of the token's issuer cannot be read just now.",
        "issuer_unavailable",
        **{"Retry-After": str(seconds)},
    )
