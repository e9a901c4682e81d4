"""Callers at work while this release replaces the one before, process by process, on one database."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.drills.conftest import UNLIMITED
from tests.drills.editor import Editor
from tests.drills.ledger import Ledger, held
from tests.drills.load import load
from tests.drills.outages import PostgreSQL, Redis, going_on
from tests.drills.releases import released_before
from tests.servers import Server, site_at, until

KEYS = {
    "SECRET_KEY": "the-secret-key-of-both-releases-00000000000000000001",
    "TOKEN_SIGNING_KEY": "the-signing-key-of-both-releases-0000000000000001",
}

pytestmark = [pytest.mark.drill, pytest.mark.processes]


def test_nothing_is_lost_or_doubled_while_one_release_replaces_another(
    postgresql: PostgreSQL, cache: Redis, tmp_path: Path, seconds: float
) -> None:
    code = tmp_path / "before"
    released = released_before(code)
    settings = {**KEYS, "DATABASE_URL": postgresql.url, "CACHE_URL": cache.url, **UNLIMITED}
    # Each release has static files of its own, as in an image.
    old, new = (site_at(tmp_path / name, **settings) for name in ("old", "new"))
    old.code = code
    ledger = Ledger()
    try:
        old.manage("prepare")
        new.manage("prepare", "build")
        servers = [old.start(WORKERS="1"), old.start(WORKERS="1")]
        with load(servers, ledger):
            first, second = servers
            _edited(first, second, ledger, seconds / 4)

            # The old release works on with the tables of the new one.
            new.manage("prepare", "migrate")
            _edited(second, first, ledger, seconds / 4)

            servers += [new.start(WORKERS="1"), new.start(WORKERS="1")]
            third, fourth = servers[2:]
            _edited(third, first, ledger, seconds / 4)

            # One is stopped in order, the other is not. What it left unanswered is repeated at the new ones.
            first.stop()
            second.kill()
            del servers[:2]
            _edited(fourth, third, ledger, seconds / 4)
        print(f"Upgraded from “{released}”.", ledger.report())
        assert ledger.faults == []
        assert ledger.compare(held(new)) == []
    finally:
        old.stop()
        new.stop()


def _edited(server: Server, other: Server, ledger: Ledger, seconds: float) -> None:
    """Let that time pass while a designer works at `server`, until the first edit is saved at least."""
    editor = Editor(server, other, ledger)
    with going_on(editor.edit, pause=1) as failed:
        time.sleep(seconds)
        until(lambda: editor.saved or failed or ledger.faults)
    assert failed == []
