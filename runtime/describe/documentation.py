"""What a route says of itself in the document, beside what its operation describes."""

from __future__ import annotations

from dataclasses import dataclass

from designer.configuration import Endpoint
from designer.definitions import AccessDefinition

# The tag of what belongs to no module: option sets, which no other kind of endpoint is.
GLOBAL = "Global option sets"


@dataclass(frozen=True, slots=True)
class Documentation:
    """`operation_id` is unique over the document and stays while the endpoint keeps its place.

    `spellings` are further methods, in upper case, that do the same. `repeatable`: an Idempotency-Key is
    taken.
    """

    operation_id: str
    summary: str
    description: str
    tag: str
    access: AccessDefinition
    spellings: tuple[str, ...] = ()
    repeatable: bool = False


def of_endpoint(endpoint: Endpoint) -> Documentation:
    definition = endpoint.definition
    kind = endpoint.kind
    return Documentation(
        operation_id=operation_id(endpoint),
        summary=definition.title or kind.label,
        description=definition.description or kind.summary,
        tag=definition.module or GLOBAL,
        access=definition.access,
        spellings=kind.methods[1:],
        repeatable="POST" in kind.methods,
    )


def operation_id(endpoint: Endpoint) -> str:
    """`create.sales.accounts`: the kind, which says how many places follow, and segments, which hold no dot.

    So two paths of one method never share an id.
    """
    definition, kind = endpoint.definition, endpoint.kind
    places = {"module": definition.module, "segment": endpoint.segment, "name": definition.name}
    return ".".join([kind.name, *(text for place, text in places.items() if f"{{{place}}}" in kind.path)])
