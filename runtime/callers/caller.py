"""A caller, and what a user resolver says of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from crmclient import Guid
from crmclient.metadata import PlatformUser

Claims: TypeAlias = Mapping[str, Any]

_NO_CLAIMS: Claims = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Identity:
    """What a user resolver answers: the application's roles, and the system user on the platform, if any."""

    roles: frozenset[str] = frozenset()
    platform_user: Guid | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent the request: (`issuer`, `subject`) is unique, both are empty for an anonymous caller.

    `profile` is the platform's record of `platform_user`, at most a minute old. `claims` are those of the
    token. `known_until` is when (of time.monotonic) that minute is over.
    """

    issuer: str
    subject: str
    roles: frozenset[str] = frozenset()
    platform_user: Guid | None = None
    profile: PlatformUser | None = field(default=None, repr=False)
    claims: Claims = field(default_factory=lambda: _NO_CLAIMS, repr=False, compare=False)
    known_until: float = field(default=math.inf, repr=False, compare=False)

    @property
    def is_anonymous(self) -> bool:
        return not self.issuer


ANONYMOUS = Caller(issuer="", subject="")


def surroundings(caller: Caller) -> dict[str, Any]:
    """What expressions see of `user` beside the configured properties."""
    profile = caller.profile
    teams = zip(profile.team_ids, profile.team_names, strict=True) if profile else ()
    return {
        "id": caller.platform_user,
        "roles": sorted(caller.roles),
        "teams": [{"id": id, "name": name} for id, name in teams],
    }
