"""The kinds of rows that expire: their names, when they expire, and how some are removed."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from crmbox.files.registry import forget_abandoned
from crmbox.records.deletions import forget_old
from designer.models import AuditEntry, EndpointCalls, TriedCall
from runtime.callers.failed_logins import COOL_OFF, REMEMBERED
from runtime.callers.refusal_counts import KEPT as REFUSALS_KEPT
from runtime.models import FailedLogins, IdempotencyRecord, KnownNetwork, RefusalCount, TokenFamily
from runtime.serving.usage import KEPT as USAGE_KEPT

logger = logging.getLogger("portico.tidying")

# Longer than a form of *Try it* is good for.
_TRIED_KEPT = dt.timedelta(hours=1)
# The database measures the age of audit entries by a clock of its own.
_CLOCKS_DIFFER = dt.timedelta(hours=1)


class Expiring(NamedTuple):
    """One kind of row that expires. `remove` removes at most the given number of rows, and returns how many
    it removed.
    """

    name: str
    remove: Callable[[int], int]


def kinds() -> tuple[Expiring, ...]:
    """Return every kind of row that expires. `docs/operations.md` has the same list."""
    return (
        Expiring("Idempotency keys", _rows(_idempotency, "expires")),
        # Tokens live equally long: the oldest come first in the order of their ids.
        Expiring("Refresh tokens", _rows(_tokens, "pk")),
        Expiring("Families of refresh tokens", _rows(_families, "expires_at")),
        Expiring("Studio sessions", _rows(_sessions, "expire_date")),
        Expiring("Failed logins", _rows(_failed_logins, "last_at")),
        Expiring("Known networks", _rows(_known_networks, "last_at")),
        Expiring("Refused callers", _rows(_refusals, "day")),
        Expiring("Calls by hour", _rows(_calls, "hour")),
        Expiring("Calls tried for real", _rows(_tried, "made_at")),
        Expiring("Audit entries", _audit_entries),
        Expiring("History of accounts and groups", _rows(_history, "pk")),
        Expiring("Deleted records of the CRM in the box", forget_old),
        Expiring("Uploads broken off", lambda most: forget_abandoned(min(most, 20))),
    )


def _rows(expired: Callable[[dt.datetime], QuerySet[Any]], oldest: str) -> Callable[[int], int]:
    """Return a function that removes at most so many expired rows, the oldest first, and returns their
    number.
    """

    def remove(most: int) -> int:
        rows = expired(dt.datetime.now(dt.UTC))
        keys = list(rows.order_by(oldest).values_list("pk", flat=True)[:most])
        rows.model._base_manager.filter(pk__in=keys).delete()
        return len(keys)

    return remove


def _idempotency(now: dt.datetime) -> QuerySet[Any]:
    return IdempotencyRecord.objects.filter(expires__lt=now)


def _tokens(now: dt.datetime) -> QuerySet[Any]:
    return OutstandingToken.objects.filter(expires_at__lt=now)


def _families(now: dt.datetime) -> QuerySet[Any]:
    return TokenFamily.objects.filter(expires_at__lt=now)


def _sessions(now: dt.datetime) -> QuerySet[Any]:
    return Session.objects.filter(expire_date__lt=now)


def _failed_logins(now: dt.datetime) -> QuerySet[Any]:
    # An hour more than a lock-out lasts, so that none ends early.
    return FailedLogins.objects.filter(last_at__lt=now - COOL_OFF - dt.timedelta(hours=1))


def _known_networks(now: dt.datetime) -> QuerySet[Any]:
    return KnownNetwork.objects.filter(last_at__lt=now - REMEMBERED)


def _calls(now: dt.datetime) -> QuerySet[Any]:
    newer = EndpointCalls.objects.filter(endpoint=OuterRef("endpoint"), hour__gt=OuterRef("hour"))
    return EndpointCalls.objects.filter(Exists(newer), hour__lt=now - USAGE_KEPT)


def _tried(now: dt.datetime) -> QuerySet[Any]:
    return TriedCall.objects.filter(made_at__lt=now - _TRIED_KEPT)


def _refusals(now: dt.datetime) -> QuerySet[Any]:
    return RefusalCount.objects.filter(day__lt=now.date() - REFUSALS_KEPT)


def _audit_entries(most: int) -> int:
    try:
        with transaction.atomic():
            return _rows(_audit, "at")(most)
    except IntegrityError:
        logger.warning(
            "The database keeps audit entries for longer than AUDIT_DAYS says. Run `manage.py prepare`."
        )
        return 0


def _audit(now: dt.datetime) -> QuerySet[Any]:
    days = settings.PORTICO["AUDIT_DAYS"]
    if not days:
        return AuditEntry.objects.none()
    return AuditEntry.objects.filter(at__lt=now - dt.timedelta(days=days) - _CLOCKS_DIFFER)


def _history(now: dt.datetime) -> QuerySet[Any]:
    """Return the expired rows of the admin's own history. The audit log has the same changes in more
    detail.
    """
    days = settings.PORTICO["AUDIT_DAYS"]
    if not days:
        return LogEntry.objects.none()
    return LogEntry.objects.filter(action_time__lt=now - dt.timedelta(days=days))
