"""The management command that runs, for the audit log and the like. Nothing here needs Django."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Servers do not count: each of their requests has an account of its own.
_SERVERS = frozenset({"serve", "crmserver", "runserver"})

_name: ContextVar[str] = ContextVar("running_command", default="")


def running_command() -> str:
    """Return the name of the command; empty in a server, and where no command runs."""
    return _name.get()


@contextmanager
def run_as(command: str) -> Iterator[None]:
    """Let `running_command` return `command` while the context lasts; empty for a server."""
    token = _name.set("" if command in _SERVERS else command)
    try:
        yield
    finally:
        _name.reset(token)
