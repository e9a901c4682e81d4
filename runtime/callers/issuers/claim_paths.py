"""Reads the value at a path (`designer.token_issuers.claim_paths`) in a token's claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import takewhile
from typing import Any, TypeAlias

from designer.definitions import ClaimShape
from designer.token_issuers.claim_paths import WrongPath, path_parts, texts_of
from runtime.callers.caller import Claims


def claim_at(claims: Claims, path: str) -> Any:
    """Return the value at `path`; None when there is no value, and when the path is not valid.

    A claim whose name is exactly `path`, such as a URL, goes before the claim that the path leads to.
    """
    if path in claims:
        return claims[path]
    try:
        parts = path_parts(path)
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


def excerpt_at(claims: Claims, paths: Collection[str]) -> dict[str, Any]:
    """Return the part of `claims` at `paths`, with its nesting. A list is taken as a whole."""
    excerpt: dict[str, Any] = {}
    whole_paths: set[tuple[str, ...]] = set()
    # Shorter ones first: what is in a claim that is taken as a whole has been taken with it.
    for names in sorted({_names(claims, path) for path in paths}, key=len):
        if not names or any(names[:length] in whole_paths for length in range(1, len(names))):
            continue
        value: Any = claims
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is None:
            continue
        whole_paths.add(names)
        branch = excerpt
        for name in names[:-1]:
            branch = branch.setdefault(name, {})
        branch[names[-1]] = value
    return excerpt


def values_of(claim: Any, shape: ClaimShape, table: Collection[str] = ()) -> tuple[str, ...]:
    """Return the texts in a claim that is written as `shape` says.

    Return none for a claim of another shape, and for a list with anything but texts. `table` has the values
    that the configuration knows.
    """
    return _READERS[shape](claim, table)


def _names(claims: Claims, path: str) -> tuple[str, ...]:
    """Return the names in a path, up to the first position in a list; empty for a wrong path."""
    if path in claims:
        return (path,)
    try:
        parts = path_parts(path)
    except WrongPath:
        return ()
    return tuple(takewhile(lambda part: isinstance(part, str), parts))  # type: ignore[arg-type]  # as it says


def _array(claim: Any, table: Collection[str] = ()) -> tuple[str, ...]:
    """Return the texts of an array; none for anything else."""
    return texts_of(claim) if isinstance(claim, list) else ()


def _words(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    """Return the words of a text; none for anything else."""
    return tuple(claim.split()) if isinstance(claim, str) else ()


def _commas(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    """Return the texts between commas, without blanks around them; none for anything but a text."""
    if not isinstance(claim, str):
        return ()
    return tuple(value for part in claim.split(",") if (value := part.strip()))


def _text(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    """Return the whole text; none for anything else, and for an empty text."""
    return (claim,) if isinstance(claim, str) and claim else ()


def _any(claim: Any, table: Collection[str]) -> tuple[str, ...]:
    """Return the texts of an array; of a text, the whole text if `table` has it, else its words (as in
    `scope`).
    """
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
