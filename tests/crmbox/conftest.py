"""The store under test, twice: inside a transaction that is open already, and opening its own.

*Apart* is a database of its own beside the suite's: what is committed there stays until the session ends,
and other threads and connections can see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from pytest_django import DjangoDbBlocker

from crmbox.platform import EmbeddedPlatform
from tests.crmbox import shop
from tests.crmbox.library import Tables
from tests.crmbox.library import load as load_library

APART = "apart"


@pytest.fixture(scope="session")
def _shop(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        shop.define(DEFAULT_DB_ALIAS)


@pytest.fixture
def joined(_shop: None, db: None) -> EmbeddedPlatform:
    """The shop inside the test's transaction. A test that empties the whole database takes the shop along."""
    platform = EmbeddedPlatform()
    if "shop_product" not in platform.entities():
        shop.define(DEFAULT_DB_ALIAS)
    return platform


@pytest.fixture(scope="session")
def _apart(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """The settings of the database beside the suite's."""
    settings = {**connection.settings_dict, "NAME": str(tmp_path_factory.mktemp(APART) / "store.sqlite3")}
    on_server = connection.vendor == "postgresql"
    with django_db_blocker.unblock():
        if on_server:
            settings["NAME"] = name = f"{connection.settings_dict['NAME']}_{APART}"
            _administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)', f'CREATE DATABASE "{name}"')
        connections.databases[APART] = settings
        # The configuration is not part of it, and its migrations write to the default database.
        call_command("migrate", "crm", database=APART, verbosity=0)
        shop.define(APART)
        connections[APART].close()
        del connections.databases[APART]
    # Not in the block: all later tests of the process could use a database that they have not asked for.
    yield settings
    if on_server:
        with django_db_blocker.unblock():
            _administer(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def apart(_apart: dict[str, Any], django_db_blocker: DjangoDbBlocker) -> Iterator[EmbeddedPlatform]:
    """The shop in a database where everything is really committed.

    It is known during the test only: other tests' guards would forbid its connection for good.
    """
    connections.databases[APART] = _apart
    with django_db_blocker.unblock():
        yield EmbeddedPlatform(APART)
    del connections.databases[APART]


@pytest.fixture(params=["joined", "apart"])
def platform(_shop: None, db: None, request: pytest.FixtureRequest) -> EmbeddedPlatform:
    """Each of the two: a test that takes it holds for both."""
    platform: EmbeddedPlatform = request.getfixturevalue(request.param)
    return platform


@pytest.fixture(scope="module")
def library(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Tables]:
    """The library's books, loaded once a module and rolled back after it; and the same as plain rows."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield load_library()
        transaction.set_rollback(True)


def _administer(*statements: str) -> None:
    with connection._nodb_cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
