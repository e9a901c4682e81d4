"""Figures of all processes of one installation: files in a folder that each process writes for itself.

They are prometheus_client's, which adds them up at a scrape. By itself it names files after process ids, so
that each worker that was ever started leaves some behind. Here a process takes the lowest free number: who
comes after one that ended goes on with its files, and no counter falls.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, mmap_dict, multiprocess, values

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that prometheus_client reads, too."""

# These modules have no types.
_values: Any = values
_multiprocess: Any = multiprocess
_mmap_dict: Any = mmap_dict

_PREFIX = "portico-metrics-"
# A file system in memory: writes are quick there, and no other file fills it up.
_MEMORY = Path("/dev/shm")  # noqa: S108  the folder is made for us alone
# Bytes that must be free in the folder's place, and bytes of a file that is new.
_LEAST_FREE = 16 * 1024 * 1024
_FIRST_SIZE = 64 * 1024


@contextmanager
def folder() -> Iterator[None]:
    """Let the processes that are started in this block share their metrics in a folder.

    If the environment names a folder, that one is used.
    """
    if os.environ.get(FOLDER):
        yield
        return
    parent = _parent()
    _remove_abandoned(parent)
    with _new_folder(parent) as new_folder:
        os.environ[FOLDER] = str(new_folder)
        owner = os.getpid()
        try:
            yield
        finally:
            # A worker is forked in this block, and leaves it, too.
            if os.getpid() == owner:
                del os.environ[FOLDER]
                shutil.rmtree(new_folder, ignore_errors=True)


def use() -> None:
    """Let metrics that are made from now on be shared, if there is a folder for them."""
    if os.environ.get(FOLDER):
        _values.MmapedDict = _Reserved
        _values.ValueClass = _values.MultiProcessValue(_Number(Path(os.environ[FOLDER])))


def shared() -> CollectorRegistry | None:
    """Return a registry of the metrics of all processes; None when processes do not share them."""
    directory = os.environ.get(FOLDER)
    if not directory:
        return None
    _forget_the_dead(Path(directory))
    registry = CollectorRegistry()
    _multiprocess.MultiProcessCollector(registry, directory)
    return registry


class _Number:
    """The number of the process that calls this, held until the process ends, however it ends.

    prometheus_client calls it where it would ask for the process id, to name its files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = 0
        self._number = 0
        # The descriptor of the number's lock file, once it is locked.
        self._lock = -1

    def __call__(self) -> int:
        """Return the number. A process that was forked takes one of its own first."""
        if self._process != os.getpid():
            self._take()
        return self._number

    def _take(self) -> None:
        """Take the lowest number that no living process has, and lock it."""
        if self._lock >= 0:
            # A fork's copy: the lock is the parent's, and stays so.
            os.close(self._lock)
        number = 1
        while (lock := _try_lock(self._folder, number)) is None:
            number += 1
        # Gauges of living processes must not go on with the values of the one that had the number before.
        _multiprocess.mark_process_dead(number, str(self._folder))
        self._process, self._number, self._lock = os.getpid(), number, lock


class _Reserved(_mmap_dict.MmapedDict):  # type: ignore[misc]
    """Takes its room on disk before it writes. A full disk would otherwise end the process by a signal.

    prometheus_client keeps the figures of a process in such files. Raises OSError when there is no room.
    """

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        if not read_mode:
            _make_room(Path(filename))
        super().__init__(filename, read_mode)

    def _init_value(self, key: str) -> None:
        """Add a figure to the file, which grows first if it has no room for the figure."""
        # More than an entry takes: its key, a length, padding and two numbers.
        needed = self._used + len(key.encode()) + 64
        if needed > self._capacity:
            os.posix_fallocate(self._f.fileno(), 0, 2 * self._capacity)
        super()._init_value(key)


def _make_room(path: Path) -> None:
    """Give the file of some figures its room on disk. A new one appears with its room, or not at all.

    A scrape of another process reads what is in the folder at any moment. prometheus_client cannot read an
    empty file, nor one that has gone since it was listed.
    """
    if path.exists():
        with path.open("ab") as file:
            # A file that is opened to append to is at its end: this is its size.
            os.posix_fallocate(file.fileno(), 0, max(_FIRST_SIZE, file.tell()))
        return
    # No other process writes files with this one's number.
    unseen = path.with_suffix(".new")
    try:
        with unseen.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _FIRST_SIZE)
        unseen.rename(path)
    except OSError:
        unseen.unlink(missing_ok=True)
        raise


def _parent() -> Path:
    """Return where to make the folder: in memory if that has room, else the system's temporary folder."""
    for place in (_MEMORY, Path(tempfile.gettempdir())):
        with suppress(OSError):
            space = os.statvfs(place)
            if os.access(place, os.W_OK) and space.f_bavail * space.f_frsize >= _LEAST_FREE:
                return place
    return Path(tempfile.gettempdir())


@contextmanager
def _new_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder for this installation, locked."""
    while True:
        new_folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        with (new_folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Until it was locked, another installation that starts may have taken it for abandoned.
            if new_folder.is_dir():
                yield new_folder
                return


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of main processes that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError), (folder / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _forget_the_dead(folder: Path) -> None:
    """Remove the live figures of processes that have ended."""
    for number in {file.stem.rpartition("_")[2] for file in folder.glob("gauge_live*.db")}:
        lock = _try_lock(folder, int(number))
        if lock is not None:
            _multiprocess.mark_process_dead(int(number), str(folder))
            os.close(lock)


def _try_lock(folder: Path, number: int) -> int | None:
    """Return a file descriptor that holds the lock of `number`; None when another process holds it."""
    lock = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock
