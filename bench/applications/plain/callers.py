"""From the Authorization header to a caller: a verified token is kept for a minute, `exp` always checked."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

from django.db import connection
from django.http import HttpRequest

from bench.applications.plain.answers import Refusal
from bench.applications.tokens import InvalidToken, verify

KEPT_SECONDS = 60
MOST_KEPT = 10_000
ROLES_OF_ACCOUNT = """
    SELECT g.name FROM auth_user u
    JOIN auth_user_groups m ON m.user_id = u.id
    JOIN auth_group g ON g.id = m.group_id
    WHERE u.id = %s AND u.is_active
"""


@dataclass(frozen=True, slots=True)
class Caller:
    account: int
    roles: frozenset[str]
    token_ends: float
    kept_until: float


_kept: dict[bytes, Caller] = {}


def caller_of(request: HttpRequest) -> Caller | None:
    """None without a token; a wrong one is refused."""
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    digest = hashlib.sha256(header.encode()).digest()
    now = time.time()
    caller = _kept.get(digest)
    if caller is None or caller.kept_until <= now:
        caller = _look_up(header, now)
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[digest] = caller
    if caller.token_ends <= now:
        raise Refusal(401, "invalid_token", "The token has expired.")
    return caller


def _look_up(header: str, now: float) -> Caller:
    try:
        verified = verify(header)
    except InvalidToken as error:
        raise Refusal(401, "invalid_token", "The token is not valid.") from error
    with connection.cursor() as cursor:
        cursor.execute(ROLES_OF_ACCOUNT, [verified.account])
        roles = frozenset(name for (name,) in cursor.fetchall())
    return Caller(verified.account, roles, verified.ends, now + KEPT_SECONDS)
