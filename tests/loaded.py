"""The service's code as a starting process has it, loaded once so that many processes can be forked from it.

Loading is most of the work of a start. It reads some settings, and what it makes of them stays: a process may
go on with the loaded code only if these settings are its own as well.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import django
from django.conf import ENVIRONMENT_VARIABLE, settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connections
from django.utils.functional import empty

from tests.forked import SLOW_PASSWORDS

_SETTINGS = "project.settings"
# What servers and commands import besides, once they run.
_IMPORTED_LATER = (
    *("project.application", "project.change_polling", "project.housekeeping", "project.metadata_refresh"),
    *("project.observability.access_log", "project.observability.ledger", "project.urls"),
    *("project.observability.process_figures", "project.management.commands.serve", "project.server.worker"),
    *("runtime.serving.usage", "crmbox.management.commands.crmserver", "crmbox.webapi.application"),
)
# A process reads these anew. Those of the look are constants, some of them functions, which are never equal.
_NOT_KEPT = frozenset({"DATABASES", "LOGGING", "PORTICO", "UNFOLD"})


class _Recorded(dict[str, Any]):
    """What the environment sets, by name. It notes which are read."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)


def _load() -> set[str]:
    """Load the service. Return the names of the environment's settings that this has read."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            {ENVIRONMENT_VARIABLE: _SETTINGS, "PORTICO_MODE": "development", "DATA_DIR": folder}
        )
        # As `manage.py` and `Project.ready` have it.
        gc.disable()
        recorded = _Recorded(settings.PORTICO)
        settings.PORTICO = recorded
        django.setup()
        for name in _IMPORTED_LATER:
            import_module(name)
    os.environ.clear()
    os.environ.update(environment)
    return recorded.read


def _wrapped() -> Any:
    """Return Django's settings, read if they have not been yet."""
    settings.INSTALLED_APPS  # noqa: B018  reads them
    return settings._wrapped


def _kept(names: Iterable[str], read: Iterable[str]) -> list[Any]:
    """Return the values that loading may have kept: of the settings `names`, and of `read`, by their names in
    the environment.
    """
    engines = [database["ENGINE"] for database in settings.DATABASES.values()]
    return [*(getattr(settings, name) for name in names), *(settings.PORTICO[name] for name in read), engines]


_READ_OF_PORTICO = sorted(_load())
# Django notes here what has been read.
_READ = sorted(name for name in vars(settings) if name.isupper() and name not in _NOT_KEPT)
_KEPT = _kept(_READ, _READ_OF_PORTICO)
_ALL = dict(vars(settings._wrapped))


def take_own_settings() -> bool:
    """Give this process the settings of its environment, which is another one than when the code was loaded.

    Returns False if loading has read other values of them: then the process has to start anew.
    """
    if os.environ.setdefault(ENVIRONMENT_VARIABLE, _SETTINGS) != _SETTINGS:
        return False
    del sys.modules[_SETTINGS]
    settings._wrapped = empty
    try:
        # Libraries have added defaults of theirs when they were imported.
        for name in _ALL.keys() - vars(_wrapped()).keys():
            setattr(settings, name, _ALL[name])
        if _kept(_READ, _READ_OF_PORTICO) != _KEPT:
            return False
    except Exception:
        # Whatever it is, the process says it by itself when it starts anew.
        return False
    for connection in connections.all(initialized_only=True):
        del connections[connection.alias]
    connections._settings = None  # type: ignore[attr-defined]
    del connections.settings
    if not os.environ.get(SLOW_PASSWORDS):
        # Each login and each account of the demo would take as long as many pages.
        PBKDF2PasswordHasher.iterations = 1_000
    return True
