"""Requests that fail for the same reason, again and again: the log tells it once, and when it is over.

Which requests failed is told by the access log, by each one's `code`.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from django.db import DatabaseError, InterfaceError

from crmclient.errors import MissingPrivilege, PlatformError, PlatformFailure, QueryRefused
from crmclient.outages import Outage
from designer.platform_failures import failure_advice
from runtime.http.problems import Problem
from runtime.http.request_record import RequestRecord

logger = logging.getLogger("portico.failures")

# What a request fails by: the problem's code, the kind of error, and the endpoint where it is that one's own.
_Reason: TypeAlias = tuple[str, str, str]

# The beginning of the codes that are about the platform. An answer of the platform does not show that the
# database works, nor the other way round.
_OF_PLATFORM = "platform_"
# Codes of what is wrong with one endpoint, while others are answered.
_OF_ENDPOINT = frozenset({"endpoint_misconfigured", "query_refused"})
# Outages that are remembered. When there are more, the oldest is forgotten.
_MOST = 1_000


class Outages:
    """The outages of this process, one for each reason. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._outages: OrderedDict[_Reason, Outage] = OrderedDict()
        # The outages that are not over. They are looked at for each request that is answered.
        self._lasting: dict[_Reason, Outage] = {}

    def failed(
        self, error: Exception, problem: Problem, endpoint: str, log_fields: Mapping[str, Any]
    ) -> None:
        """Note that a request was answered with `problem`, which is not the caller's fault.

        Log it if an outage begins or a reminder is due. `log_fields` are further fields of the log line.
        """
        # A problem that our own code raised is the endpoint's: a later answer of another endpoint does not
        # show that it is over. Any other, such as a platform that is down, is shared by all endpoints.
        is_of_endpoint = isinstance(error, Problem) or problem.code in _OF_ENDPOINT
        kind = _kind(error)
        reason = problem.code, kind, endpoint if is_of_endpoint else ""
        outage = self._lasting_outage(reason)
        # The traceback of a foreseen error tells nothing.
        shown_error = None if isinstance(error, Problem | MissingPrivilege) else error
        is_first = outage.failed(shown_error, **{**log_fields, **_fields_of(error, endpoint)})
        if not is_first and problem.code == "internal_error":
            # A mistake of ours is logged each time, so that a caller's request id leads to what happened.
            logger.error("request failed as others did: %s", kind, extra={**log_fields})

    def _lasting_outage(self, reason: _Reason) -> Outage:
        """Return the outage of a reason, which lasts from now on. The oldest one is forgotten when there are
        too many.
        """
        with self._lock:
            outage = self._outages.get(reason)
            if outage is None:
                outage = self._outages[reason] = _new_outage(reason)
                if len(self._outages) > _MOST:
                    removed, _ = self._outages.popitem(last=False)
                    self._lasting.pop(removed, None)
            self._lasting[reason] = outage
        return outage

    def answered(self, records: Iterable[RequestRecord]) -> None:
        """End the outages of everything that these requests prove to work."""
        if self._lasting:
            for record in records:
                if record.status < 500:
                    self._end_disproved(record)

    def _end_disproved(self, record: RequestRecord) -> None:
        """End the outages that a request which was answered disproves."""
        for reason, outage in list(self._lasting.items()):
            code, _kind_of_error, endpoint = reason
            if endpoint:
                is_disproved = record.endpoint == endpoint
            else:
                asked_platform = record.calls > 0 and not record.code
                is_disproved = asked_platform or not _is_of_platform(code)
            if is_disproved:
                outage.worked(code=code, **({"endpoint": endpoint} if endpoint else {}))
                # It ends only once nothing has failed for a while.
                if not outage.lasts:
                    with self._lock:
                        self._lasting.pop(reason, None)

    def forget(self) -> None:
        """Forget all outages, so that the next failure is logged as the first one."""
        with self._lock:
            self._outages.clear()
            self._lasting.clear()


def _kind(error: Exception) -> str:
    """Return a text that tells apart errors with the same problem code."""
    name = type(error).__name__
    if isinstance(error, MissingPrivilege):
        return f"{name} {error.privilege}"
    if isinstance(error, PlatformError | Problem | DatabaseError | InterfaceError):
        return name
    places = traceback.extract_tb(error.__traceback__)
    return f"{name} at {places[-1].filename}:{places[-1].lineno}" if places else name


def _fields_of(error: Exception, endpoint: str) -> dict[str, Any]:
    """Return the fields of the log line that say where a request failed, and what the platform said."""
    fields: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
    if isinstance(error, MissingPrivilege):
        fields["privilege"] = error.privilege
    if isinstance(error, PlatformFailure) and (advice := failure_advice(error)):
        fields["advice"] = str(advice)
    if isinstance(error, QueryRefused):
        fields["platform_code"] = error.code
    return fields


def _new_outage(reason: _Reason) -> Outage:
    """Return the outage of a reason, with the lines that the log gets about it."""
    return Outage(
        logger,
        "request failed",
        "requests of this kind do not fail any more",
        still="requests still fail",
        name=" ".join(reason),
        level=logging.ERROR,
    )


def _is_of_platform(code: str) -> bool:
    """Whether a problem code is about the platform."""
    return code.startswith(_OF_PLATFORM)


outages = Outages()
