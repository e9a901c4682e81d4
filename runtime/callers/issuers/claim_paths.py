"""What stands at a path into a token's claims (`designer.claim_paths`), and the shapes of several values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import takewhile
from typing import Any, TypeAlias

from designer.claim_paths import WrongPath, parsed, texts_of
from designer.definitions import ClaimShape
from runtime.callers.caller import Claims


def claim_at(claims: Claims, path: str) -> Any:
    """The value at `path`: the claim of exactly that name, which may be a URL, or the one that the path leads
    to. None where there is none, and where the path is none.
    """
    if path in claims:
        return claims[path]
    try:
        parts = parsed(path)
    except WrongPath:
        return None
    value: Any = claims
    for part in parts:
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                return None
            value = value[part]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            return None
    return value


def picked(claims: Claims, paths: Collection[str]) -> dict[str, Any]:
    """What of `claims` is at `paths`, nested as it was. A list is taken as a whole."""
    found: dict[str, Any] = {}
    whole: set[tuple[str, ...]] = set()
    # Shorter ones first: what is in a claim that is taken as a whole has been taken with it.
    for names in sorted({_names(claims, path) for path in paths}, key=len):
        if not names or any(names[:length] in whole for length in range(1, len(names))):
            continue
        value: Any = claims
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is None:
            continue
        whole.add(names)
        within = found
        for name in names[:-1]:
            within = within.setdefault(name, {})
        within[names[-1]] = value
    return found


def values_of(claim: Any, shape: ClaimShape, table: Collection[str] = ()) -> tuple[str, ...]:
    """The values that a claim names, when it is written as `shape` says. Nothing for any other shape, and for
    lists that hold anything but texts. `table` has the values that mean something.
    """
    return _READERS[shape](claim, table)


def _names(claims: Claims, path: str) -> tuple[str, ...]:
    """The names of a path up to the first place in a list."""
    if path in claims:
        return (path,)
    try:
        parts = parsed(path)
    except WrongPath:
        return ()
    return tuple(takewhile(lambda part: isinstance(part, str), parts))  # type: ignore[arg-type]  # as it says


def _array(claim: Any, table: Collection[str] = ()) -> tuple[str, ...]:
    return texts_of(claim) if isinstance(claim, list) else ()


def _words(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    return tuple(claim.split()) if isinstance(claim, str) else ()


def _commas(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    if not isinstance(claim, str):
        return ()
    return tuple(value for part in claim.split(",") if (value := part.strip()))


def _text(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    return (claim,) if isinstance(claim, str) and claim else ()


def _any(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    """An array; or a text, which is one value where the table has it so, and words (as of scopes) else."""
    if isinstance(claim, str):
        return (claim,) if claim in table else tuple(claim.split())
    return _array(claim)


_Reader: TypeAlias = Callable[[Any, Collection[str]], tuple[str, ...]]
_READERS: Mapping[ClaimShape, _Reader] = {
    "any": _any,
    "array": _array,
    "words": _words,
    "commas": _commas,
    "text": _text,
}
