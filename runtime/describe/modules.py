"""The modules that some readers see: what a page of documentation offers to choose from."""

from __future__ import annotations

from collections import Counter

from runtime.describe.audience import Audience
from runtime.describe.schema_shapes import Module
from runtime.serving.served import Served


def modules(served: Served, audience: Audience) -> list[Module]:
    """In the order of their segments; those in which the readers may call nothing are left out."""
    endpoints = served.configuration.endpoints
    counts = Counter(endpoints[id].definition.module for id in audience.ids(served))
    return [
        {
            "name": module.segment,
            "title": module.title,
            "description": module.description,
            "endpoints": counts[module.segment],
        }
        for module in served.configuration.modules
        if counts[module.segment]
    ]
