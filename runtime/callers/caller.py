"""A caller, and the answer of a user resolver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from crmclient import Guid, Value
from crmclient.metadata import PlatformUser
from crmclient.query.ast import Query
from designer.names import RESERVED_PROPERTIES, USER_TYPE

Claims: TypeAlias = Mapping[str, Any]

_NO_CLAIMS: Claims = MappingProxyType({})


# Stands for a platform user that was not given, which is not the same as None.
_UNSAID: Any = object()


@dataclass(frozen=True, slots=True, init=False)
class Identity:
    """The answer of a user resolver: the application's roles, the caller's type, and the record.

    `record` is the id of the caller's record; None without one. `claims` are the token's claims that
    expressions may read, as `user.claims`.
    """

    roles: frozenset[str]
    type: str
    record: Guid | None
    claims: Claims

    def __init__(
        self,
        roles: frozenset[str] = frozenset(),
        platform_user: Guid | None = _UNSAID,
        *,
        type: str = USER_TYPE,
        record: Guid | None = None,
        claims: Claims = _NO_CLAIMS,
    ) -> None:
        """Take `platform_user` as the record of a caller of type `user`, in preference to `record`.

        Raises ValueError for a platform user of any other type.
        """
        if platform_user is not _UNSAID:
            if type != USER_TYPE and platform_user is not None:
                raise ValueError(f"a caller of type {type} is no platform user")
            record = platform_user if type == USER_TYPE else record
        for name, value in (("roles", roles), ("type", type), ("record", record), ("claims", claims)):
            object.__setattr__(self, name, value)

    @property
    def platform_user(self) -> Guid | None:
        """The record of a caller of type `user`; None for any other type."""
        return self.record if self.type == USER_TYPE else None


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request. (`issuer`, `subject`) is unique; both are empty for an anonymous caller.

    `record` is in the entity of the caller type `type`. For the type `user` it is a user of the platform, and
    `profile` is what the platform says of the user, at most a minute old. `claims` are the token's claims
    that expressions may read. `known_until` is the second of `time.monotonic()` at which that minute is over.
    `record_read` is the query by which a record of another type was read, and its row, no older than that
    minute.
    """

    issuer: str
    subject: str
    roles: frozenset[str] = frozenset()
    type: str = USER_TYPE
    record: Guid | None = None
    profile: PlatformUser | None = field(default=None, repr=False)
    claims: Claims = field(default_factory=lambda: _NO_CLAIMS, repr=False, compare=False)
    known_until: float = field(default=math.inf, repr=False, compare=False)
    record_read: tuple[Query, Mapping[str, Value]] | None = field(default=None, repr=False, compare=False)
    # The networks that an API key may be sent from; empty means everywhere. Only callers of API keys have
    # some.
    networks: tuple[str, ...] = field(default=(), repr=False, compare=False)
    # The caller's own limit in requests a minute; 0 for none.
    rate: int = field(default=0, repr=False, compare=False)

    @property
    def platform_user(self) -> Guid | None:
        """The platform user that the caller is; None for any other type."""
        return self.record if self.type == USER_TYPE else None

    @property
    def is_anonymous(self) -> bool:
        return not self.issuer


ANONYMOUS = Caller(issuer="", subject="")


def caller_facts(caller: Caller) -> dict[str, Any]:
    """Return what expressions see of `user` beside the configured properties, by name."""
    profile = caller.profile
    teams = zip(profile.team_ids, profile.team_names, strict=True) if profile else ()
    return {
        "id": caller.record,
        "type": caller.type,
        "roles": sorted(caller.roles),
        "claims": caller.claims,
        "teams": [{"id": id, "name": name} for id, name in teams],
    }


def fields_of_user(caller: Caller, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return `user` as expressions see it: the caller's facts, and the configured properties. A property
    cannot replace a reserved name.
    """
    facts = caller_facts(caller)
    return facts | dict(properties) | {name: facts[name] for name in RESERVED_PROPERTIES}
