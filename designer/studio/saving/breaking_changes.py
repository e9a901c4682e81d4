"""A save that breaks endpoints which are called: their callers would fail at once, so it is asked about."""

from __future__ import annotations

from collections.abc import Iterable

from designer.configuration import Configuration, Endpoint
from designer.endpoint_calls import DAYS, recent_calls
from designer.history.effects import Effect
from designer.history.wording import lines
from designer.sentences import Sentence, listed

# The tick that answers the question.
BREAKS = "_breaks"
# Changes that the question names.
_FEW = 5


def question_of_breaking(before: Configuration, now: Configuration, ids: Iterable[int]) -> Sentence | None:
    """Return what to ask of the change of the endpoints `ids`; None where no callers would notice it.

    A new path is not asked about here, but by `question_of_moves`.
    """
    for id in ids:
        endpoint, other = before.endpoints.get(id), now.endpoints.get(id)
        if endpoint is None or other is None or other is endpoint or not endpoint.definition.enabled:
            continue
        changes = _breaking(endpoint, other)
        key = endpoint.definition.key
        if changes and (called := recent_calls([key]).get(key)):
            return Sentence(
                "Nothing was saved: this change breaks callers of %(path)s (%(calls)s calls in the last "
                "%(days)s days): %(changes)s%(more)s. If you mean that, tick “Callers are ready for this "
                "change” below, and save again.",
                path=f"{', '.join(endpoint.methods)} {endpoint.path}",
                calls=called[0],
                days=DAYS,
                changes=listed(changes[:_FEW], "; "),
                more="; …" if len(changes) > _FEW else "",
            )
    return None


def _breaking(endpoint: Endpoint, other: Endpoint) -> list[str]:
    """Return the breaking changes in words, in the language of the reader."""
    if endpoint.problem is not None or other.problem is not None:
        return []
    changes = lines("endpoints", endpoint.definition.to_json(), other.definition.to_json())
    return [line.text for line in changes if line.effect is Effect.BREAKING]
