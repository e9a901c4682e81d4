"""Verifying a token: a list of checks, one after the other.

The issuer is chosen by the token's unverified `iss`; from there on only that issuer's own algorithms,
audiences and keys count, and nothing that the token says of them. A request stops at the first check that
fails; *Explain a token* runs all that can be run. There is no other way to verify one.
"""

from __future__ import annotations

from collections.abc import Iterator

from runtime.callers.issuers.examined_token import Check, Examined, Found
from runtime.callers.issuers.issuer import Issuers
from runtime.callers.issuers.token_checks import CHECKS, OWN
from runtime.callers.local import LocalIssuer
from runtime.callers.refusals import RefusedCaller


def verify(token: str, issuers: Issuers) -> Examined:
    """The token with its issuer and claims. Raises RefusedCaller 401 `invalid_token`, 503 while the keys are
    unknown.
    """
    examined = Examined(token, issuers)
    try:
        for check in CHECKS:
            refusal = check.run(examined).refusal
            if refusal is not None:
                raise refusal
            if examined.is_own:
                examined.claims = LocalIssuer().verify(token)
                break
    except RefusedCaller as refusal:
        raise identified(refusal, examined) from refusal.__cause__
    return examined


def examine(examined: Examined) -> Iterator[tuple[Check, Found | None]]:
    """Every check with what it found; None where one before it has failed that it needs."""
    failed = False
    for check in CHECKS:
        if examined.is_own and check is not CHECKS[0]:
            yield OWN, _outcome(OWN, examined)
            return
        found = None if failed else _outcome(check, examined)
        failed = failed or (check.is_needed and found is not None and found.refusal is not None)
        yield check, found


def identified(refusal: RefusedCaller, examined: Examined) -> RefusedCaller:
    """The refusal with what the log may say of the token: an issuer that is known here, and a key of its own.

    Nobody vouches for any other name: it may be whatever a caller likes.
    """
    if examined.issuer is not None:
        refusal.issuer = examined.issuer.name
        refusal.is_of_known_issuer = True
        kid = examined.header.get("kid")
        if kid in examined.issuer.known_kids:
            refusal.key_id = kid
    elif examined.is_own:
        refusal.issuer = LocalIssuer.name
        refusal.is_of_known_issuer = True
    return refusal


def _outcome(check: Check, examined: Examined) -> Found:
    try:
        return check.run(examined)
    except RefusedCaller as refusal:
        return Found("", refusal.sentence, "keys", refusal)
