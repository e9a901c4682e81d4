"""Which processes there are, and what one is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from crmclient.extensions import Registry
from crmclient.metadata import Process, ProcessParameter
from crmclient.platform import Call, Platform
from crmclient.values import ProcessValues, Reference


@dataclass(frozen=True, slots=True)
class Context:
    """What a process works with. `target` is a bound process's record; pass `call` on to the platform."""

    platform: Platform
    call: Call
    target: Reference | None


# What a process declares of its inputs has been checked when it is called.
Body: TypeAlias = Callable[[Context, Mapping[str, Any]], ProcessValues]


@dataclass(frozen=True, slots=True)
class CustomProcess:
    """A process as it is described to others, and what it does."""

    process: Process
    body: Body


PROCESSES: Registry[CustomProcess] = Registry(
    "portico.processes",
    "a process (made by the decorator crmbox.processes.process)",
    lambda item: isinstance(item, CustomProcess),
    lambda item: item.process.name,
)


def process(
    name: str,
    *,
    label: str = "",
    inputs: Sequence[ProcessParameter] = (),
    outputs: Sequence[ProcessParameter] = (),
    entity: str | None = None,
    description: str = "",
) -> Callable[[Body], CustomProcess]:
    """Make a process of a callable, bound to `entity` or unbound. It is there once it is registered.

    It runs in one transaction: what it raises undoes what it has written, `Refused` says no in its own words.
    """
    described = Process(name, label or name, tuple(inputs), tuple(outputs), entity, description)
    return lambda body: CustomProcess(described, body)
