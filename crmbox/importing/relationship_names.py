"""The names of relationships, which are unique in the whole CRM."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from crmbox.importing.fitted_definitions import NAME
from crmclient.errors import InvalidDefinition
from crmclient.metadata import Relationship

Ends = tuple[str, str, str]
"""The referencing entity, the attribute (or intersect entity) that refers, and the referenced entity."""


class RelationshipNames:
    """The names that are taken. An organisation may use a name several times; here each has one owner."""

    def __init__(self, present: Iterable[Relationship]) -> None:
        self._ends = {relationship.name: _ends(relationship) for relationship in present}

    def reserve(self, relationship: Relationship) -> None:
        self._ends[relationship.name] = _ends(relationship)

    def owner(self, name: str) -> Ends | None:
        """Return the ends of the relationship that has the name; None for a name that is free."""
        return self._ends.get(name)

    def give(self, relationship: Relationship, plain: str) -> str:
        """Reserve and return a name for a relationship: its own, or `plain` where that is taken or cannot
        stand in a URL, or else `plain` with a digest.

        A name that is reserved for a relationship of the same ends can be given again. Raises
        InvalidDefinition where no name is free.
        """
        ends = _ends(relationship)
        # With the digest, the name has at most 189 of the 200 characters that NAME allows.
        digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
        for name in (relationship.name, plain, f"{plain[:180]}_{digest}"):
            if NAME.fullmatch(name) and self._ends.setdefault(name, ends) == ends:
                return name
        raise InvalidDefinition(f"No name is left for the relationship {relationship.name!r}.")


def _ends(relationship: Relationship) -> Ends:
    holder = relationship.referencing_attribute or relationship.intersect or ""
    return relationship.referencing, holder, relationship.referenced
