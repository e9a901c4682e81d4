"""Which management command runs, for those who note what it does. Nothing here needs Django."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# What answers requests says itself who asks.
_SERVERS = frozenset({"serve", "crmserver", "runserver"})

_name: ContextVar[str] = ContextVar("running_command", default="")


def running_command() -> str:
    """The command's name; empty in a server, and where no command runs."""
    return _name.get()


@contextmanager
def run_as(command: str) -> Iterator[None]:
    token = _name.set("" if command in _SERVERS else command)
    try:
        yield
    finally:
        _name.reset(token)
