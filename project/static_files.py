"""Collects static files, which takes some seconds, only when they have changed since the last time."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files import locks
from django.core.management import call_command

NOTE = "collected"


def collect_when_changed() -> bool:
    """Whether there was anything to collect. Of several processes that begin at once, one collects."""
    root = Path(settings.STATIC_ROOT)
    note, current = root / NOTE, _fingerprint()
    with root.with_name(f".{root.name}.lock").open("wb") as turn:
        locks.lock(turn, locks.LOCK_EX)
        if note.exists() and note.read_text(encoding="ascii") == current:
            return False
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        note.write_text(current, encoding="ascii")
        return True


def _fingerprint() -> str:
    """Of every source file's name, size and time of change."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
