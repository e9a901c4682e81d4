"""Collects static files, which takes some seconds, only when they have changed since the last time."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files import locks
from django.core.management import call_command

NOTE = "collected"


class CannotCollect(Exception):
    """The folder of static files is out of date and cannot be written; says what to do."""


def collect_when_changed() -> bool:
    """Collect the static files if they have changed. Return whether they had. Raises CannotCollect.

    If several processes begin at once, one collects. Files that are up to date are not written: in an image,
    the folder is read-only.
    """
    root = Path(settings.STATIC_ROOT)
    fingerprint = _fingerprint()
    if _is_current(root, fingerprint):
        return False
    try:
        with root.with_name(f".{root.name}.lock").open("wb") as lock_file:
            locks.lock(lock_file, locks.LOCK_EX)
            if _is_current(root, fingerprint):
                return False
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
            (root / NOTE).write_text(fingerprint, encoding="ascii")
            return True
    except OSError as error:
        raise CannotCollect(
            f"Static files are out of date, and {root} cannot be written: {error.strerror}. "
            "Run `manage.py prepare build` where it can be, such as in the build of an image."
        ) from error


def _is_current(root: Path, fingerprint: str) -> bool:
    """Whether the folder was collected from files with this fingerprint."""
    note = root / NOTE
    return note.exists() and note.read_text(encoding="ascii") == fingerprint


def _fingerprint() -> str:
    """Return a digest of the names and contents of all source files.

    Times of files would not do: the layers of an image round them.
    """
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            content = hashlib.sha256(Path(storage.path(name)).read_bytes()).hexdigest()
            digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()
