"""The registry of processes."""

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
    """What a process works with.

    `target` is the record of a bound process; pass `call` on to the platform.
    """

    platform: Platform
    call: Call
    target: Reference | None


# The inputs have been checked against their declaration when the body is called.
Body: TypeAlias = Callable[[Context, Mapping[str, Any]], ProcessValues]


@dataclass(frozen=True, slots=True)
class CustomProcess:
    """A process: its description, and the function that does it."""

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
    privilege: str = "",
) -> Callable[[Body], CustomProcess]:
    """Make a process of a callable, bound to `entity` or unbound. It can be called once it is registered.

    It runs in one transaction. Its exceptions undo what it has written; `Refused` refuses the call with its
    own message. `privilege` names what a user of `manage.py crmserver` needs to call it; in the box itself,
    nobody needs privileges.
    """
    described = Process(
        name=name,
        label=label or name,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        entity=entity,
        description=description,
        privilege=privilege,
    )
    return lambda body: CustomProcess(described, body)
