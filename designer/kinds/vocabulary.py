"""What bindings may set and columns may answer: attributes, parameters of a process, columns of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crmclient.metadata import Attribute, Entity, OptionSet, Process, Relationship


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What bindings may set (`written`) and columns may answer (`read`).

    `owner` is the logical name of the entity or process, or says that it is the query. Both mappings are by
    attribute; for a query, by the key of its row.
    """

    owner: str
    written: Mapping[str, Attribute]
    read: Mapping[str, Attribute]


class MetadataSource(Protocol):
    """The platform's metadata, as kinds ask for it. `designer.readiness.Metadata` is one.

    Its members raise MetadataUnavailable where the platform does not say.
    """

    # Mappings are by logical name.
    def entities(self) -> Mapping[str, Entity]: ...

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        """The attributes of an entity by logical name; empty for an unknown entity."""

    def relationships(self, entity: str) -> Sequence[Relationship]:
        """Return the relationships of an entity; empty for an unknown one."""

    def option_sets(self) -> Mapping[str, OptionSet]: ...

    def processes(self) -> Mapping[str, Process]: ...

    def process(self, name: str) -> Process | None:
        """Return a process; None for an unknown one."""
