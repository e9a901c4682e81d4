"""The databases that the embedded platform runs on."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from django.core.exceptions import ImproperlyConfigured

from crmbox.engine.dialects.base import Dialect

_CLASSES = {
    "sqlite": ("crmbox.engine.dialects.sqlite", "SQLite"),
    "postgresql": ("crmbox.engine.dialects.postgres", "PostgreSQL"),
}


@cache
def dialect_of(vendor: str) -> Dialect:
    """The dialect of Django's `connection.vendor`; a driver that is not used is not imported."""
    if vendor not in _CLASSES:
        raise ImproperlyConfigured(f"The embedded platform runs on SQLite or PostgreSQL, not on {vendor}.")
    module, name = _CLASSES[vendor]
    dialect: Dialect = getattr(import_module(module), name)()
    return dialect
