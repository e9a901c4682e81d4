"""The platform that the configuration is for: the one that `settings.PORTICO["PLATFORM"]` names."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.conf import settings

from crmclient import Platform
from crmclient.errors import PlatformError
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

        Raises UnusableExtension when the platform cannot be made or lacks members, and a PlatformError that
        the making of it raises.
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
    """Return a new platform of the kind that the settings name.

    Raises UnusableExtension when it cannot be made or lacks members. A PlatformError passes through: whoever
    asks for the platform tells it like one of a call.
    """
    make = PLATFORMS.find(name)
    try:
        platform = make()
    except PlatformError:
        raise
    # Making it runs the code of a package, which may raise anything.
    except Exception as error:
        raise not_made(error) from error
    # A package may have been written for a release whose platforms had fewer members.
    if missing := missing_members(platform):
        raise UnusableExtension(
            f"It makes a platform of type {type(platform).__name__}, which lacks {', '.join(missing)}.",
            "Give it every member of crmclient.platform.Platform, or name another platform.",
        )
    return platform


def not_made(error: Exception) -> UnusableExtension:
    """Return what to say of a platform whose function has raised `error`."""
    return UnusableExtension(
        f"The platform cannot be made: {type(error).__name__}: {error}.",
        "Correct what it is made of: its package or module, or the settings that this reads.",
    )


get_platform = _OnlyPlatform()
