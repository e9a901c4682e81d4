"""A database that takes no writes for a while: the service writes again as soon as the database lets it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.servers import Server, Site, until

pytestmark = pytest.mark.processes

THREADS = 3
LEAD = {"topic": "Written again", "lastName": "Reader"}


@pytest.fixture
def mounted(site: Site, tmp_path: Path) -> Iterator[Path]:
    """A second path to the site's data folder, which can be read-only while the first is not."""
    if os.geteuid() != 0:
        pytest.skip("Only root can mount a file system")
    folder = tmp_path / "mounted"
    folder.mkdir()
    command = ["mount", "--bind", site.environment["DATA_DIR"], str(folder)]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("No file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.postgresql
def test_sessions_that_began_read_only_do_not_stay_so(site: Site) -> None:
    _writes_again_after(_sessions_begin_read_only(site), site)


@pytest.mark.sqlite
def test_files_that_were_opened_for_reading_alone_do_not_stay_so(site: Site, mounted: Path) -> None:
    _writes_again_after(_folder_is_read_only(mounted, site), site, DATA_DIR=str(mounted))


def _writes_again_after(read_only: AbstractContextManager[None], site: Site, **settings: str) -> None:
    """A server that was started while the database took no writes writes in every thread afterwards."""
    limits = {"THREADS": str(THREADS), "ADDRESS_RATE": "0", "CALLER_RATE": "0"}
    with read_only:
        server = site.start(until="/health/live", **limits, **settings)
        assert _statuses(server) == {503}
        assert server.request("GET", "/health/ready").status_code == 503
        assert server.request("GET", "/optionsets/priorities").status_code == 200
    # A connection that was opened late in the outage is known by the first write that it refuses.
    assert _statuses(server) <= {200, 503}
    assert _statuses(server) == {200}, server.output()[-6000:]
    # What the database last said stands for some seconds.
    assert until(lambda: server.request("GET", "/health/ready").status_code == 200)


def _statuses(server: Server) -> set[int]:
    """The statuses of so many writes at once that every thread has had some."""
    count = 4 * THREADS
    with ThreadPoolExecutor(count) as pool:
        answers = [pool.submit(server.request, "POST", "/api/sales/leads", json=LEAD) for _ in range(count)]
        return {answer.result().status_code for answer in answers}


@contextmanager
def _sessions_begin_read_only(site: Site) -> Iterator[None]:
    """As hosts of PostgreSQL have it where the disk is full."""
    database = sql.Identifier(site.database)
    setting = sql.SQL("default_transaction_read_only")
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER DATABASE {} SET {} = on").format(database, setting))
        yield
        connection.execute(sql.SQL("ALTER DATABASE {} RESET {}").format(database, setting))


@contextmanager
def _folder_is_read_only(folder: Path, site: Site) -> Iterator[None]:
    """What is opened in `folder` meanwhile is opened for reading alone, also by root."""
    with closing(sqlite3.connect(site.database)) as writer:
        # Its log and index of writes exist for as long as it has the file open: readers cannot make them.
        writer.execute("SELECT count(*) FROM auth_user").fetchone()
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
        subprocess.run(["mount", "-o", "remount,bind,rw", folder], check=True)
