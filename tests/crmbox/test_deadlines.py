"""What the database still does for a call when its deadline has come is ended, and the call says so."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import connections, transaction
from django.db.utils import ConnectionHandler

from crmbox.engine.connection import read_unit
from crmbox.engine.deadlines import Work
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import DeadlineExceeded
from crmclient.platform import Call
from crmclient.watchdog import Watch
from tests.crmbox.shop import add_product

# It counts until somebody ends it.
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
LONG = 60.0


def soon() -> Call:
    return Call(deadline=time.monotonic() + 0.3)


def test_a_statement_is_ended_at_the_deadline_and_the_next_call_works(apart: EmbeddedPlatform) -> None:
    for _ in range(2):
        with pytest.raises(DeadlineExceeded), Work("apart", soon(), None), read_unit("apart") as unit:
            unit.rows(ENDLESS)
        assert apart.entities()


def test_a_statement_is_ended_inside_somebodys_transaction(joined: EmbeddedPlatform) -> None:
    with (
        pytest.raises(DeadlineExceeded),
        transaction.atomic(),
        Work("default", soon(), None),
        read_unit() as unit,
    ):
        unit.rows(ENDLESS)
    assert joined.entities()


def test_a_statement_that_begins_after_the_deadline_is_ended_too(apart: EmbeddedPlatform) -> None:
    work = Work("apart", Call(deadline=time.monotonic() + 0.3), None)
    time.sleep(0.3)
    with pytest.raises(DeadlineExceeded), work, read_unit("apart") as unit:
        unit.rows(ENDLESS)


def test_a_deadline_that_moves_is_the_one_that_counts(apart: EmbeddedPlatform) -> None:
    with read_unit("apart") as unit, Watch(connections["apart"], time.monotonic()) as watch:
        watch.deadline += LONG
        assert unit.rows("SELECT 1")
    assert not watch.struck


@pytest.mark.postgresql
def test_a_connection_is_closed_where_the_server_may_end_a_statement_later(db: None) -> None:
    """A cancellation that nobody answers: the statement ends by itself, and the cancellation may come yet."""
    settings = connections["default"].settings_dict
    with _answering_once(settings["HOST"], settings["PORT"]) as port:
        through_gate = {**settings, "HOST": "127.0.0.1", "PORT": port, "OPTIONS": {}}
        database = ConnectionHandler({"default": through_gate})["default"]
        with database.cursor() as cursor, Watch(database, time.monotonic() + 0.2) as watch:
            cursor.execute("SELECT pg_sleep(0.5)")
        assert watch.struck
        assert database.connection is None


@contextmanager
def _answering_once(host: str, port: str) -> Iterator[int]:
    """A door to the database server by whose first connection it answers, and by no other. Its port."""
    threads: list[threading.Thread] = []
    sockets: list[socket.socket] = []

    def carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(65536):
                target.sendall(content)

    def let_in() -> None:
        with suppress(OSError):
            for number in itertools.count():
                came = listener.accept()[0]
                sockets.append(came)
                if not number:
                    server = socket.create_connection((host, int(port)))
                    sockets.append(server)
                    for pair in ((came, server), (server, came)):
                        threads.append(threading.Thread(target=carry, args=pair))
                        threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads.append(threading.Thread(target=let_in))
        threads[0].start()
        try:
            yield listener.getsockname()[1]
        finally:
            for opened in (listener, *sockets):
                with suppress(OSError):
                    opened.shutdown(socket.SHUT_RDWR)
                opened.close()
            for thread in threads:
                thread.join()


def test_a_connection_that_a_statement_opens_waits_no_longer_than_the_others(
    db: None, tmp_path: Path
) -> None:
    handler = ConnectionHandler(
        {
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": tmp_path / "new.sqlite3",
                "OPTIONS": {"timeout": 20},
            }
        }
    )
    database = handler["default"]

    def wait() -> int:
        with database.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout")
            return int(cursor.fetchone()[0])

    with Watch(database, time.monotonic() + 1):
        assert wait() == 1000
    assert wait() == 20_000
    with Watch(database, time.monotonic() + 3):
        assert wait() == 3000
        with Watch(database, time.monotonic() + 10):
            assert wait() == 3000
        assert wait() == 3000
        with Watch(database, time.monotonic() + 1):
            assert wait() == 1000
        assert wait() == 3000
    assert wait() == 20_000
    database.close()


@pytest.mark.parametrize("write", ["create", "create_in_steps", "update", "delete"])
def test_a_write_that_waits_for_another_is_ended(apart: EmbeddedPlatform, write: str) -> None:
    id = add_product(apart)
    writes: dict[str, Callable[[Call], object]] = {
        "create": lambda call: apart.create("shop_product", {"name": "Late"}, call=call),
        "create_in_steps": lambda call: apart.batch([], call=call),
        "update": lambda call: apart.update("shop_product", id, {"name": "Late"}, call=call),
        "delete": lambda call: apart.delete("shop_product", id, call=call),
    }
    with another_writer(), pytest.raises(DeadlineExceeded):
        writes[write](soon())
    assert apart.retrieve("shop_product", id, ["name"]).values["name"] != "Late"


@contextmanager
def another_writer() -> Iterator[None]:
    """Somebody else's transaction holds what every writer needs."""
    locked, end = threading.Event(), threading.Event()

    def hold() -> None:
        connection: Any = connections["apart"]
        with suppress(_Undone), transaction.atomic(using="apart"), connection.cursor() as cursor:
            cursor.execute("UPDATE crm_revision SET row_version = row_version WHERE id = 1")
            locked.set()
            end.wait(LONG)
            raise _Undone
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(LONG)
        yield
    finally:
        end.set()
        holder.join()


class _Undone(Exception):
    pass
