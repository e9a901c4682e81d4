"""Verifying a token: a list of checks, one after the other.

The issuer is chosen by the token's unverified `iss`; from there on only that issuer's own algorithms,
audiences and keys count, and nothing that the token says of them. A request stops at the first check that
fails; *Explain a token* runs all that can be run. There is no other way to verify one.
"""

from __future__ import annotations

from collections.abc import Iterator

from runtime.callers.issuers.examined_token import Check, CheckOutcome, Examined
from runtime.callers.issuers.issuer import Issuers
from runtime.callers.issuers.token_checks import CHECKS, OWN
from runtime.callers.own_tokens import LocalIssuer
from runtime.callers.refusals import RefusedCaller


def verify(token: str, issuers: Issuers) -> Examined:
    """Verify a token. Return it with its issuer and claims.

    Raises RefusedCaller 401 `invalid_token`, and 503 while the issuer's keys are unknown.
    """
    examined = Examined(token, issuers)
    try:
        for check in CHECKS:
            refusal = check.run(examined).refusal
            if refusal is not None:
                raise refusal
            # Known after the first check, which reads the claims. The checks that follow are for other
            # issuers.
            if examined.is_own:
                examined.claims = LocalIssuer().verify(token)
                break
    except RefusedCaller as refusal:
        raise with_issuer_and_key(refusal, examined) from refusal.__cause__
    return examined


def examine(examined: Examined) -> Iterator[tuple[Check, CheckOutcome | None]]:
    """Yield every check with its outcome; None for a check that was not run because an earlier one failed."""
    failed = False
    for check in CHECKS:
        # The first check reads the claims. All others are for other issuers: a token of this service has one
        # check in their place.
        if examined.is_own and check is not CHECKS[0]:
            yield OWN, _outcome(OWN, examined)
            return
        outcome = None if failed else _outcome(check, examined)
        failed = failed or (check.is_needed and outcome is not None and outcome.refusal is not None)
        yield check, outcome


def with_issuer_and_key(refusal: RefusedCaller, examined: Examined) -> RefusedCaller:
    """Return the refusal with what the log may say of the token: a known issuer, and a known key of that
    issuer.

    Other names are left out: nobody vouches for them, and a caller may send any text.
    """
    if examined.issuer is not None:
        refusal.of_known(examined.issuer.name)
        kid = examined.header.get("kid")
        if kid in examined.issuer.known_kids:
            refusal.key_id = kid
    elif examined.is_own:
        refusal.of_known(LocalIssuer.name)
    return refusal


def _outcome(check: Check, examined: Examined) -> CheckOutcome:
    """Return the outcome of a check. A refusal that the check raises is an outcome, too."""
    try:
        return check.run(examined)
    except RefusedCaller as refusal:
        return CheckOutcome("", refusal.sentence, "keys", refusal)
