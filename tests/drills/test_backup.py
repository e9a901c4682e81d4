"""A backup made while callers are at work, and restored to another place by the documented commands."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.drills.conftest import UNLIMITED
from tests.drills.editor import Editor
from tests.drills.ledger import Ledger, held
from tests.drills.load import load
from tests.drills.outages import PostgreSQL, going_on
from tests.servers import Site, site_at, until

pytestmark = [pytest.mark.drill, pytest.mark.processes]


def test_a_backup_of_postgresql_holds_all_that_was_acknowledged_before(
    served_by_postgresql: Site, postgresql: PostgreSQL, tmp_path: Path, seconds: float
) -> None:
    dump = tmp_path / "portico.dump"
    with psycopg.connect(postgresql.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored")
    url = postgresql.url.rpartition("/")[0] + "/restored"

    def back_up() -> None:
        _run("pg_dump", "--format=custom", f"--file={dump}", postgresql.url)

    def restore() -> Site:
        _run("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={url}", str(dump))
        return site_at(tmp_path / "restored", DATABASE_URL=url, **UNLIMITED)

    _drill(served_by_postgresql, back_up, restore, seconds)


def test_a_backup_of_sqlite_holds_all_that_was_acknowledged_before(
    alone: Site, tmp_path: Path, seconds: float
) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    restored = tmp_path / "restored"
    restored.mkdir()
    copy = tmp_path / "copy.sqlite3"

    def back_up() -> None:
        # A busy database is waited for: without this, the copy is given up at the first lock.
        _run("sqlite3", "-cmd", ".timeout 60000", alone.database, f".backup {copy}")

    def restore() -> Site:
        copy.rename(restored / "portico.sqlite3")
        return site_at(restored, **UNLIMITED)

    _drill(alone, back_up, restore, seconds)


def _drill(site: Site, back_up: Callable[[], None], restore: Callable[[], Site], seconds: float) -> None:
    server = site.start(WORKERS="2")
    ledger = Ledger()
    editor = Editor(server, server, ledger)
    with load([server], ledger), going_on(editor.edit, pause=1):
        time.sleep(seconds / 2)
        until(lambda: editor.saved)
        before, edits = dict(ledger.created), editor.saved
        back_up()
        time.sleep(seconds / 2)
    assert ledger.faults == []
    restored = restore()
    try:
        print(ledger.report(), f"{len(before)} accounts were acknowledged before the backup.")
        kept = {account.id: account for account in held(restored)}
        assert before
        assert before.keys() - kept.keys() == set()
        again = restored.start()
        headers = {"Authorization": f"Bearer {again.token('rep')}"}
        for id in list(before)[-5:]:
            answer = again.request("GET", f"/api/sales/accounts/{id}", headers=headers)
            assert (answer.status_code, answer.json()["name"]) == (200, before[id])
        modules = again.request("GET", "/api/schema/modules").json()["modules"]
        titles = [module["title"] for module in modules if module["name"] == "sales"]
        assert titles in ([f"Sales {number}"] for number in range(edits, editor.saved + 1))
    finally:
        restored.stop()


def _run(program: str, *arguments: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
