"""The names that relationships have, each once in the whole CRM."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from crmbox.importing.fitting import NAME
from crmclient.errors import InvalidDefinition
from crmclient.metadata import Relationship

Ends = tuple[str, str, str]
"""The entity that points, what holds the reference, and the entity that is pointed at."""


class RelationshipNames:
    """Organisations give one name to relationships of several entities; here each name has one owner."""

    def __init__(self, present: Iterable[Relationship]) -> None:
        self._ends = {each.name: _ends(each) for each in present}

    def reserve(self, relationship: Relationship) -> None:
        self._ends[relationship.name] = _ends(relationship)

    def owner(self, name: str) -> Ends | None:
        return self._ends.get(name)

    def give(self, relationship: Relationship, plain: str) -> str:
        """Reserve the relationship's own name, or `plain` where another has it or it cannot stand in a URL.

        Raises InvalidDefinition where neither is free.
        """
        ends = _ends(relationship)
        digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
        for name in (relationship.name, plain, f"{plain[:180]}_{digest}"):
            if NAME.fullmatch(name) and self._ends.setdefault(name, ends) == ends:
                return name
        raise InvalidDefinition(f"No name is left for the relationship {relationship.name!r}.")


def _ends(relationship: Relationship) -> Ends:
    holder = relationship.referencing_attribute or relationship.intersect or ""
    return relationship.referencing, holder, relationship.referenced
