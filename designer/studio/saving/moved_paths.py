"""A save that moves endpoints which are called: their callers would fail at once, so it is asked about."""

from __future__ import annotations

from designer.configuration import Configuration
from designer.endpoint_calls import DAYS, recent_calls
from designer.sentences import Sentence, listed

# The tick that answers the question.
MOVES = "_moves"
# Paths that the question names.
_FEW = 3


def question_of_moves(before: Configuration, now: Configuration) -> Sentence | None:
    """Return the question about endpoints that are called and get another path; None where there are none."""
    moved = {}
    for id, endpoint in before.endpoints.items():
        other = now.endpoints.get(id)
        if other is None or other is endpoint or not endpoint.definition.enabled:
            continue
        if other.definition.enabled and other.path != endpoint.path:
            moved[endpoint.definition.key] = endpoint.path
    calls = recent_calls(moved.keys()) if moved else {}
    if not calls:
        return None
    paths = sorted({moved[key] for key in calls})
    return Sentence(
        "Nothing was saved: this change gives another address to what callers use: %(paths)s%(more)s "
        "(%(calls)s calls in the last %(days)s days). Calls to the old address fail then. If you mean that, "
        "tick “Callers use the new addresses” below, and save again.",
        paths=listed(paths[:_FEW], ", "),
        more=", …" if len(paths) > _FEW else "",
        calls=sum(total for total, _last in calls.values()),
        days=DAYS,
    )
