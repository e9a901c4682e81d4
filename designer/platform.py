"""The platform that the configuration is for: the one that `settings.PORTICO["PLATFORM"]` names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.conf import settings

from crmclient import Platform
from crmclient.extensions import Choice

# Which there are is for `project` to say, and for packages.
PLATFORMS: Choice[Callable[[], Platform]] = Choice(
    "portico.platforms", "a function without arguments that makes a crmclient.Platform"
)


@cache
def get_platform() -> Platform:
    """One platform for the process; implementations are safe to share between threads."""
    return PLATFORMS.find(settings.PORTICO["PLATFORM"])()
