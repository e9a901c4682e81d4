"""The readers of a description: it has what they may call, and the modules of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from designer.definitions import AccessDefinition
from designer.names import USER_TYPE
from runtime.callers.caller import Caller
from runtime.describe.schema_shapes import Module
from runtime.serving.served import Served


@dataclass(frozen=True, slots=True)
class Audience:
    """The readers of a description: callers of one `type` with the same `roles`. `roles` is None for readers
    without a token.
    """

    roles: frozenset[str] | None
    type: str = USER_TYPE

    def may_call(self, access: AccessDefinition) -> bool:
        """Whether these readers may call an endpoint with this `access`."""
        if not access.authentication_required:
            return True
        if self.roles is None or self.type not in access.caller_types:
            return False
        return not access.roles or not self.roles.isdisjoint(access.roles)

    def ids(self, served: Served) -> Iterable[int]:
        """Return the ids of the served endpoints that these readers may call, by path."""
        endpoints = served.configuration.endpoints
        allowed_ids = (id for id in served.routes.ids() if self.may_call(endpoints[id].definition.access))
        return sorted(allowed_ids, key=lambda id: (endpoints[id].path, endpoints[id].methods))


ANONYMOUS_READERS = Audience(None)


def audience_of(caller: Caller, served: Served) -> Audience:
    """Return the readers that `caller` belongs to.

    Roles that the configuration does not have are left out: they allow nothing more.
    """
    if caller.is_anonymous:
        return ANONYMOUS_READERS
    return Audience(caller.roles & {role.name for role in served.configuration.roles}, caller.type)


def modules(served: Served, audience: Audience, lcid: int) -> list[Module]:
    """Return the modules in which the readers may call something, sorted by segment, in a language."""
    endpoints = served.configuration.endpoints
    counts = Counter(endpoints[id].definition.module for id in audience.ids(served))
    return [
        {
            "name": module.segment,
            "title": module.title,
            "description": module.description,
            "endpoints": counts[module.segment],
        }
        for module in (definition.in_language(lcid) for definition in served.configuration.modules)
        if counts[module.segment]
    ]
