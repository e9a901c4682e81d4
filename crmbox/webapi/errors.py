"""An answer that says no, in Dataverse's shape.

{"error": {"code": "0x80040217", "message": "account With Id = … Does Not Exist"}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BAD_URL = "0x80060888"
NO_RESOURCE = "0x8006088a"
BAD_PAYLOAD = "0x80048d19"
INVALID_ARGUMENT = "0x80040203"


class WebApiError(Exception):
    """A request is answered with an error.

    `details` (of the OData standard) lists every wrong value with its code, target and message.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        details: Sequence[Mapping[str, str]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.details = tuple(details)

    @property
    def body(self) -> dict[str, Any]:
        """The body of the answer, in Dataverse's shape."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            error["details"] = list(self.details)
        return {"error": error}


def bad_url(message: str) -> WebApiError:
    """Return the error for a path or query option that is wrong."""
    return WebApiError(400, BAD_URL, message)


def bad_payload(message: str) -> WebApiError:
    """Return the error for a body that is wrong."""
    return WebApiError(400, BAD_PAYLOAD, message)


def invalid_argument(message: str) -> WebApiError:
    return WebApiError(400, INVALID_ARGUMENT, message)


def no_resource(segment: str) -> WebApiError:
    return WebApiError(404, NO_RESOURCE, f"Resource not found for the segment '{segment}'.")


def unsupported(feature: str) -> WebApiError:
    """Return a 501 that names the feature asked for."""
    return WebApiError(501, "0x80040228", f"This server does not support {feature}.")
