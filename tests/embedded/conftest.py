"""The store under test, twice: inside a transaction that is open already, and opening its own.

*Apart* is a database of its own beside the suite's: what is committed there stays until the session ends,
and other threads and connections can see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from pytest_django import DjangoDbBlocker

from crmclient.embedded.platform import EmbeddedPlatform
from tests.embedded import shop
from tests.embedded.library import Tables
from tests.embedded.library import load as load_library

APART = "apart"


@pytest.fixture(scope="session")
def _apart(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    with django_db_blocker.unblock(), _database(str(tmp_path_factory.mktemp("apart") / "store.sqlite3")):
        call_command("migrate", database=APART, verbosity=0)
        shop.define(APART)
        yield


@contextmanager
def _database(path: str) -> Iterator[None]:
    settings = {**connection.settings_dict, "NAME": path}
    if connection.vendor == "postgresql":
        settings["NAME"] = f"{connection.settings_dict['NAME']}_{APART}"
        _administer(f'DROP DATABASE IF EXISTS "{settings["NAME"]}" WITH (FORCE)')
        _administer(f'CREATE DATABASE "{settings["NAME"]}"')
    connections.databases[APART] = settings
    yield
    connections[APART].close()
    del connections.databases[APART]
    if connection.vendor == "postgresql":
        _administer(f'DROP DATABASE "{settings["NAME"]}" WITH (FORCE)')


def _administer(statement: str) -> None:
    """Outside of the suite's own database, which tests that need none do not even make."""
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def apart(_apart: None, django_db_blocker: DjangoDbBlocker) -> Iterator[EmbeddedPlatform]:
    """The shop in a database where everything is really committed."""
    with django_db_blocker.unblock():
        yield EmbeddedPlatform(APART)


@pytest.fixture
def joined(db: None) -> EmbeddedPlatform:
    """The shop inside the test's transaction."""
    shop.define("default")
    return EmbeddedPlatform()


@pytest.fixture(params=[pytest.param("joined", marks=pytest.mark.django_db), "apart"])
def platform(request: pytest.FixtureRequest) -> EmbeddedPlatform:
    """Each of the two: a test that takes it holds for both."""
    platform: EmbeddedPlatform = request.getfixturevalue(request.param)
    return platform


@pytest.fixture(scope="module")
def library(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Tables]:
    """The library's books, loaded once a module and rolled back after it; and the same as plain rows."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield load_library()
        transaction.set_rollback(True)
