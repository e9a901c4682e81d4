"""A request as designed queries and filters see it."""

from __future__ import annotations

from crmclient.query.resolving import Circumstances
from crmclient.query.resolving.prepared import Needs
from runtime.http.problems import Problem
from runtime.request_context import Exchange


def circumstances(exchange: Exchange, needs: Needs) -> Circumstances:
    """What conditions that need `needs` are resolved in. A caller without a platform user lacks all of it."""
    values = _user_values(exchange) if needs.user_values else {}
    return Circumstances(
        now=exchange.now,
        parameters=exchange.inputs,
        user=exchange.caller.profile,
        user_values=values,
        fetched=exchange.fetched,
        record=exchange.found,
    )


def _user_values(exchange: Exchange) -> dict[str, object]:
    try:
        return dict(exchange.user)
    except Problem as problem:
        if problem.status_code in (401, 403):
            return {}
        raise
