"""The platform that the configuration is for: the one that `settings.PORTICO["PLATFORM"]` names."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.conf import settings

from crmclient import Platform
from crmclient.extensions import Choice

# Which there are is for `project` to say, and for packages.
PLATFORMS: Choice[Callable[[], Platform]] = Choice(
    "portico.platforms", "a function without arguments that makes a crmclient.Platform"
)


class _OnlyPlatform:
    """Threads that ask for it at once get the same: of two, one would be kept by what is served, and be taken
    for another one at the next edit, so that everything would be read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._platform: Platform | None = None

    def __call__(self) -> Platform:
        """One platform for the process; implementations are safe to share between threads."""
        if self._platform is not None:
            return self._platform
        with self._lock:
            if self._platform is None:
                self._platform = PLATFORMS.find(settings.PORTICO["PLATFORM"])()
            return self._platform

    def cache_clear(self) -> None:
        """Make another one when it is next asked for: the settings name another."""
        with self._lock:
            self._platform = None


get_platform = _OnlyPlatform()
