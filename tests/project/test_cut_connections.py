"""Connections that the database has ended meanwhile: whoever asks next is answered as if nothing had been."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress

import psycopg
import pytest
import requests
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from tests.dataverse.reaching import credentials
from tests.servers import Site, until

# SQLite has no connections to cut.
pytestmark = [pytest.mark.processes, pytest.mark.postgresql]

THREADS = 4
AT_ONCE = 2 * THREADS

ACCOUNTS, KEYS = "e_account", "runtime_idempotencyrecord"


def test_every_thread_of_the_service_answers_after_its_connection_was_cut(site: Site) -> None:
    server = site.start(THREADS=str(THREADS), CALLER_RATE="0", ADDRESS_RATE="0")
    token = server.token("rep")
    headers = {"Authorization": f"Bearer {token}"}
    body = {"name": "Cut off", "industry": 1}

    def read() -> requests.Response:
        return server.request("GET", "/api/context", headers=headers)

    def create() -> requests.Response:
        keyed = {**headers, "Idempotency-Key": os.urandom(8).hex()}
        return server.request("POST", "/api/sales/accounts", json=body, headers=keyed)

    def log_in() -> requests.Response:
        return server.request("POST", "/api/token", json={"username": "rep", "password": "demo"})

    def open_studio() -> requests.Response:
        return server.request("GET", "/admin/login/")

    def ready() -> requests.Response:
        return server.request("GET", "/health/ready")

    for ask in (read, create, log_in, open_studio, ready):
        expected = _statuses(ask)
        assert len(expected) == 1, expected
        assert min(expected) < 500
        for _ in range(2):
            cut(site)
            assert _statuses(ask) == expected


def test_what_may_be_done_twice_is_done_again_where_the_connection_ended_in_its_midst(site: Site) -> None:
    server = site.start(WORKERS="1", CALLER_RATE="0")
    headers = {"Authorization": f"Bearer {server.token('rep')}"}

    def create() -> requests.Response:
        keyed = {**headers, "Idempotency-Key": os.urandom(8).hex()}
        return server.request("POST", "/api/sales/accounts", json={"name": "Cut"}, headers=keyed)

    def read() -> requests.Response:
        return server.request("GET", "/api/sales/queries/accounts", headers=headers)

    def read_one() -> requests.Response:
        return server.request("GET", path, headers=headers)

    path = create().headers["Location"]
    for ask, table in ((read, ACCOUNTS), (read_one, ACCOUNTS), (create, KEYS)):
        with ThreadPoolExecutor(1) as pool, held(site, table):
            answer = pool.submit(ask)
            _cut_who_waits(site)
        assert answer.result().status_code == 200, server.output()[-6000:]
    # The answer of a keyed write is kept after the record is made.
    with ThreadPoolExecutor(1) as pool, ExitStack() as keys:
        with held(site, ACCOUNTS):
            answer = pool.submit(create)
            _until_somebody_waits(site)
            keys.enter_context(held(site, KEYS))
        _cut_who_waits(site)
        keys.close()
        assert answer.result().status_code == 200, answer.result().text


def test_every_thread_of_the_crm_server_answers_after_its_connection_was_cut(site: Site) -> None:
    server = site.start_crm("--threads", str(THREADS))
    headers = {"Authorization": f"Bearer {credentials(server.url).fetch(20).text}"}

    def read() -> requests.Response:
        return server.request("GET", "/api/data/v9.2/accounts?$top=1", headers=headers)

    def create() -> requests.Response:
        return server.request("POST", "/api/data/v9.2/accounts", json={"name": "Cut"}, headers=headers)

    for ask in (read, create):
        assert max(_statuses(ask)) < 300
        for _ in range(2):
            cut(site)
            assert max(_statuses(ask)) < 300


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ends_between_two_statements_of_a_request_is_replaced() -> None:
    _ask_first()
    for _ in range(2):
        _end_connection()
        assert not User.objects.filter(username="nobody").exists()
    _end_connection()
    with transaction.atomic():
        User.objects.create(username="somebody")
    assert User.objects.filter(username="somebody").exists()


@pytest.mark.django_db(transaction=True)
def test_a_transaction_whose_connection_ends_fails_as_a_whole_and_the_next_one_does_not() -> None:
    _ask_first()

    @transaction.atomic
    def write() -> None:
        User.objects.create(username="lost")
        _end_connection()
        User.objects.create(username="never made")

    with pytest.raises(OperationalError):
        write()
    with transaction.atomic():
        assert not User.objects.filter(username__in=("lost", "never made")).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("cuts", "opens"), [(1, True), (2, False)])
def test_a_connection_that_ends_while_it_is_being_opened_is_opened_once_more(cuts: int, opens: bool) -> None:
    with impatient_proxy(cuts) as port:
        database = connection.copy()
        database.settings_dict = {**database.settings_dict, "HOST": "127.0.0.1", "PORT": str(port)}
        try:
            with nullcontext() if opens else pytest.raises(OperationalError), database.cursor() as cursor:
                cursor.execute("SELECT 1")
                assert cursor.fetchone() == (1,)
        finally:
            database.close()


@contextmanager
def impatient_proxy(cuts: int) -> Iterator[int]:
    """The port of a proxy to the database that ends so many connections as soon as they are made."""
    server = connection.settings_dict
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(3) as pool:

        def serve() -> None:
            for _ in range(cuts):
                listener.accept()[0].close()
            with suppress(OSError):
                client, _ = listener.accept()
                behind = socket.create_connection((server["HOST"] or "localhost", server["PORT"] or 5432))
                pool.submit(_pass_on, client, behind)
                pool.submit(_pass_on, behind, client)

        pool.submit(serve)
        yield int(listener.getsockname()[1])
        # Whoever still waits for a client waits no longer.
        listener.shutdown(socket.SHUT_RDWR)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with source, suppress(OSError):
        while piece := source.recv(65_536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def _ask_first() -> None:
    """Use the connection as the first statement of a request does, which asks whether it lives."""
    connection.close_if_unusable_or_obsolete()
    assert not User.objects.filter(username="nobody").exists()


def _end_connection() -> None:
    """End the connection of this thread, as the database's administrator would."""
    assert connection.connection is not None
    parameters = connection.get_connection_params()
    address = {name: parameters[name] for name in ("host", "port", "user", "dbname") if name in parameters}
    with psycopg.connect(**address, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])


@contextmanager
def held(site: Site, table: str) -> Iterator[None]:
    """A lock on a table, which whoever reads or writes it waits for."""
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def _until_somebody_waits(site: Site) -> list[int]:
    """The servers' processes that wait for a lock."""

    def who() -> list[int]:
        with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity "
                "WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            return [pid for (pid,) in rows]

    return until(who)


def _cut_who_waits(site: Site) -> None:
    pids = _until_somebody_waits(site)
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid, 10000) FROM unnest(%s::int[]) AS pid", [pids])


def cut(site: Site) -> None:
    """End all connections of the site's database, as its administrator would."""
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _statuses(ask: Callable[[], requests.Response]) -> set[int]:
    """The statuses of so many requests at once that every thread has had some."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = [pool.submit(ask) for _ in range(AT_ONCE)]
        return {answer.result().status_code for answer in answers}
