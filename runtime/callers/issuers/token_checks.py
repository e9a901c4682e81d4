"""The checks of a token, in their order: what each expects, and what it finds."""

from __future__ import annotations

import datetime as dt
from typing import cast

import jwt

from crmclient.sentences import Sentence
from designer.token_issuers.claim_paths import texts_of
from runtime.callers.claims import (
    REQUIRED,
    is_time,
    refusal_of_audience,
    refusal_of_expiry,
    refusal_of_subject,
)
from runtime.callers.issuers.claim_paths import claim_at
from runtime.callers.issuers.examined_token import Check, CheckOutcome, Examined
from runtime.callers.own_tokens import LocalIssuer
from runtime.callers.refusals import RefusedCaller, invalid_token

# Headers by which a token would bring its own key, or the address of one.
_OWN_KEYS = ("jku", "jwk", "x5u")


def _form(examined: Examined) -> CheckOutcome:
    """Read the token's header and claims into `examined`. Refuse anything but a JSON Web Token, and one that
    brings its own key.
    """
    expected = Sentence("three parts with dots between them, which are a JSON Web Token")
    try:
        decoded = jwt.decode_complete(examined.token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        refusal = invalid_token("This is not a JSON Web Token.")
        actual = Sentence("something else")
        if "." not in examined.token:
            actual = Sentence(
                "an opaque token. Ask the identity provider for a JSON Web Token that is for this API"
            )
        return CheckOutcome(expected, actual, refusal=refusal)
    examined.header, examined.claims = decoded["header"], decoded["payload"]
    own_keys = [name for name in _OWN_KEYS if name in examined.header]
    if own_keys:
        refusal = invalid_token("A token may not bring its own key.", "own_key")
        return CheckOutcome(Sentence("no key in the token itself"), ", ".join(own_keys), refusal=refusal)
    return CheckOutcome(expected, Sentence("a JSON Web Token"))


def _issuer(examined: Examined) -> CheckOutcome:
    """Find the issuer by the token's `iss`, which nothing has verified yet."""
    name = examined.claims.get("iss")
    examined.issuer = examined.issuers.get(name)
    refusal = None
    if examined.issuer is None:
        refusal = invalid_token("The token's issuer (`iss`) is not known here.", "unknown_issuer")
    expected = ", ".join(examined.issuers.by_name) or Sentence("no issuer is set up")
    return CheckOutcome(expected, _text_for_people(name), "issuer", refusal)


def _algorithm(examined: Examined) -> CheckOutcome:
    """Check that the issuer's settings allow the algorithm in the token's header."""
    allowed = examined.known_issuer.definition.algorithms
    name = examined.header.get("alg")
    refusal = None if name in allowed else invalid_token(_NOT_VALID, "algorithm")
    return CheckOutcome(", ".join(allowed), _text_for_people(name), "algorithms", refusal)


def _key(examined: Examined) -> CheckOutcome:
    """Find the issuer's keys that may have signed the token."""
    issuer, kid = examined.known_issuer, examined.header.get("kid")
    expected = issuer.key_source
    try:
        examined.keys = issuer.candidates(kid)
    except RefusedCaller as refusal:
        available = Sentence("the known keys are: %(keys)s", keys=", ".join(issuer.known_kids) or "–")
        if refusal.status_code == _UNAVAILABLE:
            available = Sentence("no keys: the address cannot be read")
        actual = Sentence("the key “%(kid)s”; %(known)s", kid=_text_for_people(kid), known=available)
        return CheckOutcome(expected, actual, "keys", refusal)
    return CheckOutcome(expected, Sentence("the key “%(kid)s”", kid=_text_for_people(kid)), "keys")


def _signature(examined: Examined) -> CheckOutcome:
    """Check that one of the keys has signed the token by an algorithm of the issuer."""
    expected = Sentence("a signature by that key")
    algorithms = list(examined.known_issuer.definition.algorithms)
    # Of several keys, the error of the last one is told. Where no key was found, there is none to try.
    reason = "signature"
    for key in examined.keys:
        try:
            # A bare public key is taken as well, what its annotation does not say; one of another kind is
            # an error.
            jwt.PyJWS().decode(examined.token, cast(jwt.PyJWK, key), algorithms=algorithms)
            return CheckOutcome(expected, Sentence("the signature is right"))
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            # The last two: a key of a type that the algorithm does not expect.
            reason = "algorithm" if isinstance(error, jwt.InvalidAlgorithmError) else "signature"
    actual = (
        Sentence("the signature is wrong")
        if examined.keys
        else Sentence("it cannot be verified without the key")
    )
    return CheckOutcome(expected, actual, "keys", invalid_token(_NOT_VALID, reason))


def _required(examined: Examined) -> CheckOutcome:
    """Check that the token has the claims of every token, and a `sub` that can be stored."""
    missing = [name for name in REQUIRED if name not in examined.claims]
    subject = f"sub: {_text_for_people(examined.claims.get('sub'))}"
    actual = Sentence("without %(claims)s", claims=", ".join(missing)) if missing else subject
    return CheckOutcome(", ".join(REQUIRED), actual, refusal=refusal_of_subject(examined.claims))


def _audience(examined: Examined) -> CheckOutcome:
    """Check that the token is for one of the issuer's audiences."""
    accepted = examined.known_issuer.definition.audiences
    expected = Sentence("one of: %(names)s", names=", ".join(accepted))
    actual = _text_for_people(examined.claims.get("aud"))
    return CheckOutcome(expected, actual, "audiences", refusal_of_audience(examined.claims, accepted))


def _expiry(examined: Examined) -> CheckOutcome:
    """Check that `exp` is in the future, with the issuer's leeway."""
    leeway, expires = examined.known_issuer.definition.leeway, examined.claims.get("exp")
    expected = Sentence("a time in the future; the clocks may differ by %(seconds)s s", seconds=leeway)
    if not is_time(expires):
        return CheckOutcome(expected, _text_for_people(expires), refusal=refusal_of_expiry(examined.claims))
    is_over = expires <= examined.now - leeway
    refusal = invalid_token("The token has expired.", "expired") if is_over else None
    return CheckOutcome(expected, _time_for_people(expires, examined.now), "leeway", refusal)


def _beginning(examined: Examined) -> CheckOutcome:
    """Check that `nbf` and `iat`, where the token has them, are in the past, with the issuer's leeway."""
    leeway = examined.known_issuer.definition.leeway
    expected = Sentence("a time in the past; the clocks may differ by %(seconds)s s", seconds=leeway)
    results, refusal = [], None
    for name in ("nbf", "iat"):
        begins = examined.claims.get(name)
        if begins is None and name not in examined.claims:
            continue
        if not is_time(begins):
            refusal = invalid_token(f"The token's `{name}` claim must be a number.", "issued_at")
            results.append(f"{name}: {_text_for_people(begins)}")
            continue
        if begins > examined.now + leeway:
            refusal = refusal or invalid_token("The token is not valid yet.", "not_yet_valid")
        results.append(f"{name}: {_time_for_people(begins, examined.now)}")
    return CheckOutcome(expected, "; ".join(results) or "–", "leeway", refusal)


def _claims(examined: Examined) -> CheckOutcome:
    """Check the claims that the issuer's settings require: one of the values each or, without values, any."""
    required_claims = examined.known_issuer.definition.required_claims
    expected, actual, refusal = [], [], None
    for rule in required_claims:
        value = claim_at(examined.claims, rule.claim)
        values = _comparable_texts(value)
        holds = not values.isdisjoint(rule.values) if rule.values else value is not None
        if not holds and refusal is None:
            refusal = invalid_token("The token lacks a claim that this service asks for.", "required_claim")
        expected.append(f"{rule.claim} = {' | '.join(rule.values) or '*'}")
        actual.append(f"{rule.claim} = {_text_for_people(value)}")
    return CheckOutcome("; ".join(expected) or "–", "; ".join(actual) or "–", "required_claims", refusal)


def _own_token(examined: Examined) -> CheckOutcome:
    """Verify a token of this service. `examined` then has the verified claims."""
    expected = Sentence("a token that this service has signed, and that has not expired")
    try:
        examined.claims = LocalIssuer().verify(examined.token)
    except RefusedCaller as refusal:
        return CheckOutcome(expected, refusal.sentence, refusal=refusal)
    return CheckOutcome(expected, Sentence("the token is valid"))


def _comparable_texts(value: object) -> set[str]:
    """Return the texts that a required claim may equal: its text or words, the texts of an array, a
    number.
    """
    if isinstance(value, str):
        return {value, *value.split()}
    if isinstance(value, bool):
        return {"true" if value else "false"}
    if isinstance(value, int | float):
        return {str(value)}
    return set(texts_of(value))


CHECKS = (
    Check(Sentence("Form"), _form, is_needed=True),
    Check(Sentence("Issuer"), _issuer, is_needed=True),
    Check(Sentence("Algorithm"), _algorithm),
    Check(Sentence("Key"), _key),
    Check(Sentence("Signature"), _signature),
    Check(Sentence("Claims that every token has"), _required),
    Check(Sentence("Audience"), _audience),
    Check(Sentence("Not expired"), _expiry),
    Check(Sentence("Valid already"), _beginning),
    Check(Sentence("Required claims"), _claims),
)

OWN = Check(Sentence("A token of this service"), _own_token)

_NOT_VALID = "The token is not valid here."
_UNAVAILABLE = 503
_LONGEST_SHOWN = 300


def _time_for_people(seconds: float, now: float) -> str:
    """Return a time in Unix seconds as text for people, with its distance from `now`."""
    try:
        shown = f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        shown = str(seconds)
    seconds_ahead = round(seconds - now)
    if seconds_ahead >= 0:
        return Sentence("%(time)s, in %(seconds)s s by this clock", time=shown, seconds=seconds_ahead)
    return Sentence("%(time)s, %(seconds)s s ago by this clock", time=shown, seconds=-seconds_ahead)


def _text_for_people(value: object) -> str:
    """Return a value of a token as text for people, cut to a readable length. A dash stands for no value."""
    if value is None:
        return "–"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
