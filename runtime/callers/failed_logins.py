"""How often logging in has failed, and who has to wait therefore.

Three counts, each a row of its own. One account from one network: at its limit that network is locked out of
that account. One network, whatever the account: at its limit it is locked out of all. One account, from
anywhere: beyond its limit every network has to wait a while before each try, longer and longer. That one
never locks, and it spares networks that have logged in to the account lately: whoever sends wrong passwords
must not keep its owner out.

The rows are in the database, so that the counts hold in every process, with and without Redis. Names that
belong to no account are counted like the others: nobody learns from an answer which ones do.
"""

from __future__ import annotations

import datetime as dt
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

logger = logging.getLogger("portico.logins")

# How long a lock lasts; a count without a failure for as long begins anew.
COOL_OFF: dt.timedelta = settings.AXES_COOLOFF_TIME
# How long a network is spared after it has logged in.
REMEMBERED = dt.timedelta(days=30)

# Multiples of LOGIN_FAILURES, which is the limit of one account from one network.
_OF_AN_ACCOUNT, _OF_A_NETWORK = 2, 3
# Seconds.
_LONGEST_WAIT = 60
# Characters of a name; a longer one is cut.
_LONGEST_NAME = 254

# The login itself is written once a day for each network: its date decides, and a write costs a login much.
_FRESH = dt.timedelta(days=1)


class FailedLogins(models.Model):
    """Failed logins to `account` from `network`. Empty stands for every account, or every network."""

    account = models.CharField(_("account"), max_length=_LONGEST_NAME, blank=True)
    network = models.CharField(_("network"), max_length=49, blank=True)
    failures = models.PositiveIntegerField(_("failures"), default=0)
    since = models.DateTimeField(_("since"))
    last_at = models.DateTimeField(_("last failure"), db_index=True)
    refused_until = models.DateTimeField(_("refused until"), null=True, blank=True)

    class Meta:
        verbose_name = _("failed logins")
        verbose_name_plural = _("failed logins")
        ordering = ("-last_at",)
        constraints = (models.UniqueConstraint(fields=("account", "network"), name="failed_logins_of"),)
        default_permissions = ("view", "delete")

    def __str__(self) -> str:
        return " @ ".join(part for part in (self.account, self.network) if part)

    @property
    def slows_down(self) -> bool:
        """Whether this row counts an account, and with so many failures that every network has to wait for
        it.
        """
        scope = _scope(self.account, self.network)
        return scope == "account" and self.failures >= _limits(_limit())[scope]


class KnownNetwork(models.Model):
    """A network from which somebody has logged in to the account of `user`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    network = models.CharField(max_length=49)
    last_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = _("known network")
        verbose_name_plural = _("known networks")
        constraints = (models.UniqueConstraint(fields=("user", "network"), name="known_network_of"),)
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user} @ {self.network}"


@dataclass(frozen=True, slots=True)
class Wait:
    """The reason why a login is not even tried, and the seconds to wait before the next try."""

    reason: Literal["locked_out", "slowed_down"]
    seconds: int


def claim_try(account: str, network: str) -> Wait | None:
    """Claim one try of a login to `account` from `network`. Return the wait if it may not be tried now, else
    None.

    This may begin a wait, and it uses up one that is over: another try has to wait again.
    """
    limit = _limit()
    if not limit:
        return None
    now = dt.datetime.now(dt.UTC)
    account = account[:_LONGEST_NAME]
    rows = {
        (row.account, row.network): row
        for row in FailedLogins.objects.filter(_rows_counting(account, network))
    }
    # A row of the network or of the pair is refused: the network is locked out of all accounts or of this
    # one, or waits for this one.
    for key in (("", network), (account, network)):
        row = rows.get(key)
        if row is not None and row.refused_until is not None and row.refused_until > now:
            reason = "locked_out" if row.failures >= _limits(limit)[_scope(*key)] else "slowed_down"
            return Wait(reason, _whole_seconds(row.refused_until - now))  # type: ignore[arg-type]  # one of both
    account_row = rows.get((account, ""))
    if account_row is None or not account_row.slows_down or now - account_row.last_at >= COOL_OFF:
        return None
    if _is_known(account, network, now):
        return None
    excess = account_row.failures - _limits(limit)["account"]
    return _claim_try_after_wait(rows.get((account, network)), account, network, excess, now)


def count_failure(account: str, network: str, *, of_account: bool = True) -> Wait | None:
    """Count a failed login. Return the wait that it causes; None without one.

    With `of_account`, also count it for the account from all networks together. API keys do not need that:
    they cannot be guessed from many networks.
    """
    limit = _limit()
    if not limit:
        return None
    account = account[:_LONGEST_NAME]
    now = dt.datetime.now(dt.UTC)
    locked = False
    with transaction.atomic():
        # In one order, so that two failures at once never wait for each other.
        account_keys = {(account, "")} if of_account else set()
        for key in sorted({("", network), (account, network), *account_keys}):
            locked |= _add_failure(*key, now)
    return Wait("locked_out", _whole_seconds(COOL_OFF)) if locked else None


def forgive(user: User, network: str) -> None:
    """Note a successful login: forget the failures of this account from this network, and remember the
    network.
    """
    now = dt.datetime.now(dt.UTC)
    forgive_pair(user.get_username(), network)
    rows = KnownNetwork.objects.filter(user=user, network=network)
    last_at = rows.values_list("last_at", flat=True).first()
    if last_at is None:
        KnownNetwork.objects.bulk_create(
            [KnownNetwork(user=user, network=network, last_at=now)], ignore_conflicts=True
        )
    elif now - last_at >= _FRESH:
        rows.update(last_at=now)


def forgive_pair(account: str, network: str) -> None:
    """Forget the failures of one account from one network."""
    FailedLogins.objects.filter(account=account[:_LONGEST_NAME], network=network).delete()


def _add_failure(account: str, network: str, now: dt.datetime) -> bool:
    """Add one failure to the row of an account and network. Return whether that locks logins."""
    row = _row_for_update(account, network, now)
    scope = _scope(account, network)
    # A network is many people: failures that trickle in over a day must not add up to a lock.
    begun = row.since if scope == "network" else row.last_at
    is_over = row.refused_until is not None and row.refused_until <= now
    if (is_over and row.failures >= _limits(_limit())[scope]) or now - begun >= COOL_OFF:
        row.failures, row.since = 0, now
    row.failures, row.last_at = row.failures + 1, now
    row.refused_until = None
    locks = scope != "account" and row.failures >= _limits(_limit())[scope]
    if locks:
        row.refused_until = now + COOL_OFF
        logger.warning("logins are locked out", extra={"scope": scope, "failures": row.failures})
    row.save()
    return locks


def _row_for_update(account: str, network: str, now: dt.datetime) -> FailedLogins:
    """Return the row of an account and network, locked until the transaction ends. It is created if there is
    none.
    """
    rows = FailedLogins.objects.filter(account=account, network=network)
    row = rows.select_for_update().first()
    if row is not None:
        return row
    try:
        with transaction.atomic():
            return FailedLogins.objects.create(account=account, network=network, since=now, last_at=now)
    except IntegrityError:
        # Another process was first.
        return rows.select_for_update().get()


def _claim_try_after_wait(
    row: FailedLogins | None, account: str, network: str, excess: int, now: dt.datetime
) -> Wait | None:
    """Begin the wait of a network for this account, and return it; None when the network has waited and may
    try once.

    `row` has the failures from this network, and the end of its wait. `excess` is by how much the failures of
    the account, from all networks, exceed its limit: each doubles the wait.
    Each network waits by itself, so that an attacker with many networks cannot take the turn of others.
    """
    if row is not None and row.refused_until is not None:
        # The network has waited. Of several requests, only one may use that.
        waited = FailedLogins.objects.filter(pk=row.pk, refused_until=row.refused_until)
        if waited.update(refused_until=None):
            return None
    # The inner bound only keeps the power small.
    seconds = min(2 ** min(excess + 1, 10), _LONGEST_WAIT)
    until = now + dt.timedelta(seconds=seconds)
    FailedLogins.objects.bulk_create(
        [FailedLogins(account=account, network=network, since=now, last_at=now)], ignore_conflicts=True
    )
    # A wait that another request has begun meanwhile stays as it is.
    FailedLogins.objects.filter(account=account, network=network, refused_until=None).update(
        refused_until=until
    )
    return Wait("slowed_down", seconds)


def _is_known(account: str, network: str, now: dt.datetime) -> bool:
    """Whether somebody has logged in to the account from the network within the last 30 days."""
    return KnownNetwork.objects.filter(
        user__username=account, network=network, last_at__gt=now - REMEMBERED
    ).exists()


def _rows_counting(account: str, network: str) -> Q:
    """Return the filter for the three rows that count a login: of the pair, of the network and of the
    account.
    """
    return Q(account__in=("", account), network=network) | Q(account=account, network="")


def _scope(account: str, network: str) -> Literal["account", "network", "pair"]:
    """Return what a row counts: one account from every network, one network for every account, or the pair.
    An empty name stands for every.
    """
    if account and network:
        return "pair"
    return "account" if account else "network"


def _limit() -> int:
    limit: int = settings.AXES_FAILURE_LIMIT
    return limit


def _limits(limit: int) -> Mapping[str, int]:
    """Return the number of failures by scope at which logins are locked or slowed down."""
    return {"pair": limit, "account": _OF_AN_ACCOUNT * limit, "network": _OF_A_NETWORK * limit}


def _whole_seconds(time: dt.timedelta) -> int:
    """Return a time in whole seconds, at least one."""
    return max(1, math.ceil(time.total_seconds()))
