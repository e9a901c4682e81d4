"""Which status and code of Dataverse an error of `crmclient.errors` becomes: the one table.

A client maps them back. `InvalidRecord` takes the code of its first problem, and lists all of them under
`details`, each with `crmclient`'s own code (`too_long`, …), the attribute, and the message.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from crmbox.records.statements import DuplicateId
from crmbox.webapi.errors import BAD_PAYLOAD, WebApiError
from crmclient import errors

DUPLICATE_ID: Final = "0x80040237"

CODES: Final[dict[type[errors.PlatformError], tuple[int, str]]] = {
    errors.UnknownEntity: (404, "0x8006088a"),
    errors.UnknownOptionSet: (404, "0x80044100"),
    errors.UnknownProcess: (404, "0x8006088a"),
    errors.UnknownRelationship: (404, "0x8006088a"),
    errors.InvalidDefinition: (400, "0x80044363"),
    errors.InvalidQuery: (400, "0x80041103"),
    errors.RecordNotFound: (404, "0x80040217"),
    DuplicateId: (412, DUPLICATE_ID),
    errors.DuplicateKey: (412, "0x80060892"),
    errors.PossibleDuplicate: (412, "0x80040333"),
    errors.StateConflict: (405, "0x80040227"),
    errors.VersionMismatch: (412, "0x80060882"),
    errors.AccessDenied: (403, "0x80040220"),
    errors.Refused: (400, "0x80040265"),
    errors.Throttled: (429, "0x80072322"),
    errors.Unavailable: (503, "0x80044150"),
    errors.DeadlineExceeded: (503, "0x80044151"),
    errors.UnexpectedAnswer: (500, "0x80040216"),
}

PROBLEM_CODES: Final[dict[type[errors.InvalidValue], str]] = {
    errors.UnknownAttribute: BAD_PAYLOAD,
    errors.ReadOnlyAttribute: "0x80040224",
    errors.MissingRequired: "0x80040200",
    errors.WrongType: BAD_PAYLOAD,
    errors.TooLong: "0x80044331",
    errors.OutOfRange: "0x80044330",
    errors.UnknownOption: "0x8004431a",
    errors.UnknownTarget: "0x80040217",
}

UNEXPECTED: Final = (500, "0x80040216")


def as_web_api_error(error: errors.PlatformError) -> WebApiError:
    """Return the answer to an error, with Dataverse's own message where it is known."""
    if isinstance(error, errors.InvalidRecord):
        return _invalid_record(error)
    status, code = next(
        (CODES[error_type] for error_type in type(error).__mro__ if error_type in CODES), UNEXPECTED
    )
    message = str(error)
    headers: dict[str, str] = {}
    if isinstance(error, errors.RecordNotFound):
        message = f"{error.entity} With Id = {error.id} Does Not Exist"
    elif isinstance(error, errors.VersionMismatch):
        message = "The version of the existing record doesn't match the RowVersion property provided."
    elif isinstance(error, errors.DuplicateKey):
        message = (
            f"A record with matching key values already exists. Entity: {error.entity}, Key: {error.key}"
        )
    if isinstance(error, errors.PlatformFailure) and error.retry_after is not None:
        headers["Retry-After"] = str(max(1, ceil(error.retry_after)))
    return WebApiError(status, code, message, headers=headers)


def _invalid_record(error: errors.InvalidRecord) -> WebApiError:
    """Return the error for refused values, in Dataverse's words: the first in the message, all in the
    details.
    """
    first = error.problems[0]
    details = [
        {"code": problem.code, "target": problem.attribute, "message": problem.message}
        for problem in error.problems
    ]
    if isinstance(first, errors.UnknownTarget):
        return WebApiError(404, PROBLEM_CODES[errors.UnknownTarget], first.message, details=details)
    code = next(
        PROBLEM_CODES[problem_type] for problem_type in type(first).__mro__ if problem_type in PROBLEM_CODES
    )
    message = (
        f"A validation error occurred. The value of '{first.attribute}' on record of type "
        f"'{error.entity}' is not valid: {first.message}"
    )
    return WebApiError(400, code, message, details=details)
