"""What bindings may set and columns may answer: attributes, parameters of a process, columns of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from crmclient.metadata import Attribute, Process


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`owner` is the logical name of the entity or process, or says that it is the query. Both mappings are
    by attribute; of a query, by the key of its row."""

    owner: str
    written: Mapping[str, Attribute]
    read: Mapping[str, Attribute]


class MetadataSource(Protocol):
    """What a vocabulary is made from. `designer.readiness.Metadata` is one."""

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        """The attributes of an entity by logical name; empty for an unknown entity."""

    def process(self, name: str) -> Process | None: ...
