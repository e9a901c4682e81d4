"""A platform that is asked for its metadata once, however many endpoints are described by it."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from crmclient import Platform

_METADATA = (
    *("entities", "attributes", "relationships", "option_set", "option_sets"),
    *("processes", "languages", "security_roles"),
)


def remembering(platform: Platform) -> Platform:
    """`platform` with the metadata that it has when first asked: one revision is not described by two."""
    return cast(Platform, _Remembering(platform))


class _Remembering:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        for name in _METADATA:
            setattr(self, name, cache(getattr(platform, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._platform, name)
