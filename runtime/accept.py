"""Content negotiation, as far as a service with one media type needs it."""

from __future__ import annotations

from functools import lru_cache

from runtime.problems import Problem

_FAMILIES = ("*/*", "application/*", "application/json", "application/problem+json")


def refuse_unacceptable(accept: str | None) -> None:
    """Raises Problem 406 when `Accept` names neither JSON nor a family that holds it."""
    if accept is None or accept == "*/*" or accept == "application/json" or _takes_json(accept):
        return
    raise Problem(406, "not_acceptable", "This service answers application/json.")


@lru_cache(maxsize=256)
def _takes_json(accept: str) -> bool:
    return any(_is_json(entry) for entry in accept.split(","))


def _is_json(entry: str) -> bool:
    media, *parameters = (part.strip().lower() for part in entry.split(";"))
    refused = any(
        parameter.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for parameter in parameters
    )
    return media in _FAMILIES and not refused
