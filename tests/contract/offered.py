"""What a consultant would offer of each entity with every attribute: the studio's own usual operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crmclient import Platform
from designer.definitions import ConfigurationDocument, EndpointDefinition, ModuleDefinition
from designer.definitions.entities import ExposedEntityDefinition
from designer.exposing import USUAL, Exposure, endpoints

MODULE = "everything"
ENTITIES = ("account", "contact", "incident", "lead", "opportunity")
# Of many accounts only two may be answered at once: what is more is refused.
CAPPED: dict[str, Any] = {
    "kind": "multi-query",
    "module": MODULE,
    "name": "capped",
    "settings": {
        "query": '<fetch><entity name="account"><attribute name="name"/></entity></fetch>',
        "cap": 2,
    },
}


def everything(platform: Platform) -> ConfigurationDocument:
    return ConfigurationDocument(
        format=2,
        modules=(ModuleDefinition(segment=MODULE, title="Everything"),),
        entities=tuple(
            ExposedEntityDefinition(module=MODULE, segment=name, entity=name) for name in ENTITIES
        ),
        endpoints=(*_usual(platform), EndpointDefinition.model_validate(CAPPED)),
    )


def _usual(platform: Platform) -> Iterable[EndpointDefinition]:
    known = platform.entities()
    for name in ENTITIES:
        attributes = platform.attributes(name)
        wanted = Exposure(MODULE, name, [kind.name for kind in USUAL], list(attributes))
        yield from endpoints(wanted, known[name], attributes)
