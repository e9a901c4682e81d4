"""Reading a document that anyone may have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jiter
from pydantic import ValidationError

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import Names, Supply
from designer.documents.keys import Location, Place, repeated
from designer.documents.older_formats import modernised
from designer.documents.problems import DocumentError
from designer.reasons import reason_of, unreadable
from designer.sentences import Counted, Sentence, listed

LARGEST_DOCUMENT = 32 * 1024 * 1024
MOST_PROBLEMS = 100


def read(raw: bytes) -> ConfigurationDocument:
    """The document in UTF-8 JSON. Raises DocumentError, with the place of every problem."""
    return understood(_object(raw), place_in_document)


def read_named(raw: bytes, supply: Supply) -> tuple[ConfigurationDocument, Names]:
    """As `read`, of a document that may name values of environments."""
    data = _object(raw)
    names = Names(supply, place_in_document)
    return understood_named(data, names, place_in_document), names


def understood_named(data: dict[str, Any], names: Names, place: Place) -> ConfigurationDocument:
    """As `understood`, of data with names. What is wrong with them and with all else is told at once."""
    try:
        document = understood(names.resolved(data), place)
    except DocumentError as error:
        raise DocumentError([*names.problems, *error.problems]) from error
    if names.problems:
        raise DocumentError(names.problems)
    return document


def understood(data: dict[str, Any], place: Place) -> ConfigurationDocument:
    """The document that `data` describes. Raises DocumentError, with the `place` of every problem."""
    if unstorable := list(_with_nul(data, (), place)):
        raise DocumentError(unstorable)
    try:
        document = ConfigurationDocument.model_validate(modernised(data))
    except ValidationError as error:
        raise DocumentError(_sentences(error, data, place)) from error
    if twice := list(repeated(document, place)):
        raise DocumentError(twice)
    return document


def _object(raw: bytes) -> dict[str, Any]:
    if len(raw) > LARGEST_DOCUMENT:
        raise DocumentError(
            [
                Sentence(
                    "A document has at most %(most)s bytes, not %(given)s.",
                    most=f"{LARGEST_DOCUMENT:,}",
                    given=f"{len(raw):,}",
                )
            ]
        )
    data = parse(raw)
    if not isinstance(data, dict):
        raise DocumentError([Sentence('A document is a JSON object: {"format": 2, …}.')])
    return data


def parse(raw: bytes) -> Any:
    """What the JSON says, with decimals for numbers with a fraction. Raises DocumentError."""
    try:
        return jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="decimal")
    except ValueError as error:
        raise DocumentError([unreadable(str(error))]) from error


def _with_nul(value: Any, location: tuple[str | int, ...], place: Place) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        yield Sentence("%(place)s: contains a NUL character. Remove it", place=place(location))
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _with_nul(item, (*location, key), place)


def _sentences(error: ValidationError, data: dict[str, Any], place: Place) -> Iterator[str]:
    problems = error.errors(include_url=False)
    for problem in problems[:MOST_PROBLEMS]:
        where = f"{place(problem['loc'])}{_who(problem['loc'], data)}" or Sentence("document")
        yield listed((where, reason_of(problem)), ": ")
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        yield Counted("… and %(number)s more", "… and %(number)s more", more)


def place_in_document(location: Location) -> str:
    """`endpoints[3].inputs[0].name`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")


def _who(location: Sequence[str | int], data: dict[str, Any]) -> str:
    """The name of the item that a place is in: counting to the 340th endpoint is nobody's work."""
    match location:
        case [str(field), int(at), *_] if isinstance(data.get(field), list) and at < len(data[field]):
            item = data[field][at]
        case _:
            return ""
    if not isinstance(item, dict):
        return ""
    names = [item.get(name) for name in ("module", "exposure", "segment", "kind", "name")]
    known = ".".join(name for name in names if isinstance(name, str) and name)
    return f" ({known})" if known else ""
