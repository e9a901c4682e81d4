"""What bindings may set and columns may answer: an entity's attributes, or a process's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crmclient.metadata import Attribute
from designer.definitions import EndpointSettings
from designer.kinds.actions import ActionSettings
from designer.processes import as_attributes
from designer.readiness.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`owner` is the logical name of the entity or process. Both mappings are by attribute."""

    owner: str
    written: Mapping[str, Attribute]
    read: Mapping[str, Attribute]


def vocabulary(settings: EndpointSettings, entity: str, metadata: Metadata) -> Vocabulary | None:
    """None while what it would come from is not chosen, or not known to the platform."""
    if isinstance(settings, ActionSettings):
        process = metadata.process(settings.process)
        if process is None:
            return None
        return Vocabulary(process.name, as_attributes(process.inputs), as_attributes(process.outputs))
    attributes = metadata.attributes(entity) if entity else {}
    return Vocabulary(entity, attributes, attributes) if attributes else None
