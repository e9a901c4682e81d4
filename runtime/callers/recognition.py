"""What decides who the caller of a token is, at one state of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from crmclient import Guid, Platform
from crmclient.query.ast import Query
from designer.configuration import Configuration
from designer.definitions import CallerTypeDefinition, IssuerDefinition
from runtime.callers.caller import Caller
from runtime.callers.issuers import Issuers, issuers_of

# Returns a query for the caller's type and the id of the caller's record.
RecordQuery: TypeAlias = Callable[[str, Guid], Query | None]


def _no_record_query(type: str, record: Guid) -> Query | None:
    return None


# The recognition of the present request, for resolvers of the older form: they get claims alone, and may call
# the built-in resolver with these.
present: ContextVar[Recognition] = ContextVar("portico.recognition")


@dataclass(frozen=True, slots=True, eq=False)
class Recognition:
    """What decides who the caller of a token is. While it is the same object, a token's caller is looked up
    only once.

    `record_query` gives the query that reads a caller's record with all configured properties, so that
    checking the record needs no query of its own; None where there is no such query.
    """

    definitions: tuple[IssuerDefinition, ...]
    types: Mapping[str, CallerTypeDefinition]
    platform: Platform
    # Requests a minute of callers with a role, of the roles that have a limit.
    rates: Mapping[str, int] = field(default_factory=dict)
    record_query: RecordQuery = _no_record_query

    @classmethod
    def of(
        cls, configuration: Configuration, platform: Platform, record_query: RecordQuery = _no_record_query
    ) -> Recognition:
        """Return the recognition of a configuration. `record_query` is as on the class."""
        types = {caller_type.name: caller_type for caller_type in configuration.caller_types}
        rates = {role.name: role.rate for role in configuration.roles if role.rate}
        return cls(
            definitions=configuration.issuers,
            types=types,
            platform=platform,
            rates=rates,
            record_query=record_query,
        )

    def rate_of(self, caller: Caller) -> int:
        """Return the caller's own limit in requests a minute, or the highest of its roles; 0 without such a
        limit.
        """
        if caller.rate or not self.rates:
            return caller.rate
        return max((self.rates.get(role, 0) for role in caller.roles), default=0)

    @property
    def issuers(self) -> Issuers:
        """The issuers of the configuration and of the environment."""
        return issuers_of(self.definitions)
