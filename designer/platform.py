"""The platform that the configuration is for, as `settings.PORTICO["PLATFORM"]` makes it."""

from __future__ import annotations

from functools import cache
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from crmclient import Platform


@cache
def get_platform() -> Platform:
    """One platform for the process; implementations are safe to share between threads."""
    return cast(Platform, import_string(settings.PORTICO["PLATFORM"])())
