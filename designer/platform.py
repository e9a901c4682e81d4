"""The platform that the configuration is for: the one that `settings.PORTICO["PLATFORM"]` names."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.conf import settings

from crmclient import Platform
from crmclient.extensions import Choice, UnusableExtension
from crmclient.platform import missing_members

# `project` registers the built-in platforms; packages add theirs.
PLATFORMS: Choice[Callable[[], Platform]] = Choice(
    "portico.platforms", "a function without arguments that makes a crmclient.Platform"
)


class _OnlyPlatform:
    """The one platform of the process.

    Threads that ask for it at once get the same one. Of two platforms, what is served would keep one, and
    take the other for a new platform at the next edit, so that everything would be read again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._platform: Platform | None = None

    def __call__(self) -> Platform:
        """Return the one platform of the process. Threads may share it.

        Raises UnusableExtension when the platform lacks members.
        """
        if self._platform is not None:
            return self._platform
        with self._lock:
            if self._platform is None:
                self._platform = _make_platform(settings.PORTICO["PLATFORM"])
            return self._platform

    def cache_clear(self) -> None:
        """Forget the platform, so that the next call makes the one that the settings name then."""
        with self._lock:
            self._platform = None


def _make_platform(name: str) -> Platform:
    """Return a new platform of the kind that the settings name. Raises UnusableExtension when it lacks
    members.
    """
    platform = PLATFORMS.find(name)()
    # A package may have been written for a release whose platforms had fewer members.
    if missing := missing_members(platform):
        raise UnusableExtension(
            f"It makes a platform of type {type(platform).__name__}, which lacks {', '.join(missing)}.",
            "Give it every member of crmclient.platform.Platform, or name another platform.",
        )
    return platform


get_platform = _OnlyPlatform()
