"""Content negotiation, as far as a service needs it whose answers come in one media type each."""

from __future__ import annotations

from functools import lru_cache

from runtime.http.problems import Problem

JSON = "application/json"
# Whoever takes any of these can read a problem, and asks for JSON.
_FAMILIES = frozenset({"*/*", "application/*", "application/problem+json"})


def refuse_unacceptable(accept: str | None, served: str = JSON) -> None:
    """Raises Problem 406 when `Accept` names neither the type `served` nor a family that holds it."""
    if accept is None or accept == "*/*" or accept == served or _takes(accept, served):
        return
    raise Problem(406, "not_acceptable", f"This is answered as {served}.")


@lru_cache(maxsize=256)
def _takes(accept: str, served: str) -> bool:
    return any(_holds(entry, served) for entry in accept.split(","))


def _holds(entry: str, served: str) -> bool:
    media, *parameters = (part.strip().lower() for part in entry.split(";"))
    refused = any(
        parameter.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for parameter in parameters
    )
    return (media in _FAMILIES or media in {served, f"{served.partition('/')[0]}/*"}) and not refused
