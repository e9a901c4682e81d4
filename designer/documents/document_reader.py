"""Reading a document that anyone may have written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jiter
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import Names, ValueSources
from designer.documents.keys import Location, Place, duplicate_keys
from designer.documents.older_formats import in_present_format
from designer.documents.problems import DocumentError, Gap, PartlyRead
from designer.documents.readable_rest import near_member, readable_rest, without_duplicates
from designer.documents.unread_queries import UnreadQuery, unread_queries
from designer.library_messages import problems_of, reason_of, unreadable
from designer.sentences import Counted, Sentence, at_place

# In bytes.
LARGEST_DOCUMENT = 32 * 1024 * 1024
MOST_PROBLEMS = 100


def read(raw: bytes) -> ConfigurationDocument:
    """Return the document that UTF-8 JSON holds. Raises DocumentError with the place of every problem."""
    return document_from(_json_object(raw), place_in_document)


def read_named(raw: bytes, sources: ValueSources) -> tuple[ConfigurationDocument, Names]:
    """Read a document that may name values of environments, as `read` does; also return its names."""
    data = _json_object(raw)
    names = Names(sources, place_in_document)
    return named_document_from(data, names, place_in_document), names


def named_document_from(data: dict[str, Any], names: Names, place: Place) -> ConfigurationDocument:
    """Return the document that `data`, which may hold names, describes, as `document_from` does.

    Raises all problems together, those of names and all others.
    """
    try:
        document = document_from(names.resolved(data), place)
    except PartlyRead as error:
        raise error.preceded_by(names.problems, is_as_meant=not names.problems) from error
    except DocumentError as error:
        raise DocumentError([*names.problems, *error.problems]) from error
    if names.problems:
        raise PartlyRead(names.problems, document, is_as_meant=False)
    return document


def document_from(data: dict[str, Any], place: Place) -> ConfigurationDocument:
    """Return the document that `data` describes. `place` writes a location in `data` for people.

    Raises DocumentError with the place of every problem; PartlyRead where what is right of the document can
    be judged.
    """
    # PostgreSQL stores no NUL. Without them, the rest of the document can be judged.
    problems: list[str] = list(_sentences_on_nul(data, (), place))
    data = in_present_format(_without_nul(data) if problems else data)
    positions: Mapping[str, Sequence[int]] = {}
    gaps: Sequence[Gap] = ()
    queries: Sequence[UnreadQuery] = ()
    try:
        document = ConfigurationDocument.model_validate(data)
    except ValidationError as error:
        rest = readable_rest(data, error)
        if rest is None:
            raise DocumentError([*problems, *_sentences(problems_of(error), data, place)]) from error
        problems += _sentences(rest.problems, data, place)
        queries = [
            UnreadQuery(_full_place(location, data, place), query, entity)
            for location, query, entity in unread_queries(data, rest.problems)
        ]
        document, positions, gaps = rest.document, rest.positions, rest.gaps

    def place_in_data(location: Location) -> str:
        """Return the place in `data` of a location in `document`, which lacks items that cannot be read."""
        match location:
            case [str(field), int(at), *inner] if field in positions:
                return place((field, positions[field][at], *inner))
        return place(location)

    if problems := [*problems, *duplicate_keys(document, place_in_data)]:
        rest_document, more_gaps = without_duplicates(document)
        raise PartlyRead(problems, rest_document, [*gaps, *more_gaps], queries)
    return document


def _json_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object that `raw` holds. Raises DocumentError for anything else, and for too many
    bytes.
    """
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


def _sentences_on_nul(value: Any, location: tuple[str | int, ...], place: Place) -> Iterator[str]:
    """Yield a sentence for each text with a NUL character, and for each object with one
    in a member's name.
    """
    texts = [value] if isinstance(value, str) else value if isinstance(value, dict) else ()
    if any("\0" in text for text in texts):
        where = place(location) or Sentence("document")
        yield Sentence("%(place)s: contains a NUL character. Remove it", place=where)
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _sentences_on_nul(item, (*location, _without_nul(key)), place)


def _without_nul(value: Any) -> Any:
    """Return the JSON value without NUL characters, which PostgreSQL does not store."""
    match value:
        case str():
            return value.replace("\0", "")
        case dict():
            return {_without_nul(key): _without_nul(item) for key, item in value.items()}
        case list():
            return [_without_nul(item) for item in value]
        case _:
            return value


def _sentences(problems: Sequence[ErrorDetails], data: dict[str, Any], place: Place) -> Iterator[str]:
    """Yield a sentence for each of the first problems, with its place, and one that counts the others."""
    for problem in problems[:MOST_PROBLEMS]:
        where = _full_place(problem["loc"], data, place) or Sentence("document")
        yield at_place(where, _reason(problem, data))
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        yield Counted("… and %(number)s more", "… and %(number)s more", more)


def _reason(problem: ErrorDetails, data: dict[str, Any]) -> str:
    """Return what is wrong. For an unknown member, it names the known member that is nearest."""
    if problem["type"] == "extra_forbidden" and (near := near_member(data, problem["loc"])):
        return Sentence("is not known. Did you mean “%(name)s”?", name=near)
    return reason_of(problem)


def place_in_document(location: Location) -> str:
    """Return a location as text, such as `endpoints[3].inputs[0].name`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")


def _full_place(location: Location, data: dict[str, Any], place: Place) -> str:
    """Return the place of a location, with the name of the item that it is in; empty for the document."""
    return f"{place(location)}{_item_name(location, data)}"


def _item_name(location: Sequence[str | int], data: dict[str, Any]) -> str:
    """Return the name of the item that a location is in, to stand behind the location: ` (sales.accounts)`
    for ("endpoints", 339, "title"). Empty for an item without a name, and outside of all items.

    A name helps where a position does not: nobody counts to the 340th endpoint.
    """
    match location:
        case [str(field), int(at), *_] if isinstance(data.get(field), list) and at < len(data[field]):
            item = data[field][at]
        case _:
            return ""
    if not isinstance(item, dict):
        return ""
    # Those that the item has, from the widest to its own.
    names = [item.get(name) for name in ("module", "exposure", "segment", "kind", "name")]
    full_name = ".".join(name for name in names if isinstance(name, str) and name)
    return f" ({full_name})" if full_name else ""
