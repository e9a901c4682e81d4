"""The system query options of a request, and those in the parentheses of an `$expand`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from crmbox.webapi.errors import WebApiError, bad_url, unsupported
from crmbox.webapi.model import EntityType
from crmbox.webapi.navigation import Collection, Lookup, Navigation
from crmbox.webapi.odata.properties import no_property

MOST_EXPANSIONS: Final = 15
"""As many as Dataverse takes in one query."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A property in `$expand`. `text` is what stands in its parentheses, `options` the same as values.

    With `reference` only the address of a lookup's record is wanted (`/$ref`).
    """

    navigation: Navigation
    options: Options
    text: str
    reference: bool = False


def read_expansions(type_: EntityType, text: str | None) -> tuple[Expansion, ...]:
    """Read `$expand`. Raises WebApiError for an unknown navigation property, and for too many."""
    if text is None or not text.strip():
        return ()
    check_nesting(text)
    expansions = tuple(_expansion(type_, part) for part in split(text, ","))
    if len(expansions) > MOST_EXPANSIONS:
        raise _too_many()
    return expansions


def check_nesting(text: str) -> None:
    """Raise WebApiError for expansions that are nested too deeply to be read one inside the other."""
    if text.count("$expand") >= MOST_EXPANSIONS:
        raise _too_many()


def _expansion(type_: EntityType, text: str) -> Expansion:
    """Read one part of `$expand`. Raises WebApiError."""
    name, inside = split_call(text)
    path, _, reference = name.partition("/")
    navigation = type_.lookups.get(path) or type_.collections.get(path)
    if not isinstance(navigation, Lookup | Collection):
        raise no_property(path, type_)
    if reference and (reference != "$ref" or isinstance(navigation, Collection)):
        raise bad_url(f"'{name}' cannot be expanded; only /$ref of a lookup may follow a property.")
    nested = "" if inside is None else inside
    return Expansion(navigation, read_nested(nested), nested, bool(reference))


def _too_many() -> WebApiError:
    return bad_url(f"At most {MOST_EXPANSIONS} properties can be expanded.")


_OPENING: Final = "(["
_CLOSING: Final = ")]"


def split(text: str, separator: str) -> list[str]:
    """Return the parts of `text` between separators, without blanks around them.

    Separators inside brackets and quotes do not count. Raises WebApiError for those that are not closed.
    """
    return [part.strip() for part in _parts(text, separator)]


def split_call(text: str) -> tuple[str, str | None]:
    """Return name and inside of `name(inside)`; the inside is None without parentheses."""
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name.strip(), None
    if not rest.endswith(")"):
        raise _malformed(text)
    return name.strip(), rest[:-1]


def _parts(text: str, separator: str) -> Iterator[str]:
    """Yield the text between separators that stand outside of brackets and quotes. Raises WebApiError.

    Double quotes count only in brackets, where the texts of a list have them.
    """
    depth, start, quote = 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character == "'" or (character == '"' and depth):
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth < 0:
                raise _malformed(text)
        elif character == separator and not depth:
            yield text[start:position]
            start = position + 1
    if depth or quote:
        raise _malformed(text)
    yield text[start:]


def _malformed(text: str) -> WebApiError:
    return bad_url(f"Parentheses or quotes without their end in '{text[:200]}'.")


_OF_QUERIES: Final = frozenset(
    {"$select", "$filter", "$orderby", "$top", "$count", "$expand", "$apply", "$skiptoken", "$deltatoken"}
)
_OF_EXPANSIONS: Final = frozenset({"$select", "$filter", "$orderby", "$top", "$expand"})
_KNOWN_ELSEWHERE: Final = frozenset({"$skip", "$search", "$format", "$compute", "$levels", "$count"})
_UNSUPPORTED: Final = frozenset({"savedquery", "userquery"})
_MEANINGLESS: Final = frozenset({"tag", "labellanguages", "api-version"})
"""Plug-ins read `tag`; nothing here does."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options as written; None for one that is not given."""

    select: str | None = None
    filter: str | None = None
    orderby: str | None = None
    top: int | None = None
    count: bool = False
    expand: str | None = None
    apply: str | None = None
    skiptoken: str | None = None
    deltatoken: str | None = None


def read_options(query: Mapping[str, str]) -> Options:
    """Return the options of a URL. Raises WebApiError for an option that is unknown or wrong.

    `@aliases`, `fetchXml` and `sql` are read elsewhere.
    """
    for name in query:
        if name.startswith("$"):
            _check(name, _OF_QUERIES)
        elif name.lower() in _UNSUPPORTED:
            raise unsupported(f"the query parameter {name}")
        elif not name.startswith("@") and name.lower() not in _MEANINGLESS:
            raise bad_url(f"The query parameter {name} is not supported.")
    return _options(query)


def read_nested(text: str) -> Options:
    """Read the options in the parentheses of an expanded property: `$select=fullname;$top=5`. Raises
    WebApiError.
    """
    options: dict[str, str] = {}
    for part in split(text, ";"):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not part:
            continue
        if not equals:
            raise bad_url(f"'{part}' is no query option of $expand.")
        _check(name, _OF_EXPANSIONS)
        if name in options:
            raise bad_url(f"Query option '{name}' was specified more than once.")
        options[name] = value.strip()
    return _options(options)


def aliases(query: Mapping[str, str]) -> dict[str, str]:
    """Return the parameter aliases of a query string: the text of each `@name`."""
    return {name: value for name, value in query.items() if name.startswith("@")}


def _check(name: str, supported: frozenset[str]) -> None:
    """Raise WebApiError unless an option is `supported`: 501 for one of the protocol, else 400."""
    if name in supported:
        return
    if name in _KNOWN_ELSEWHERE or name in _OF_QUERIES:
        raise unsupported(f"the query option {name} here")
    raise bad_url(f"The query parameter {name} is not supported.")


def _options(query: Mapping[str, str]) -> Options:
    """Return the options among those of a query string, by name. Raises WebApiError for a wrong value."""
    return Options(
        select=query.get("$select"),
        filter=query.get("$filter"),
        orderby=query.get("$orderby"),
        top=_top(query.get("$top")),
        count=_flag(query.get("$count")),
        expand=query.get("$expand"),
        apply=query.get("$apply"),
        skiptoken=query.get("$skiptoken"),
        deltatoken=query.get("$deltatoken"),
    )


def _top(text: str | None) -> int | None:
    """Return the number of `$top`; None without it. Raises WebApiError."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise bad_url(f"Invalid value '{text}' for $top query option found. A whole number is needed.")
    return int(text)


def _flag(text: str | None) -> bool:
    """Return the value of `$count`; False without it. Raises WebApiError."""
    if text is None:
        return False
    if text.lower() not in ("true", "false"):
        raise bad_url(
            f"Invalid value '{text}' for $count query option found. Valid values are true and false."
        )
    return text.lower() == "true"
