"""Several connections and processes on one store."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import pytest
from django.db import connections, transaction

from crmbox.engine.connection import write_unit
from crmbox.engine.dialects import dialect_of
from crmbox.engine.snapshot_store import KEPT, latest_snapshot
from crmbox.metadata import change
from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.errors import DuplicateKey, RecordNotFound, Unavailable, VersionMismatch
from crmclient.metadata import AttributeType
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from tests.crmbox.conftest import APART
from tests.crmbox.shop import add_category, add_product, attribute, read

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def workers(number: int) -> Iterator[ThreadPoolExecutor]:
    """Threads with a connection each, closed at the end."""
    with ThreadPoolExecutor(number) as pool:
        yield pool
        barrier = threading.Barrier(number)

        def close() -> None:
            barrier.wait(10)
            connections[APART].close()

        for closed in [pool.submit(close) for _ in range(number)]:
            closed.result(10)


def elsewhere(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return pool.submit(work).result(30)


def new_attribute() -> str:
    name = f"extra_{uuid4().hex[:10]}"
    with change(APART) as metadata:
        metadata.create_attributes("shop_product", [attribute(name, AttributeType.INTEGER)])
    return name


def test_another_connection_knows_a_new_attribute_at_once(apart: Platform) -> None:
    with workers(1) as pool:
        elsewhere(pool, apart.metadata_revision)
        for _ in range(20):
            name = new_attribute()
            assert name in elsewhere(pool, lambda: apart.attributes("shop_product"))
            id = elsewhere(pool, lambda name=name: add_product(apart, **{name: 7}))  # type: ignore[misc]
            assert read(apart, id, name) == 7


@pytest.mark.processes
def test_another_process_knows_a_new_attribute_at_once(apart: Platform) -> None:
    settings = connections[APART].settings_dict
    if connections[APART].vendor == "sqlite":
        url = f"sqlite:///{settings['NAME']}"
    else:
        url = "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**settings)
    script = (
        "import django, sys; django.setup()\n"
        "from crmbox.platform import EmbeddedPlatform\n"
        "for line in sys.stdin:\n"
        "    print(line.strip() in EmbeddedPlatform().attributes('shop_product'), flush=True)\n"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as other:
        questions, answers = other.stdin, other.stdout
        assert questions
        assert answers

        def knows(name: str) -> str:
            print(name, file=questions, flush=True)
            return answers.readline().strip()

        assert knows("ghost") == "False"
        for _ in range(10):
            assert knows(new_attribute()) == "True"
        questions.close()
        assert other.wait(30) == 0


def test_no_more_snapshots_of_the_metadata_are_kept_than_said(apart: Platform) -> None:
    category = add_category(apart)

    def use_all() -> None:
        id = add_product(apart, categoryid=category)
        read(apart, id, "categoryid")
        apart.user(apart.who())
        apart.delete("shop_product", id)

    new_attribute()
    use_all()
    snapshot = latest_snapshot(dialect_of(connections[APART].vendor))
    assert snapshot is not None
    old_snapshot = weakref.ref(snapshot)
    del snapshot
    for _ in range(KEPT):
        new_attribute()
        use_all()
    gc.collect()
    assert old_snapshot() is None


def test_readers_and_writers_go_on_while_tables_change(apart: Platform) -> None:
    id = add_product(apart, quantity=0)
    done = threading.Event()
    rounds = [0, 0, 0]

    def keep_reading(reader: int) -> None:
        query = Query(
            "shop_product", (Column("name"),), Filter((Condition("shop_productid", Operator.EQ, (id,)),))
        )
        while not done.is_set():
            assert read(apart, id, "name") == "Lamp"
            assert apart.query(query).rows == [{"name": "Lamp"}]
            rounds[reader] += 1

    def keep_writing() -> None:
        while not done.is_set():
            apart.update("shop_product", id, {"quantity": rounds[2] % 1000})
            rounds[2] += 1

    with workers(3) as pool:
        busy = [pool.submit(keep_reading, 0), pool.submit(keep_reading, 1), pool.submit(keep_writing)]
        changes = 0
        try:
            # All three go on between changes, whatever share of the processor each of them gets.
            while (changes < 15 or min(rounds) <= 5) and not any(task.done() for task in busy):
                new_attribute()
                changes += 1
                time.sleep(0.005)
        finally:
            done.set()
        for task in busy:
            task.result(30)


def test_no_update_is_lost_between_writers(apart: Platform) -> None:
    """Each of them raises the number by one, guarded by the version, and tries again on a mismatch."""
    id = add_product(apart, quantity=0)

    def raise_by_one() -> None:
        while True:
            record = apart.retrieve("shop_product", id, ["quantity"])
            quantity = record.values["quantity"]
            assert isinstance(quantity, int)
            try:
                apart.update("shop_product", id, {"quantity": quantity + 1}, if_version=record.version)
            except VersionMismatch:
                continue
            return

    with workers(4) as pool:
        for task in [pool.submit(raise_by_one) for _ in range(60)]:
            task.result(60)

    assert read(apart, id, "quantity") == 60


def test_versions_become_visible_in_their_order(apart: Platform) -> None:
    """Whoever has seen a version will never see a smaller one appear."""
    seen: list[int] = []

    def write() -> list[int]:
        return [int(apart.create("shop_line", {"name": "x"}).version or 0) for _ in range(20)]

    with workers(4) as pool:
        tasks = [pool.submit(write) for _ in range(4)]
        while not all(task.done() for task in tasks):
            rows = apart.query(Query("shop_line", (Column("versionnumber"),))).rows
            now = {int(str(row["versionnumber"])) for row in rows}
            late = {version for version in now.difference(seen) if seen and version < max(seen)}
            assert not late
            seen = sorted(now)
        versions = [version for task in tasks for version in task.result(30)]

    assert len(set(versions)) == 80


def test_a_store_that_stays_busy_is_unavailable(apart: Platform) -> None:
    def impatient_create() -> None:
        with connections[APART].cursor() as cursor:
            if connections[APART].vendor == "sqlite":
                cursor.execute("PRAGMA busy_timeout = 50")
            else:
                cursor.execute("SET lock_timeout = '50ms'")
        add_product(apart)

    with workers(1) as pool:
        with write_unit(APART), pytest.raises(Unavailable) as raised:
            elsewhere(pool, impatient_create)
        assert raised.value.retry_after
        assert elsewhere(pool, lambda: add_product(apart))


def test_a_reader_does_not_wait_for_a_writer(apart: Platform) -> None:
    id = add_product(apart, quantity=1)

    with workers(1) as pool, write_unit(APART) as unit:
        unit.execute("UPDATE e_shop_product SET quantity = 2")
        assert elsewhere(pool, lambda: read(apart, id, "quantity")) == 1


def test_a_failed_write_leaves_the_connection_usable(apart: Platform) -> None:
    code = uuid4().hex[:20]
    add_product(apart, code=code)

    for _ in range(3):
        with pytest.raises(DuplicateKey):
            add_product(apart, code=code)

    assert add_product(apart)
    assert connections[APART].in_atomic_block is False


def test_a_unit_inside_an_open_transaction_is_undone_with_it(joined: EmbeddedPlatform) -> None:
    with suppress(ZeroDivisionError), transaction.atomic():
        id = add_product(joined)
        assert 1 / 0

    with pytest.raises(RecordNotFound):
        joined.retrieve("shop_product", id, [])


def test_an_error_undoes_only_its_own_unit(joined: EmbeddedPlatform) -> None:
    code = uuid4().hex[:20]
    with transaction.atomic():
        id = add_product(joined, code=code)
        with pytest.raises(DuplicateKey):
            add_product(joined, code=code)

    assert read(joined, id, "code") == code


def test_writers_at_once_each_get_what_is_theirs(apart: Platform) -> None:
    # Some of them fail: those that are written in one transaction with them must not.
    mine, number = uuid4().hex[:8], 120
    shared = add_product(apart)

    def code(at: int) -> str:
        return f"{mine}{at - 1 if at % 20 == 8 else at}"

    def write(at: int) -> str:
        if at % 3 == 0:
            return apart.update("shop_product", shared, {"quantity": at}).version or ""
        try:
            return apart.create("shop_product", {"name": mine, "code": code(at)}).version or ""
        except DuplicateKey:
            return ""

    with workers(8) as pool:
        versions = [version for version in pool.map(write, range(number)) if version]

    condition = Filter((Condition("name", Operator.EQ, (mine,)),))
    rows = apart.query(Query("shop_product", (Column("code"), Column("versionnumber")), condition)).rows
    codes = [row["code"] for row in rows]
    assert len(codes) == len(set(codes)) == len({code(at) for at in range(number) if at % 3})
    assert len(versions) == len(set(versions)) == len(codes) + number // 3
    assert {str(row["versionnumber"]) for row in rows} <= set(versions)
    if connections[APART].vendor == "postgresql":
        with connections[APART].cursor() as cursor:
            cursor.execute("SELECT count(DISTINCT xmin::text) FROM e_shop_product WHERE name = %s", [mine])
            assert cursor.fetchone()[0] < len(codes), "some are written together"
