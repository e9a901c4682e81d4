"""The lists of a document, and what makes an item of each the same one in another document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.definitions import ConfigurationDocument, Definition, EndpointDefinition, InputDefinition
from designer.kinds import KINDS, Scope
from designer.sentences import Sentence

Key: TypeAlias = str
# A location: names of members and positions in lists, from the document to a value in it. A place writes a
# location for people.
Location: TypeAlias = Sequence[str | int]
Place: TypeAlias = Callable[[Location], str]

# Groups besides those of modules. No module can have such a segment: both words are reserved.
CONTEXT = "context"
OPTION_SETS = "optionsets"

CALLER_TYPES = "caller_types"
ENDPOINTS = "endpoints"

# Lists that not everybody sees who may see the configuration.
RESTRICTED = frozenset({"issuers"})


@dataclass(frozen=True, slots=True)
class Collection:
    """One list of the document.

    `group` gives the group of an item: an import removes items only from the groups that it names. An item
    that `is_fixed` is never removed.
    """

    field: str
    noun: Sentence
    key: Callable[[Any], Key]
    group: Callable[[Any], str]
    is_fixed: Callable[[Any], bool] = lambda item: False

    def in_words(self, key: Key) -> Sentence:
        """Return the item with the key in words, such as “role clerk”."""
        return Sentence("%(noun)s %(key)s", noun=self.noun, key=key)

    def subject(self, key: Key) -> str:
        """Return what findings call the item."""
        return key if self.field == ENDPOINTS else str(self.in_words(key))

    def has_subject(self, subject: str) -> bool:
        """Whether a finding with this subject is about an item of the list. Never true of endpoints."""
        return self.field != ENDPOINTS and subject.startswith(f"{self.noun} ")

    def items(self, document: ConfigurationDocument) -> Mapping[Key, Definition]:
        """Return the items of this list of the document, by key."""
        return {self.key(item): item for item in getattr(document, self.field)}


def _group_of_endpoint(endpoint: EndpointDefinition) -> str:
    """Return the group of an endpoint: its module, or `optionsets` for an endpoint without one."""
    return OPTION_SETS if KINDS[endpoint.kind].scope is Scope.GLOBAL else endpoint.module


# In the order in which they refer to each other.
COLLECTIONS = (
    Collection("roles", Sentence("role"), lambda role: role.name, lambda role: CONTEXT),
    Collection(
        field=CALLER_TYPES,
        noun=Sentence("caller type"),
        key=lambda caller_type: caller_type.name,
        group=lambda caller_type: CONTEXT,
        is_fixed=lambda caller_type: caller_type.is_built_in,
    ),
    Collection("user_properties", Sentence("user property"), lambda item: item.key, lambda item: CONTEXT),
    Collection("issuers", Sentence("issuer"), lambda issuer: issuer.name, lambda issuer: CONTEXT),
    Collection("modules", Sentence("module"), lambda module: module.segment, lambda module: module.segment),
    Collection("entities", Sentence("entity"), lambda entity: entity.key, lambda entity: entity.module),
    Collection(ENDPOINTS, Sentence("endpoint"), lambda endpoint: endpoint.key, _group_of_endpoint),
)


def collections_of(fields: Container[str]) -> list[Collection]:
    """Return the lists that have one of the names `fields` in the document."""
    return [collection for collection in COLLECTIONS if collection.field in fields]


def nouns_of(fields: Container[str]) -> list[Sentence]:
    """Return what items are called in each of the lists `fields`."""
    return [collection.noun for collection in collections_of(fields)]


# The lists of an endpoint, or of an input with inputs of its own, whose items have names of their own.
NAMED_PARTS: Mapping[str, Callable[[Any], str]] = {
    "inputs": lambda definition: definition.name,
    "bindings": lambda binding: binding.attribute,
    "fetchers": lambda fetcher: fetcher.name,
}


def duplicate_keys(document: ConfigurationDocument, place: Place) -> Iterator[str]:
    """Yield a sentence for every item that the document has twice, and every name that one list of an
    endpoint has twice.
    """
    for collection in COLLECTIONS:
        first_positions: dict[Key, int] = {}
        for position, item in enumerate(getattr(document, collection.field)):
            key = collection.key(item)
            if key in first_positions:
                yield Sentence(
                    "%(place)s: the %(item)s is already at %(first)s. Remove one of them",
                    place=place((collection.field, position)),
                    item=collection.in_words(key),
                    first=place((collection.field, first_positions[key])),
                )
            first_positions.setdefault(key, position)
    for position, endpoint in enumerate(document.endpoints):
        for location, name in _repeated_names(endpoint):
            yield Sentence(
                "%(place)s: “%(name)s” is listed more than once. Rename or remove one",
                place=f"{place((ENDPOINTS, position, *location))} ({endpoint.key})",
                name=name,
            )


def _repeated_names(part: EndpointDefinition | InputDefinition) -> Iterator[tuple[Location, str]]:
    """Yield the location of each list in an endpoint or an input that has a name twice, and the name."""
    for field, name_of in NAMED_PARTS.items():
        counts = Counter(map(name_of, getattr(part, field, ())))
        yield from (((field,), name) for name, count in counts.items() if count > 1)
    for position, nested in enumerate(part.inputs):
        yield from ((("inputs", position, *location), name) for location, name in _repeated_names(nested))


def without_items(
    document: ConfigurationDocument, items: Container[tuple[str, Key]]
) -> ConfigurationDocument:
    """Return `document` without `items`, which are named by their list and their key."""
    lists = {
        collection.field: tuple(
            item for key, item in collection.items(document).items() if (collection.field, key) not in items
        )
        for collection in COLLECTIONS
    }
    return document.model_copy(update=lists)
