"""Reading a document that anyone may have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jiter
from pydantic import ValidationError

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import Names, Supply
from designer.documents.keys import Location, Place, duplicate_keys, without_duplicates
from designer.documents.older_formats import modernised
from designer.documents.problems import DocumentError, PartlyRead
from designer.library_messages import problems_of, reason_of, unreadable
from designer.sentences import Counted, Sentence, listed

LARGEST_DOCUMENT = 32 * 1024 * 1024
MOST_PROBLEMS = 100


def read(raw: bytes) -> ConfigurationDocument:
    """Return the document that UTF-8 JSON holds. Raises DocumentError with the place of every problem."""
    return understood(_json_object(raw), place_in_document)


def read_named(raw: bytes, supply: Supply) -> tuple[ConfigurationDocument, Names]:
    """Read a document that may name values of environments, as `read` does; also return its names."""
    data = _json_object(raw)
    names = Names(supply, place_in_document)
    return understood_named(data, names, place_in_document), names


def understood_named(data: dict[str, Any], names: Names, place: Place) -> ConfigurationDocument:
    """Return the document that `data`, which may hold names, describes, as `understood` does.

    Raises all problems together, those of names and all others.
    """
    try:
        document = understood(names.resolved(data), place)
    except PartlyRead as error:
        raise PartlyRead([*names.problems, *error.problems], error.rest) from error
    except DocumentError as error:
        raise DocumentError([*names.problems, *error.problems]) from error
    if names.problems:
        raise PartlyRead(names.problems, document)
    return document


def understood(data: dict[str, Any], place: Place) -> ConfigurationDocument:
    """Return the document that `data` describes.

    Raises DocumentError with the `place` of every problem. That is PartlyRead when the document can be read
    without the endpoints that are wrong, or without its duplicates.
    """
    if unstorable := list(_with_nul(data, (), place)):
        raise DocumentError(unstorable)
    problems: list[str] = []
    positions: Sequence[int] = ()
    try:
        document = ConfigurationDocument.model_validate(modernised(data))
    except ValidationError as error:
        problems = list(_sentences(error, data, place))
        if (sound := _sound_endpoints(error, data)) is None:
            raise DocumentError(problems) from error
        positions = sound
        sound_data = {**data, "endpoints": [data["endpoints"][at] for at in positions]}
        document = ConfigurationDocument.model_validate(modernised(sound_data))

    def place_before(location: Location) -> str:
        """Return the place in `data`, which has endpoints that `sound_data` lacks."""
        match location:
            case ["endpoints", int(at), *rest] if positions:
                return place(("endpoints", positions[at], *rest))
        return place(location)

    if problems := [*problems, *duplicate_keys(document, place_before)]:
        raise PartlyRead(problems, without_duplicates(document))
    return document


def _sound_endpoints(error: ValidationError, data: dict[str, Any]) -> Sequence[int] | None:
    """Return the positions of the endpoints without a problem.

    None when anything else has a problem: endpoints would be judged without what they refer to.
    """
    wrong = set()
    for problem in error.errors(include_url=False):
        match problem["loc"]:
            case ("endpoints", int(at), *_):
                wrong.add(at)
            case _:
                return None
    return [at for at in range(len(data["endpoints"])) if at not in wrong]


def _json_object(raw: bytes) -> dict[str, Any]:
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
    """Parse JSON, with decimals for numbers with a fraction. Raises DocumentError."""
    try:
        return jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="decimal")
    except ValueError as error:
        raise DocumentError([unreadable(str(error))]) from error


def _with_nul(value: Any, location: tuple[str | int, ...], place: Place) -> Iterator[str]:
    """Yield a sentence for each text in `value` that contains a NUL character."""
    if isinstance(value, str) and "\0" in value:
        yield Sentence("%(place)s: contains a NUL character. Remove it", place=place(location))
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _with_nul(item, (*location, key), place)


def _sentences(error: ValidationError, data: dict[str, Any], place: Place) -> Iterator[str]:
    problems = problems_of(error)
    for problem in problems[:MOST_PROBLEMS]:
        where = f"{place(problem['loc'])}{_item_name(problem['loc'], data)}" or Sentence("document")
        yield listed((where, reason_of(problem)), ": ")
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        yield Counted("… and %(number)s more", "… and %(number)s more", more)


def place_in_document(location: Location) -> str:
    """Return a location as text, such as `endpoints[3].inputs[0].name`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")


def _item_name(location: Sequence[str | int], data: dict[str, Any]) -> str:
    """Return the name of the item that a location is in; empty without a name.

    A name helps where a position does not: nobody counts to the 340th endpoint.
    """
    match location:
        case [str(field), int(at), *_] if isinstance(data.get(field), list) and at < len(data[field]):
            item = data[field][at]
        case _:
            return ""
    if not isinstance(item, dict):
        return ""
    names = [item.get(name) for name in ("module", "exposure", "segment", "kind", "name")]
    full_name = ".".join(name for name in names if isinstance(name, str) and name)
    return f" ({full_name})" if full_name else ""
