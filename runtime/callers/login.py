"""Checking a password, with the lock-out after failures."""

from __future__ import annotations

import math

from axes.helpers import get_cool_off
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from rest_framework.request import Request

from runtime.callers.local import reachable_accounts
from runtime.http.problems import Problem


def log_in(request: Request, username: str, password: str) -> User:
    """The user of an API account.

    Raises Problem 401 `invalid_credentials`, the same for an unknown name, a wrong password, a closed
    account and one of the studio; 429 `locked_out` after too many of them for one name from one address.
    """
    user = authenticate(request, username=username, password=password)
    if user is not None and not reachable_accounts().filter(user=user).exists():
        # A right password that counted for nothing would tell itself from a wrong one by not locking out.
        user_login_failed.send(__name__, credentials={"username": username}, request=request)
        user = None
    if user is None:
        raise _locked_out(request) if getattr(request, "axes_locked_out", False) else _wrong_credentials()
    user_logged_in.send(User, request=request, user=user)
    return user


def _wrong_credentials() -> Problem:
    return Problem(
        401,
        "invalid_credentials",
        "No API account has this user name and password.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def _locked_out(request: Request) -> Problem:
    cool_off = get_cool_off(request)
    return Problem(
        429,
        "locked_out",
        "Too many failed logins with this user name from this address. Wait before the next one.",
        headers={} if cool_off is None else {"Retry-After": str(math.ceil(cool_off.total_seconds()))},
    )
