"""Which processes there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TypeAlias

from django.conf import settings

from crmclient.metadata import Process, ProcessParameter
from crmclient.platform import Call, Platform
from crmclient.values import Reference, Values

DEMO_PROCESSES = "crmbox.demo.processes"


@dataclass(frozen=True, slots=True)
class Context:
    """What a process works with. `target` is a bound process's record; pass `call` on to the platform."""

    platform: Platform
    call: Call
    target: Reference | None


Body: TypeAlias = Callable[[Context, Values], Values]


@dataclass(frozen=True, slots=True)
class Registered:
    process: Process
    body: Body


_registered: dict[str, Registered] = {}


def process(
    name: str,
    *,
    label: str = "",
    inputs: Sequence[ProcessParameter] = (),
    outputs: Sequence[ProcessParameter] = (),
    entity: str | None = None,
    description: str = "",
) -> Callable[[Body], Body]:
    """Register a callable as a process, bound to `entity` or unbound.

    It runs in one transaction: what it raises undoes what it has written, `Refused` says no in its own words.
    """

    def register(body: Body) -> Body:
        known = _registered.get(name)
        if known is not None and known.body.__module__ != body.__module__:
            raise ValueError(f"The process {name!r} is registered in {known.body.__module__} already.")
        described = Process(name, label or name, tuple(inputs), tuple(outputs), entity, description)
        _registered[name] = Registered(described, body)
        return body

    return register


def registered() -> Mapping[str, Registered]:
    """Every process by name."""
    _import_modules()
    return _registered


@cache
def _import_modules() -> None:
    for module in settings.PORTICO.get("CRM_PROCESSES", [DEMO_PROCESSES]):
        import_module(module)
