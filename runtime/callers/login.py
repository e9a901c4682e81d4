"""Checking a password, with the lock-out after failures."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from rest_framework.request import Request

from crmclient.durations import duration
from runtime.callers.failed_logins import Wait
from runtime.callers.own_tokens import reachable_accounts
from runtime.callers.refusals import RefusedCaller


def log_in(request: Request, username: str, password: str) -> User:
    """Return the user of an API account whose name and password are right.

    Raises Problem 401 `invalid_credentials`, the same for an unknown name, a wrong password, a closed account
    and an account of the studio; 429 `locked_out` after too many failures of one name from one network, or of
    that network with any names; 429 `slowed_down` when many networks have failed with that name.
    """
    user = authenticate(request, username=username, password=password)
    if user is not None and not reachable_accounts().filter(user=user).exists():
        # Count this as a failure, too. Otherwise it would never lock out, which would reveal a right
        # password.
        user_login_failed.send(__name__, credentials={"username": username}, request=request)
        user = None
    if user is None:
        # The login's guard, which axes calls, counts the failure and leaves here the wait, if there is one.
        wait: Wait | None = getattr(request, "login_wait", None)
        raise _wrong_credentials() if wait is None else waiting(wait)
    user_logged_in.send(User, request=request, user=user)
    return user


def _wrong_credentials() -> RefusedCaller:
    """Return the refusal 401 for a wrong name or password. It is the same for both."""
    return RefusedCaller(
        401,
        "invalid_credentials",
        "No API account has this user name and password.",
        "wrong_credentials",
        **{"WWW-Authenticate": "Bearer"},
    )


def waiting(wait: Wait) -> RefusedCaller:
    """Return the refusal of a caller who has to wait before the next try."""
    return RefusedCaller(
        429,
        wait.reason,
        f"Too many failed logins. Try again in {duration(wait.seconds)}.",
        wait.reason,
        **{"Retry-After": str(wait.seconds)},
    )
