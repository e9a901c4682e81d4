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
# Each tab may have a sign-in of its own. With more, the oldest is forgotten.
_MOST = 5


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that has begun.

    The browser must come back with `state`, and the ID token must repeat `nonce`. The code is exchanged with
    `verifier`; `next` is the page the browser was going to.
    """

    state: str
    nonce: str
    verifier: str
    next: str
    began: float


def keep(session: SessionBase, target: str) -> PendingSignIn:
    """Begin a sign-in that leads to `target`, a path of this site. Sign-ins of other tabs are kept, too."""
    new_sign_in = PendingSignIn(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        next=target,
        began=time.time(),
    )
    others = [sign_in for sign_in in session.get(_KEY, []) if _is_young(sign_in)]
    session[_KEY] = [*others, asdict(new_sign_in)][-_MOST:]
    if SESSION_KEY not in session:
        # Nobody is logged in: the session is of no use once its sign-in is too old.
        session.set_expiry(LONGEST)
    return new_sign_in


def take(session: SessionBase, state: str) -> PendingSignIn | None:
    """Remove the sign-in begun with `state` and return it; None if there is none or it took too long."""
    sign_ins = session.get(_KEY, [])
    session[_KEY] = [sign_in for sign_in in sign_ins if sign_in["state"] != state]
    return next(
        (
            PendingSignIn(**sign_in)
            for sign_in in sign_ins
            if sign_in["state"] == state and _is_young(sign_in)
        ),
        None,
    )


def forget(session: SessionBase) -> None:
    """Remove all pending sign-ins, as somebody is about to log in to the session."""
    if session.pop(_KEY, None) is not None and SESSION_KEY not in session:
        # Undoes the short life that `keep` has given to a session without a login.
        session.set_expiry(None)


def _is_young(sign_in: dict[str, object]) -> bool:
    return time.time() - float(str(sign_in["began"])) <= LONGEST
