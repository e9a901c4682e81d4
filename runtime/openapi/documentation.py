"""What a view says of itself for the document, beside what its operation describes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from designer.configuration import Endpoint
from designer.definitions import AccessDefinition
from designer.names import output_key
from runtime.operations.base import Description


@dataclass(frozen=True, slots=True)
class Documentation:
    """`operation_id` is unique over the document and stays while the endpoint keeps its place.

    `spellings` are further methods, in upper case, that do the same.
    """

    operation_id: str
    summary: str
    description: str
    tag: str
    access: AccessDefinition
    spellings: tuple[str, ...] = ()


class Documented(Protocol):
    """A view that the document can describe."""

    def document(self) -> Documentation: ...

    def describe(self) -> Description: ...


def of_endpoint(endpoint: Endpoint) -> Documentation:
    definition = endpoint.definition
    kind = endpoint.kind
    # Segments hold no underscores, so that two places never share an id.
    places = (definition.module, endpoint.segment, kind.name, definition.name)
    return Documentation(
        operation_id="_".join(output_key(place) for place in places if place),
        summary=definition.title or kind.label,
        description=definition.description or kind.summary,
        tag=definition.module or kind.label,
        access=definition.access,
        spellings=kind.methods[1:],
    )
