"""What bindings may set and columns may answer: attributes, parameters of a process, columns of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crmclient.metadata import Attribute
from designer.definitions import EndpointSettings
from designer.kinds.actions import ActionSettings
from designer.kinds.queries import QuerySettings
from designer.processes import as_attributes
from designer.queries import answered
from designer.readiness.metadata import Metadata
from designer.sentences import Sentence as _


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`owner` is the logical name of the entity or process, or says that it is the query. Both mappings are
    by attribute; of a query, by the key of its row."""

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
    if isinstance(settings, QuerySettings):
        if settings.query is None:
            return None
        return Vocabulary(_("The query"), {}, answered(settings.query, metadata.attributes))
    attributes = metadata.attributes(entity) if entity else {}
    return Vocabulary(entity, attributes, attributes) if attributes else None
