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

# How long calls that were tried for real are kept: longer than a form of *Try it* can be sent.
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
        Expiring("Idempotency keys", _remover_of(_expired_idempotency_records, "expires")),
        # Tokens live equally long: the oldest come first in the order of their ids.
        Expiring("Refresh tokens", _remover_of(_expired_tokens, "pk")),
        Expiring("Families of refresh tokens", _remover_of(_expired_families, "expires_at")),
        Expiring("Studio sessions", _remover_of(_expired_sessions, "expire_date")),
        Expiring("Failed logins", _remover_of(_expired_failed_logins, "last_at")),
        Expiring("Known networks", _remover_of(_expired_known_networks, "last_at")),
        Expiring("Refused callers", _remover_of(_expired_refusals, "day")),
        Expiring("Calls by hour", _remover_of(_expired_calls, "hour")),
        Expiring("Calls tried for real", _remover_of(_expired_tried_calls, "made_at")),
        Expiring("Audit entries", _remove_audit_entries),
        Expiring("History of accounts and groups", _remover_of(_expired_history, "pk")),
        Expiring("Deleted records of the CRM in the box", forget_old),
        # Few at a time: with each, all of its bytes are removed.
        Expiring("Uploads broken off", lambda most: forget_abandoned(min(most, 20))),
    )


def _remover_of(expired: Callable[[dt.datetime], QuerySet[Any]], oldest: str) -> Callable[[int], int]:
    """Return a function that removes at most so many expired rows, the oldest first, and returns their
    number. `oldest` is the field that rows are ordered by.
    """

    def remove(most: int) -> int:
        rows = expired(dt.datetime.now(dt.UTC))
        # Django cannot delete a part of a query, so the keys are read first.
        keys = list(rows.order_by(oldest).values_list("pk", flat=True)[:most])
        # By this manager, which leaves no row out, whatever the model's own one does.
        rows.model._base_manager.filter(pk__in=keys).delete()
        return len(keys)

    return remove


def _expired_idempotency_records(now: dt.datetime) -> QuerySet[Any]:
    return IdempotencyRecord.objects.filter(expires__lt=now)


def _expired_tokens(now: dt.datetime) -> QuerySet[Any]:
    return OutstandingToken.objects.filter(expires_at__lt=now)


def _expired_families(now: dt.datetime) -> QuerySet[Any]:
    return TokenFamily.objects.filter(expires_at__lt=now)


def _expired_sessions(now: dt.datetime) -> QuerySet[Any]:
    return Session.objects.filter(expire_date__lt=now)


def _expired_failed_logins(now: dt.datetime) -> QuerySet[Any]:
    # An hour more than a lock-out lasts, so that none ends early.
    return FailedLogins.objects.filter(last_at__lt=now - COOL_OFF - dt.timedelta(hours=1))


def _expired_known_networks(now: dt.datetime) -> QuerySet[Any]:
    return KnownNetwork.objects.filter(last_at__lt=now - REMEMBERED)


def _expired_calls(now: dt.datetime) -> QuerySet[Any]:
    """Return the expired counts of calls. The newest of each endpoint never expires."""
    newer = EndpointCalls.objects.filter(endpoint=OuterRef("endpoint"), hour__gt=OuterRef("hour"))
    return EndpointCalls.objects.filter(Exists(newer), hour__lt=now - USAGE_KEPT)


def _expired_tried_calls(now: dt.datetime) -> QuerySet[Any]:
    return TriedCall.objects.filter(made_at__lt=now - _TRIED_KEPT)


def _expired_refusals(now: dt.datetime) -> QuerySet[Any]:
    return RefusalCount.objects.filter(day__lt=now.date() - REFUSALS_KEPT)


def _remove_audit_entries(most: int) -> int:
    """Remove at most so many expired audit entries. Return their number; 0 where the database still keeps
    them.
    """
    try:
        with transaction.atomic():
            return _remover_of(_expired_audit_entries, "at")(most)
    except IntegrityError:
        logger.warning(
            "The database keeps audit entries for longer than AUDIT_DAYS says. Run `manage.py prepare`."
        )
        return 0


def _expired_audit_entries(now: dt.datetime) -> QuerySet[Any]:
    """Return the expired entries of the audit log; none when they are kept for ever."""
    days = settings.PORTICO["AUDIT_DAYS"]
    if not days:
        return AuditEntry.objects.none()
    return AuditEntry.objects.filter(at__lt=now - dt.timedelta(days=days) - _CLOCKS_DIFFER)


def _expired_history(now: dt.datetime) -> QuerySet[Any]:
    """Return the expired rows of the admin's own history. The audit log has the same changes in more
    detail.
    """
    days = settings.PORTICO["AUDIT_DAYS"]
    if not days:
        return LogEntry.objects.none()
    return LogEntry.objects.filter(action_time__lt=now - dt.timedelta(days=days))
