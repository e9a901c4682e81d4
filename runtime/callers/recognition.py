"""What callers are recognised by, at one state of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from crmclient import Platform
from designer.configuration import Configuration
from designer.definitions import CallerTypeDefinition, IssuerDefinition
from runtime.callers.caller import Caller
from runtime.callers.issuers import Issuers, issuers_of

# For resolvers of the older form, which are given claims alone and ask the built-in one.
present: ContextVar[Recognition] = ContextVar("portico.recognition")


@dataclass(frozen=True, slots=True, eq=False)
class Recognition:
    """While it is the same object, who a token means need not be found out again."""

    definitions: tuple[IssuerDefinition, ...]
    types: Mapping[str, CallerTypeDefinition]
    platform: Platform
    # Requests a minute of callers with a role, of the roles that have a limit.
    rates: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, configuration: Configuration, platform: Platform) -> Recognition:
        types = {known.name: known for known in configuration.caller_types}
        rates = {role.name: role.rate for role in configuration.roles if role.rate}
        return cls(configuration.issuers, types, platform, rates)

    def rate_of(self, caller: Caller) -> int:
        """Requests a minute that the caller or its roles have as a limit of their own; 0 without one."""
        if caller.rate or not self.rates:
            return caller.rate
        return max((self.rates.get(role, 0) for role in caller.roles), default=0)

    @property
    def issuers(self) -> Issuers:
        return issuers_of(self.definitions)
