"""The processes that a server consists of, as /proc shows them."""

from __future__ import annotations

from pathlib import Path


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, oldest first; none when it is gone."""
    pids = [pid]
    for each in pids:
        try:
            threads = list(Path(f"/proc/{each}/task").iterdir())
        except OSError:  # the process ended since its parent named it
            continue
        for thread in threads:
            try:
                pids += [int(child) for child in (thread / "children").read_text().split()]
            except OSError:
                continue
    return pids[1:]


def lives(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
