"""Sign-ins that a browser has begun and not finished, in its session."""

from __future__ import annotations

import secrets
import time
from dataclasses import asdict, dataclass

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase

# Seconds: long enough to look for a phone.
LONGEST = 600
_KEY = "pending_sign_ins"
# Tabs, each with a sign-in of its own.
_MOST = 5


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """What the browser must come back with (`state`), what the ID token must repeat (`nonce`), what the
    code is exchanged with (`verifier`), and where the browser was going.
    """

    state: str
    nonce: str
    verifier: str
    next: str
    began: float


def keep(session: SessionBase, target: str) -> PendingSignIn:
    """Begin a sign-in that leads to `target`, a path of this site."""
    made = PendingSignIn(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        next=target,
        began=time.time(),
    )
    known = [each for each in session.get(_KEY, []) if _is_young(each)]
    session[_KEY] = [*known[1 - _MOST :], asdict(made)]
    if SESSION_KEY not in session:
        # Nobody is logged in: nothing else is worth keeping.
        session.set_expiry(LONGEST)
    return made


def take(session: SessionBase, state: str) -> PendingSignIn | None:
    """The sign-in begun with `state`, once. None when there is none, or it took too long."""
    known = session.get(_KEY, [])
    session[_KEY] = [each for each in known if each["state"] != state]
    return next((PendingSignIn(**each) for each in known if each["state"] == state and _is_young(each)), None)


def forget(session: SessionBase) -> None:
    """Drop all of them: the session is about to become somebody's."""
    if session.pop(_KEY, None) is not None and SESSION_KEY not in session:
        session.set_expiry(None)


def _is_young(known: dict[str, object]) -> bool:
    return time.time() - float(str(known["began"])) <= LONGEST
