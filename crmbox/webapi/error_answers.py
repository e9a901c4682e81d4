"""An answer to every request: what goes wrong becomes an error in Dataverse's shape."""

from __future__ import annotations

import logging
from collections.abc import Callable

from crmbox.webapi.error_codes import UNEXPECTED, as_web_api_error
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.request import Response, error_response
from crmclient.errors import PlatformError

log = logging.getLogger(__name__)


def guarded(handle: Callable[[], Response]) -> Response:
    """Return the answer of `handle`, or the answer for the error that it raises."""
    try:
        return handle()
    except WebApiError as error:
        return error_response(error)
    except PlatformError as error:
        return error_response(as_web_api_error(error))
    except Exception:
        log.exception("A request to the CRM server failed.")
        status, code = UNEXPECTED
        return error_response(WebApiError(status, code, "An unexpected error occurred."))
