"""Outages that all processes of one `manage.py serve` see, told by one of them.

Each has a file in the folder that the processes have for their figures, with its state and the ids of the
processes that have seen it. A worker that was killed cannot log the end: an outage that no living process
has seen is over.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import orjson

from crmclient.outages import OutageState
from project.observability.shared_figures import FOLDER


class SharedOutages:
    """Outages that all processes share in a folder.

    Without a folder, and if it cannot be written to, each process logs what it sees itself.
    """

    @contextmanager
    def state_of(self, fact: str) -> Iterator[OutageState | None]:
        """Yield the state of an outage, and store what the block makes of it. None where the file cannot be
        opened.
        """
        file = _open_locked(fact)
        if file is None:
            yield None
            return
        with file:
            state, witnesses = _state_and_witnesses(file)
            yield state
            with suppress(OSError):
                file.seek(0)
                file.truncate()
                if state.failures:
                    file.write(orjson.dumps([asdict(state), sorted({*witnesses, os.getpid()})]))


def _open_locked(fact: str) -> IO[bytes] | None:
    """Open the file of `fact`, the name of an outage, and lock it until it is closed.

    Return None where processes share no folder, or the file cannot be opened there.
    """
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    # A fact may hold what no file name can, such as a slash.
    name = hashlib.sha256(fact.encode()).hexdigest()[:32]
    try:
        file = os.fdopen(os.open(Path(folder) / f"{name}.outage", os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return None
    return file


def _state_and_witnesses(file: IO[bytes]) -> tuple[OutageState, list[int]]:
    """Return the state of the outage, and the processes that have seen it.

    Both are empty without an outage, and when none of these processes lives.
    """
    try:
        state, witnesses = orjson.loads(file.read())
        if any(_lives(process) for process in witnesses):
            return OutageState(**state), witnesses
    except (OSError, ValueError, TypeError):
        # Empty: nothing fails. Or cut off, by a full disk.
        pass
    return OutageState(), []


def _lives(process: Any) -> bool:
    """Whether a process lives. One of another account does, too, although it cannot be signalled."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
