"""Edits inside our service's process, where Django is set up: of what many endpoints share, and of one."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping

from designer.models import Endpoint, Module, Role
from runtime.serving import served

ROLE, MODULE = "sales-rep", "sales"


def _rename_role(mark: str) -> None:
    Role.objects.filter(name__startswith=ROLE).update(name=f"{ROLE}{mark}")


def _describe_role(mark: str) -> None:
    Role.objects.filter(name__startswith=ROLE).update(description=f"Of the bench {mark}")


def _move_module(mark: str) -> None:
    Module.objects.filter(segment__startswith=MODULE).update(segment=f"{MODULE}{mark}")


def _name_module(mark: str) -> None:
    Module.objects.filter(segment__startswith=MODULE).update(title=f"Of the bench {mark}")


def _describe_endpoint(mark: str) -> None:
    endpoint = Endpoint.objects.filter(module__segment__startswith=MODULE).order_by("pk").last()
    assert endpoint is not None
    Endpoint.objects.filter(pk=endpoint.pk).update(description=f"Of the bench {mark}")


EDITS: Mapping[str, Callable[[str], None]] = {
    "a role's description": _describe_role,
    "a module's title": _name_module,
    "an endpoint": _describe_endpoint,
    "a role's name": _rename_role,
    "a module's segment": _move_module,
}


def edits(rounds: str) -> None:
    """Print the processor's milliseconds of the request after each edit, as JSON of lists by edit."""
    served.serve_from_now_on()
    served.current()
    spent: dict[str, list[float]] = {what: [] for what in EDITS}
    for number in range(int(rounds)):
        for what, edit in EDITS.items():
            edit(str(number))
            began = time.thread_time()
            served.current()
            spent[what].append((time.thread_time() - began) * 1000)
            # What is worked out beside the requests is over before the next edit.
            time.sleep(1)
    for edit in EDITS.values():
        edit("")
    sys.stdout.write(json.dumps(spent))


def edit(which: str) -> None:
    """Make the edit that stands before the slash, told from the others by the number behind it."""
    what, _, mark = which.partition("/")
    EDITS[what](mark)
