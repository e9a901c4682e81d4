"""Turns whatever was raised while a request was served into the problem that its caller may see.

The platform's own words, SQL and stack traces stay in the log, under the request's id.
"""

from __future__ import annotations

import errno
import logging
import math
from typing import Any, Final

from django.core.exceptions import DisallowedHost, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, InterfaceError, OperationalError
from django.dispatch import Signal
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.exceptions import APIException

from crmclient import errors
from crmclient.database_errors import Trouble, trouble_of
from crmclient.sentences import for_log
from runtime.http.outages import outages
from runtime.http.problems import Problem, respond, unknown_route
from runtime.http.request_ids import request_id
from runtime.http.request_record import record_of

logger = logging.getLogger("portico.failures")

# `Retry-After` where nobody knows when it will work again.
RETRY_SECONDS = 5

# A caller has been refused; `problem` is the Problem. Who calls is known on a higher floor.
caller_refused = Signal()

_LATER: Final = "Try again after the seconds in Retry-After."
_PERHAPS_WRITTEN: Final = "What was to be written may be there all the same: look before you send it again."
_READING = frozenset({"GET", "HEAD"})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class Misconfigured(Exception):
    """An endpoint that cannot be served as it is configured. The text says why, for the log."""


def problem_of(error: Exception) -> Problem:
    """Return the problem for `error`; 500 `internal_error` for an unforeseen error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Http404):
        return unknown_route()
    if isinstance(error, errors.PlatformError):
        return problem_of_platform(error)
    if isinstance(error, Misconfigured):
        return misconfigured()
    if isinstance(error, DatabaseError | InterfaceError):
        return _problem_of_database(error)
    if isinstance(error, OSError) and is_no_room(error):
        return _problem_without_room()
    if isinstance(error, RequestDataTooBig):
        return Problem(413, "too_large", "The request is larger than this service accepts.")
    if isinstance(error, DisallowedHost | SuspiciousOperation):
        return Problem(400, "bad_request", "The request is not one this service can answer.")
    if isinstance(error, APIException):
        return Problem(error.status_code, str(error.default_code), str(error.detail))
    return _unforeseen_problem()


def _unforeseen_problem() -> Problem:
    """Return the Problem 500 for an error that nobody has foreseen."""
    return Problem(
        500, "internal_error", "Something went wrong here. Quote the requestId to those who run this."
    )


def is_no_room(error: OSError) -> bool:
    """Whether the disk, or the account's part of it, is full."""
    return error.errno in _NO_ROOM


def error_response(error: Exception, request: HttpRequest) -> HttpResponse:
    """Return the response for `error`, and note the problem in the request's record.

    Failures of the service or the platform go to the log as outages. Of other problems, the log has only
    callers who are refused and what the platform refused.
    """
    problem = problem_of(error)
    if isinstance(error, errors.DeadlineExceeded) and request.method in _READING:
        problem = _problem_of_late_reading(error)
    elif type(error) is errors.UnexpectedAnswer and request.method not in _READING:
        # What stands between here and the platform may have let the request through, and not the answer.
        problem = _problem_of_wrong_answer(f"{_why_wrong(error)} {_PERHAPS_WRITTEN}")
    record = record_of(request)
    record.refused(problem)
    log_fields = {
        "request_id": request_id(request),
        "code": problem.code,
        "status": problem.status_code,
        **problem.logged,
    }
    if problem.status_code >= 500:
        outages.failed(error, problem, record.endpoint, log_fields)
    # Only a RefusedCaller (runtime.callers) has fields to log.
    elif problem.logged:
        logger.info("caller refused", extra=log_fields)
        caller_refused.send(error_response, problem=problem)
    elif isinstance(error, errors.PlatformError):
        if isinstance(error, errors.AccessDenied):
            # A caller is not told which one: that is for those who give users their security roles.
            log_fields["privilege"] = error.privilege
        logger.info("platform refused: %s", for_log(error), extra=log_fields)
    return respond(problem, request)


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """Answer an exception that was raised in a view of DRF, which calls this."""
    return error_response(error, context["request"]._request)


def _problem_of_database(error: Exception) -> Problem:
    """Return the problem for an error of the service's own database."""
    match trouble_of(error):
        case Trouble.ENDED:
            return Problem(504, "timeout", "The service's database did not answer in time.")
        case Trouble.FULL:
            return _problem_without_room()
        case Trouble.READ_ONLY:
            return _problem_for_now("unavailable", "The service's database takes no writes now.", None)
        case Trouble.BUSY:
            return _problem_for_now("unavailable", "The service's database is busy.", 1)
        case Trouble.UNPREPARED:
            return _problem_for_now(
                "unavailable", "The service's database is not ready for this release.", None
            )
    if isinstance(error, OperationalError | InterfaceError):
        return _problem_for_now("unavailable", "The service's database cannot be reached.", None)
    return _unforeseen_problem()


def _problem_without_room() -> Problem:
    """Return the Problem 507 for a full disk or database."""
    return Problem(
        507, "insufficient_storage", "The service has no room left to store this. Nothing of it was kept."
    )


def problem_of_platform(error: errors.PlatformError) -> Problem:
    """Return the problem that a caller sees for a failure of the platform."""
    match error:
        case errors.RecordNotFound():
            return unknown_route()
        case errors.VersionMismatch():
            return Problem(412, "version_mismatch", "The record has changed since the version in If-Match.")
        case errors.DuplicateKey():
            return Problem(409, "duplicate_key", "A record with the same key exists.")
        case errors.PossibleDuplicate():
            return Problem(
                409,
                "possible_duplicate",
                "A record that looks the same exists. Use that one, or send other values.",
            )
        case errors.StateConflict():
            return Problem(
                409, "state_conflict", "The record's state, or what refers to it, does not allow this."
            )
        case errors.AccessDenied():
            return Problem(403, "platform_denied", "The platform does not allow this for you.")
        case errors.InvalidRecord() | errors.Refused():
            return Problem(422, "platform_refused", "The platform refused the data.")
        case errors.QueryRefused():
            # Readiness found nothing wrong with the endpoint: the studio's Run and Try it say what the
            # platform says.
            return Problem(
                502,
                "query_refused",
                "The platform refuses a query that this endpoint makes. Quote the requestId to those who run "
                "this.",
            )
        case errors.MetadataError() | errors.InvalidQuery() | errors.Unsupported():
            return misconfigured()
        case _:
            return _problem_of_platform_failure(error)


def _problem_of_platform_failure(error: errors.PlatformError) -> Problem:
    """Return the problem for a failure of the platform, which is not the caller's fault."""
    match error:
        case errors.Throttled():
            return _problem_for_now(
                "platform_throttled", f"The platform asks callers to slow down. {_LATER}", error.retry_after
            )
        case errors.AnswerLost():
            return _problem_for_now(
                "platform_unavailable",
                f"The connection to the platform ended before the answer. {_PERHAPS_WRITTEN}",
                error.retry_after,
            )
        case errors.Unavailable():
            return _problem_for_now(
                "platform_unavailable", f"{_why_unavailable(error)} {_LATER}", error.retry_after
            )
        case errors.MetadataLate():
            return _problem_of_late_reading(error)
        case errors.DeadlineExceeded():
            return Problem(
                504,
                "platform_timeout",
                f"The platform did not answer in time. {_PERHAPS_WRITTEN}",
            )
        case errors.OutOfSpace():
            return _problem_without_room()
        case errors.FileLost():
            return Problem(
                502, "file_lost", "The content of this file is missing on the platform. Send the file again."
            )
        case _:
            return _problem_of_wrong_answer(_why_wrong(error))


def _problem_of_late_reading(error: errors.DeadlineExceeded) -> Problem:
    """Return the Problem 504 for something that the platform did not give in time. Nothing was written."""
    late = "its metadata" if isinstance(error, errors.MetadataLate) else "an answer"
    return Problem(
        504, "platform_timeout", f"The platform did not give {late} in time. Try again in a minute."
    )


def _why_unavailable(error: errors.Unavailable) -> str:
    """Return what keeps the platform from taking a call, in a sentence."""
    match error:
        case errors.MetadataPending():
            return "The service is still fetching the platform's metadata, which this call needs."
        case errors.Unreachable():
            return "The service has no connection to the platform."
        case errors.Busy():
            return "Too many calls to the platform are under way."
        case _:
            return "The platform takes no calls at the moment."


def _problem_of_wrong_answer(why: str) -> Problem:
    return Problem(502, "platform_error", f"{why} Quote the requestId to those who run this.")


def _why_wrong(error: errors.PlatformError) -> str:
    """Return what is wrong with the platform's answer, in a sentence without names of privileges."""
    match error:
        case errors.MissingPrivilege():
            return "The platform does not allow the service what this call needs."
        case errors.SignInRefused():
            return "The platform does not let the service in."
        case errors.PlatformFault():
            return "Something went wrong in the platform."
        case _:
            return "The platform did not answer as it should."


def misconfigured() -> Problem:
    """Return the problem of an endpoint that cannot be served as it is configured. The studio names the
    mistake.
    """
    return Problem(
        503,
        "endpoint_misconfigured",
        "This endpoint's configuration has a mistake that the studio names.",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )


def _problem_for_now(code: str, detail: str, retry_after: float | None) -> Problem:
    """Return a Problem 503. `retry_after` is in seconds; None when nobody knows when it works again."""
    seconds = RETRY_SECONDS if retry_after is None else max(1, math.ceil(retry_after))
    return Problem(503, code, detail, headers={"Retry-After": str(seconds)})
