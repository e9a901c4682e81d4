"""A check at start: with a wrong `ISSUERS`, the service does not start, instead of refusing every token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from runtime.callers.issuers.environment import read_issuers


@register("portico")
def issuers_make_sense(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return an error for a wrong `ISSUERS`, for Django's system checks."""
    try:
        read_issuers(settings.PORTICO["ISSUERS"])
    except ImproperlyConfigured as error:
        return [Error(str(error), hint="docs/settings.md describes ISSUERS.", id="portico.E020")]
    return []
