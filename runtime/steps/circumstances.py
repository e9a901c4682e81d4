"""The circumstances of a request, for designed queries and filters."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from crmclient.query.resolving import Circumstances
from crmclient.query.resolving.prepared_queries import Needs
from crmclient.text import is_storable
from designer.names import RESERVED_PROPERTIES
from runtime.callers.caller import Caller, caller_facts
from runtime.callers.issuers.claim_paths import claim_at
from runtime.http.problems import Problem
from runtime.request_context import Exchange


def circumstances(exchange: Exchange, needs: Needs) -> Circumstances:
    """Return the circumstances in which conditions with these `needs` are resolved."""
    return Circumstances(
        now=exchange.now,
        parameters=exchange.inputs,
        user=exchange.caller.profile,
        reports=lambda: exchange.reports,
        user_values=_user_values(exchange, needs.user_values),
        claims={path: _claim(exchange.caller, path) for path in needs.claims},
        fetched=exchange.fetched,
        record=exchange.record_values,
    )


def _user_values(exchange: Exchange, names: Collection[str]) -> dict[str, object]:
    """Return the user values `names` that are known.

    Type and roles are known of every caller with a token; properties only of a caller with a record.
    """
    reserved_names = RESERVED_PROPERTIES.intersection(names)
    values: dict[str, object] = {}
    if reserved_names and not exchange.caller.is_anonymous:
        facts = caller_facts(exchange.caller)
        values = {name: facts[name] for name in reserved_names}
    if len(reserved_names) == len(names):
        return values
    try:
        return {**exchange.user, **values}
    except Problem as problem:
        if problem.status_code in (401, 403):
            return values
        raise


def _claim(caller: Caller, path: str) -> object:
    """Return the claim as texts. A comparison converts the texts to the type that it compares with.

    None where it is missing, or holds an object.
    """
    claim = claim_at(caller.claims, path)
    if not isinstance(claim, list):
        return _text(claim)
    texts = [_text(item) for item in claim]
    return None if None in texts else texts


def _text(claim: Any) -> str | None:
    """Return a claim as the text that conditions compare; None for one that no attribute can equal."""
    match claim:
        case bool():
            return "true" if claim else "false"
        case str():
            # Callers may have chosen the text at their provider. A text that no record can hold equals none.
            return claim if is_storable(claim) else None
        case int():
            return str(claim)
        case float() if math.isfinite(claim):
            # JSON has one kind of number: 3.0 is a whole one. From 2**53 on, a float does not tell exactly
            # which whole number was meant.
            return str(int(claim)) if claim.is_integer() and abs(claim) < 2**53 else repr(claim)
    return None
