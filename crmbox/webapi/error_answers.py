"""An answer to every request: what goes wrong becomes an error in Dataverse's shape."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from crmbox.engine.dialects import dialect_of
from crmbox.engine.failures import as_platform_error
from crmbox.webapi.error_codes import UNEXPECTED, as_web_api_error
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.request import Response, error_response
from crmclient.errors import PlatformError

log = logging.getLogger(__name__)


def guarded(handle: Callable[[], Response]) -> Response:
    """Return the answer of `handle`, or the answer for the error that it raises."""
    try:
        return _with_platform_errors(handle)
    except WebApiError as error:
        return error_response(error)
    except PlatformError as error:
        return error_response(as_web_api_error(error))
    except Exception:
        log.exception("A request to the CRM server failed.")
        status, code = UNEXPECTED
        return error_response(WebApiError(status, code, "An unexpected error occurred."))


def _with_platform_errors(handle: Callable[[], Response]) -> Response:
    """Return the answer of `handle`. The database's own errors are raised as those of the platform.

    Where several writes share a transaction, Django begins and ends it, and what goes wrong then comes as
    Django's error.
    """
    try:
        return handle()
    except (DatabaseError, InterfaceError) as error:
        dialect = dialect_of(connections[DEFAULT_DB_ALIAS].vendor)
        raise as_platform_error(error, dialect) from error
