"""The lists of a document, and what makes an item of each the same one in another document."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.definitions import ConfigurationDocument, Definition, EndpointDefinition
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

    def named(self, key: Key) -> Sentence:
        return Sentence("%(noun)s %(key)s", noun=self.noun, key=key)

    def subject(self, key: Key) -> str:
        """Return what findings call the item."""
        return key if self.field == ENDPOINTS else str(self.named(key))

    def items(self, document: ConfigurationDocument) -> Mapping[Key, Definition]:
        return {self.key(item): item for item in getattr(document, self.field)}


def _group_of_endpoint(endpoint: EndpointDefinition) -> str:
    return OPTION_SETS if KINDS[endpoint.kind].scope is Scope.GLOBAL else endpoint.module


# In the order in which they refer to each other.
COLLECTIONS = (
    Collection("roles", Sentence("role"), lambda role: role.name, lambda role: CONTEXT),
    Collection(
        CALLER_TYPES,
        Sentence("caller type"),
        lambda caller_type: caller_type.name,
        lambda caller_type: CONTEXT,
        lambda caller_type: caller_type.is_built_in,
    ),
    Collection("user_properties", Sentence("user property"), lambda item: item.key, lambda item: CONTEXT),
    Collection("issuers", Sentence("issuer"), lambda issuer: issuer.name, lambda issuer: CONTEXT),
    Collection("modules", Sentence("module"), lambda module: module.segment, lambda module: module.segment),
    Collection("entities", Sentence("entity"), lambda entity: entity.key, lambda entity: entity.module),
    Collection(ENDPOINTS, Sentence("endpoint"), lambda endpoint: endpoint.key, _group_of_endpoint),
)


def duplicate_keys(document: ConfigurationDocument, place: Place) -> Iterator[str]:
    """Yield a sentence for every item that the document has twice, and every input or binding that an
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
                    item=collection.named(key),
                    first=place((collection.field, first_positions[key])),
                )
            first_positions.setdefault(key, position)
    for position, endpoint in enumerate(document.endpoints):
        for field, name in _repeated_names(endpoint):
            yield Sentence(
                "%(place)s: “%(name)s” is listed more than once. Rename or remove one",
                place=f"{place(('endpoints', position, field))} ({endpoint.key})",
                name=name,
            )


def _repeated_names(endpoint: EndpointDefinition) -> Iterator[tuple[str, str]]:
    """Yield the list and the name of every input or binding that the endpoint has twice."""
    for field, names in (
        ("inputs", [input_definition.name for input_definition in endpoint.inputs]),
        ("bindings", [binding.attribute for binding in endpoint.bindings]),
    ):
        yield from ((field, name) for name in sorted({name for name in names if names.count(name) > 1}))


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


def without_duplicates(document: ConfigurationDocument) -> ConfigurationDocument:
    """Return `document` with the first of the items that have the same key, and without endpoints that repeat
    names.
    """
    # Reversed, because a dictionary keeps the last item of a key, and the first is wanted.
    firsts = {
        collection.field: tuple(
            {collection.key(item): item for item in reversed(getattr(document, collection.field))}.values()
        )[::-1]
        for collection in COLLECTIONS
    }
    firsts["endpoints"] = tuple(
        endpoint for endpoint in firsts["endpoints"] if not any(_repeated_names(endpoint))
    )
    return document.model_copy(update=firsts)
