"""Names: path segments, inputs, and the keys of answers. The rules are the HTTP contract's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, count

SEGMENT_PATTERN = r"^[a-z][a-z0-9-]{0,62}\Z"
INPUT_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,62}\Z"
ROLE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}\Z"
CALLER_TYPE_PATTERN = r"^[a-z][a-z0-9_-]{0,62}\Z"

# Segments with a meaning of their own somewhere in the URL space.
RESERVED_SEGMENTS = frozenset(
    {
        "api",
        "admin",
        "optionsets",
        "context",
        "schema",
        "docs",
        "token",
        "queries",
        "actions",
        "files",
        "keys",
        "static",
        "media",
        "health",
        "metrics",
        "openapi",
    }
)
# Query-string parameters the runtime reads itself.
RESERVED_PARAMETERS = frozenset({"lcid", "pagesize", "cursor", "order"})

# The type of callers whose record is a user of the platform. It is the default.
USER_TYPE = "user"

# What the database gives to rows that name no caller types: those that endpoints admitted before there were
# such types. Release 0.2 writes such rows while it is being replaced.
TYPES_BEFORE_TYPES = ["service", USER_TYPE]
SERVICE_TYPE = "service"
# Members of `user` in expressions that are no user properties.
RESERVED_PROPERTIES = frozenset({"type", "roles", "claims"})
# `@user.id`: the id of the caller's record, unless the caller's type has a user property of this name.
OWN_RECORD = "id"

_SEGMENT = re.compile(SEGMENT_PATTERN)
_INPUT = re.compile(INPUT_PATTERN)
# Of 63 characters, the rest is for the separator and the number.
_LONGEST_BEFORE_A_NUMBER = 55


def is_segment(text: str) -> bool:
    """Whether the text can be a part of a path, and is not reserved for the service."""
    return _SEGMENT.fullmatch(text) is not None and text not in RESERVED_SEGMENTS


def suggested_segment(*texts: str) -> str:
    """Return the segment made of the first of the texts that gives one: `key-accounts` for “Key accounts”;
    "" when none does.
    """
    for text in texts:
        # A segment begins with a letter, does not end with a hyphen, and has at most 63 characters.
        candidate = re.sub(r"[^a-z0-9]+", "-", _in_ascii(text.lower())).lstrip("-0123456789")[:63].rstrip("-")
        if is_segment(candidate):
            return candidate
    return ""


def output_key(name: str) -> str:
    """Return the camel-case key of a name: `BusinessUnitID` → `businessUnitId`, `Full name` → `fullName`.

    Words begin at non-alphanumerics, at lower → upper and at acronym → word; a digit belongs to the word
    before.
    """
    words = [word for part in re.split(r"[\W_]+", name) for word in _words(part)]
    if not words:
        return ""
    first, *rest = words
    return first.lower() + "".join(word[:1].upper() + word[1:].lower() for word in rest)


def property_key(caller_type: str, name: str) -> str:
    """Return the key of a user property: its name, with the caller type in front unless that is `user`."""
    return name if caller_type == USER_TYPE else f"{caller_type}.{name}"


def _own_key(_attribute: str, name: str) -> Iterable[str]:
    """Return the key in an answer of an attribute that is answered with a value alone, without a label."""
    return (output_key(name),)


def public_names(
    labels: Mapping[str, str], keys_in_answers: Callable[[str, str], Iterable[str]] = _own_key
) -> dict[str, str]:
    """Return the name that an API gives each attribute, by logical name: the label in camel case, as in
    `lastName`.

    `labels` are those of all attributes of an entity, by logical name. Where no name can be made of a label,
    or another attribute has that name, the name is the logical name without the publisher's prefix.
    `keys_in_answers` returns the keys that an attribute has in an answer under a name. No two names, and no
    two keys, differ only in upper and lower case.
    """
    names: dict[str, str] = {}
    # Two names may become the same key in an answer, so keys are compared, in lower case: inputs may not
    # differ in capitals alone. `id` is the record's.
    taken_keys, taken_keys_in_answers = {"", "id"}, {"", "id"}
    for attribute, label in labels.items():
        candidates = chain((_name_of_label(label), input_name(attribute)), numbered(attribute, "_"))
        name = next(
            name
            for name in candidates
            if is_input_name(name)
            and output_key(name).lower() not in taken_keys
            and taken_keys_in_answers.isdisjoint(map(str.lower, keys_in_answers(attribute, name)))
        )
        taken_keys.add(output_key(name).lower())
        taken_keys_in_answers.update(map(str.lower, keys_in_answers(attribute, name)))
        names[attribute] = name
    return names


def alike(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two of `names` that differ in upper and lower case at most; None where there are no
    such names.
    """
    by_lower: dict[str, str] = {}
    for name in names:
        if name.lower() in by_lower:
            return by_lower[name.lower()], name
        by_lower[name.lower()] = name
    return None


def numbered(name: str, separator: str) -> Iterator[str]:
    """Yield `name`, and after it without end the name with a number, as in `notes-2`: the first that is free
    can be taken. With its number, a name is short enough for a segment and for an input.
    """
    yield name
    for number in count(2):
        yield f"{name[:_LONGEST_BEFORE_A_NUMBER]}{separator}{number}"


def input_name(attribute: str) -> str:
    """Return the logical name without a publisher's prefix."""
    prefix, _, rest = attribute.partition("_")
    # The prefix of a publisher has at most 8 lower-case letters and digits.
    return rest if rest and prefix.isalnum() and prefix.islower() and len(prefix) <= 8 else attribute


def is_input_name(name: str) -> bool:
    """Whether an input of any kind can have the name: it is not reserved for the parameters of queries."""
    return _INPUT.match(name) is not None and name.lower() not in RESERVED_PARAMETERS


def _name_of_label(label: str) -> str:
    """Return the label in camel case; "" for a label that would lose letters, such as a Chinese one."""
    plain = _in_ascii(label)
    is_whole = sum(map(str.isalnum, plain)) == sum(map(str.isalnum, label))
    return output_key(plain) if is_whole else ""


def _in_ascii(text: str) -> str:
    """Return the text in ASCII: letters without their accents; other characters are left out."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _words(part: str) -> list[str]:
    """Return the words of a name in camel case: `HTTPServer` gives `HTTP` and `Server`."""
    starts = [0]
    for position in range(1, len(part)):
        previous, letter, following = part[position - 1], part[position], part[position + 1 : position + 2]
        if letter.isupper() and (not previous.isupper() or following.islower()):
            starts.append(position)
    ends = [*starts[1:], len(part)]
    return [part[start:end] for start, end in zip(starts, ends, strict=True) if start < end]
