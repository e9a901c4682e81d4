"""What django-axes asks before and tells after each login, of the API and of the studio alike.

Axes sees to it that nobody logs in past it. Its own handlers count with one limit for everything, log names,
and know neither networks nor slowing down.
"""

from __future__ import annotations

from typing import Any

from axes.handlers.base import AbstractAxesHandler, AxesBaseHandler
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest

from runtime.callers.failed_logins import FailedLogins, claim_try, count_failure, forgive
from runtime.http.addresses import client_address, network


class LoginGuard(AbstractAxesHandler, AxesBaseHandler):  # type: ignore[misc]  # axes is not typed
    """Counts failed logins, and refuses those that have to wait.

    After a refusal, `request.login_wait` has the reason and the seconds to wait.
    """

    def is_allowed(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        """Whether a login may be tried now. It claims the try."""
        wait = claim_try(_account(credentials), _network(request))
        request.login_wait = wait  # type: ignore[attr-defined]
        return wait is None

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **signal: Any
    ) -> None:
        """Count a failed login, unless it was refused without being tried. `login_wait` says how long to wait
        then.
        """
        if request is None:
            return
        wait = getattr(request, "login_wait", None)
        # What was not tried has not failed: knocking at a lock does not prolong it.
        if wait is None:
            wait = count_failure(_account(credentials), _network(request))
        request.login_wait = wait  # type: ignore[attr-defined]
        request.axes_locked_out = wait is not None  # type: ignore[attr-defined]

    def user_logged_in(self, sender: Any, request: HttpRequest | None, user: User, **signal: Any) -> None:
        """Note a successful login."""
        if request is not None:
            forgive(user, _network(request))

    def user_logged_out(self, sender: Any, request: HttpRequest | None, user: User, **signal: Any) -> None:
        """Do nothing: a logout is not counted."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Return 0: `is_allowed` decides, and not a limit of axes."""
        return 0

    def reset_attempts(
        self, *, ip_address: str | None = None, username: str | None = None, ip_or_username: bool = False
    ) -> int:
        """Forget failures of an account, of an address's network, or of both together. Return the number of
        rows removed.
        """
        conditions = []
        if username:
            conditions.append(Q(account=username))
        if ip_address:
            conditions.append(Q(network=network(ip_address)))
        condition = Q()
        for criterion in conditions:
            condition = condition | criterion if ip_or_username else condition & criterion
        count, _ = FailedLogins.objects.filter(condition).delete()
        return count


def _account(credentials: dict[str, Any] | None) -> str:
    return str((credentials or {}).get("username") or "")


def _network(request: HttpRequest) -> str:
    return network(client_address(request))
