"""What drills are given: how long they last, and servers of their own that can be stopped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drills.outages import PostgreSQL, Redis
from tests.servers import Site, copied, site_at

# Callers of a drill are many on one address.
UNLIMITED = {"ADDRESS_RATE": "0", "CALLER_RATE": "0", "LOGIN_RATE": "0"}


@pytest.fixture
def seconds(pytestconfig: pytest.Config) -> float:
    """How long a drill disturbs the service."""
    return float(pytestconfig.getoption("--drills"))


@pytest.fixture
def postgresql() -> Iterator[PostgreSQL]:
    if shutil.which("pg_config") is None:
        pytest.skip("PostgreSQL's programs are not installed")
    server = PostgreSQL()
    yield server
    server.remove()


@pytest.fixture
def cache() -> Iterator[Redis]:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    server = Redis()
    yield server
    server.stop()


@pytest.fixture
def crm_site(_prepared: Site, tmp_path: Path) -> Iterator[Site]:
    """An installation whose CRM server is another's platform."""
    with copied(_prepared, tmp_path / "crm", "drill_crm") as own:
        yield own


@pytest.fixture
def alone(_prepared: Site, tmp_path: Path) -> Iterator[Site]:
    """An installation whose CRM is in the box, and whose database is a file."""
    with copied(_prepared, tmp_path / "alone", "drill_alone") as own:
        own.environment |= UNLIMITED
        yield own


@pytest.fixture
def served_by_postgresql(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[Site]:
    """The demo's installation on a PostgreSQL server that can be stopped."""
    own = site_at(tmp_path / "service", DATABASE_URL=postgresql.url, **UNLIMITED)
    own.manage("prepare")
    yield own
    own.stop()
