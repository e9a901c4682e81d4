"""The lists of a document, and what makes an item of each the same one in another document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from designer.definitions import ConfigurationDocument, Definition, EndpointDefinition
from designer.kinds import KINDS, Scope
from designer.sentences import Sentence

Key: TypeAlias = str
# Members and numbers on the way from the document to a value in it, and how that way is told.
Location: TypeAlias = Sequence[str | int]
Place: TypeAlias = Callable[[Location], str]

# The groups that are no module's. Neither can be a module's segment: both are reserved.
CONTEXT = "context"
OPTION_SETS = "optionsets"

CALLER_TYPES = "caller_types"


@dataclass(frozen=True, slots=True)
class Collection:
    """One list of the document. `group` is what must be named before an item of it is removed; what
    `is_fixed` never is.
    """

    field: str
    noun: Sentence
    key: Callable[[Any], Key]
    group: Callable[[Any], str]
    is_fixed: Callable[[Any], bool] = lambda item: False

    def named(self, key: Key) -> Sentence:
        return Sentence("%(noun)s %(key)s", noun=self.noun, key=key)

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
        lambda known: known.name,
        lambda known: CONTEXT,
        lambda known: known.is_built_in,
    ),
    Collection("user_properties", Sentence("user property"), lambda owned: owned.key, lambda owned: CONTEXT),
    Collection("issuers", Sentence("issuer"), lambda issuer: issuer.name, lambda issuer: CONTEXT),
    Collection("modules", Sentence("module"), lambda module: module.segment, lambda module: module.segment),
    Collection("entities", Sentence("entity"), lambda entity: entity.key, lambda entity: entity.module),
    Collection("endpoints", Sentence("endpoint"), lambda endpoint: endpoint.key, _group_of_endpoint),
)


def repeated(document: ConfigurationDocument, place: Place) -> Iterator[str]:
    """A sentence for every item that stands in the document twice, or input or binding in its endpoint."""
    for collection in COLLECTIONS:
        first: dict[Key, int] = {}
        for at, item in enumerate(getattr(document, collection.field)):
            key = collection.key(item)
            if key in first:
                yield Sentence(
                    "%(place)s: the %(item)s is already at %(first)s. Remove one of them",
                    place=place((collection.field, at)),
                    item=collection.named(key),
                    first=place((collection.field, first[key])),
                )
            first.setdefault(key, at)
    for at, endpoint in enumerate(document.endpoints):
        for field, names in (
            ("inputs", [known.name for known in endpoint.inputs]),
            ("bindings", [binding.attribute for binding in endpoint.bindings]),
        ):
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield Sentence(
                    "%(place)s: “%(name)s” is listed more than once. Rename or remove one",
                    place=f"{place(('endpoints', at, field))} ({endpoint.key})",
                    name=name,
                )
