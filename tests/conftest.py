"""The world that tests share: a CRM with the demo's data and configuration, and the same named people.

    rita        API account `rep`, sales representative
    max         API account `manager`, sales manager, Rita's superior
    aya         API account `agent`, support
    clara       API account `customer`, a contact, the primary contact of her company
    cosmo       API account `customer2`, a contact of another company, and not its primary contact
    anonymous   nobody: no token
    dora        studio account `designer`

The demo is loaded once a session and every test is rolled back. Tests that need no demo run before that.
"""

from __future__ import annotations

import gc
import io
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.test import Client
from pytest_django import DjangoDbBlocker

from tests.callers import Caller, account
from tests.impossible import ImpossibleHere
from tests.statements import StatementNotes, sent_by_others
from tests.threat_model import keywords_of

# Speed is the bench's business: an example that a busy machine runs slowly has not failed.
hypothesis.settings.register_profile(
    "portico", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("portico")

pytest_plugins = ["tests.browser", "tests.full_folder", "tests.identity_provider", "tests.servers"]


@pytest.fixture(scope="session")
def _demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    from project import demo

    with django_db_blocker.unblock():
        if demo.is_wanted():
            demo.load(demo.passwords(random=False), io.StringIO())


@pytest.fixture(autouse=True)
def _nobody_remembered(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is known of callers, cached answers, failures and findings lasts longer than a test's rows."""
    from designer import overview
    from runtime.caching import entry_store
    from runtime.callers import tokens
    from runtime.context import user_context
    from runtime.http.outages import outages

    outages.forget()
    tokens.forget()
    entry_store.forget()
    user_context.forget()
    yield
    # The metadata that such a test showed is gone with it, and no revision says so.
    if not {"monkeypatch", "settings"}.isdisjoint(request.fixturenames):
        overview.forget()


@pytest.fixture(autouse=True)
def _emptied_at_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that empties all tables at its end also empties the audit log, which holds on to its entries."""
    if _turn(request.node) < _EMPTIES:
        yield
        return
    from designer.models import CallerType
    from tests.audit_log import let_be_emptied

    # Before it, so that the tables are emptied after this.
    request.getfixturevalue("transactional_db")
    # Another such test may have emptied them, and of what migrations fill in everybody needs this.
    CallerType.objects.get_or_create(name="user")
    yield
    let_be_emptied()


@pytest.fixture
def portico(_demo: None, db: None) -> None:
    """The demo's data, configuration and accounts."""


@pytest.fixture
def rita(portico: None) -> Caller:
    return account("rep")


@pytest.fixture
def max(portico: None) -> Caller:
    return account("manager")


@pytest.fixture
def aya(portico: None) -> Caller:
    return account("agent")


@pytest.fixture
def clara(portico: None) -> Caller:
    return account("customer")


@pytest.fixture
def cosmo(portico: None) -> Caller:
    return account("customer2")


@pytest.fixture
def anonymous(portico: None) -> Caller:
    return Caller()


@pytest.fixture
def dora(portico: None) -> Client:
    """The studio, logged in as designer."""
    from django.contrib.auth import get_user_model

    client = Client()
    client.force_login(
        get_user_model().objects.get(username="designer"), backend="django.contrib.auth.backends.ModelBackend"
    )
    return client


# Tests with these marks are about one database or cache: they are no tests of a run without it.
_SERVERS = {"postgresql": "DATABASE_URL", "redis": "CACHE_URL"}


# A test reaches a database or a cache by one of these; fixtures of our own that open the database ask for the
# blocker.
_STORAGE_FIXTURES = frozenset({"db", "transactional_db", "_prepared", "empty_site", "store"})
_OPENS_DATABASE = "django_db_blocker"
# What these ask about is a client, a connection, a file or the platform on the other side: where the
# configuration is stored makes no difference.
_NOT_OF_STORAGE = tuple(
    Path(__file__).parent / name
    for name in (
        *("clients", "examples", "published_clients"),
        *(
            "dataverse/test_acting.py",
            "dataverse/test_call_counts.py",
            "dataverse/test_calls_under_faults.py",
        ),
        *("dataverse/test_checkplatform.py", "dataverse/test_classic_actions.py"),
        *("dataverse/test_entra_rehearsal.py", "dataverse/test_least_privilege.py"),
        *("dataverse/test_named_records.py", "dataverse/test_resilience.py"),
        *("dataverse/test_said_of_faults.py", "dataverse/test_service_faults.py"),
        *(
            "dataverse/test_slow_metadata.py",
            "dataverse/test_studio_faults.py",
            "project/test_extensions.py",
            "project/test_headers.py",
        ),
        *("project/test_raw_requests.py", "project/test_serve.py", "project/test_shared_metrics.py"),
        *("project/test_slow_clients.py", "project/test_telemetry.py"),
    )
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--of-storage",
        action="store_true",
        help="only tests that another database or cache can change: those that use one, without a browser",
    )
    parser.addoption(
        "--note-statements",
        metavar="FOLDER",
        type=Path,
        help="note there which statements each test has the database execute",
    )
    parser.addoption(
        "--noted-statements",
        metavar="FOLDER",
        type=Path,
        help="with --of-storage: of tests of the studio's pages, as many as send each of these statements",
    )
    parser.addoption(
        "--a11y",
        action="store_true",
        help="only the accessibility of every page, at all widths and colours",
    )
    parser.addoption("--drills", metavar="SECONDS", help="only the drills, each of which lasts SECONDS")


def pytest_configure(config: pytest.Config) -> None:
    folder: Path | None = config.getoption("--note-statements")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        worker = os.environ.get("PYTEST_XDIST_WORKER", "all")
        config.pluginmanager.register(StatementNotes(folder / f"{worker}.json"))


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function):
        file = item.path.relative_to(item.config.rootpath).as_posix()
        item.extra_keyword_matches.update(keywords_of(file, item.originalname))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Tests and what they import stay to the end: nobody looks through them for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of an empty database first, then those of the demo, last those that empty tables at their end."""
    missing = [mark for mark, variable in _SERVERS.items() if not os.environ.get(variable)]
    on_postgresql = os.environ.get("DATABASE_URL", "").startswith("postgres")
    of_storage = config.getoption("--of-storage")
    assert all(place.exists() for place in _NOT_OF_STORAGE)
    drills = config.getoption("--drills") is not None
    a11y = config.getoption("--a11y")
    left_out = [
        item
        for item in items
        if _is_marked(item, ["drill"]) is not drills
        or _is_marked(item, ["a11y"]) is not a11y
        or _is_marked(item, missing)
        or (on_postgresql and _is_marked(item, ["sqlite"]))
        or (of_storage and not _is_of_storage(item))
    ]
    names = {item.nodeid for item in left_out}
    if of_storage and (folder := config.getoption("--noted-statements")) is not None:
        # Those about one server have no notes of another.
        names |= sent_by_others([item.nodeid for item in items if item.nodeid not in names], folder)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
    items[:] = sorted((item for item in items if item.nodeid not in names), key=_turn)


def _is_of_storage(item: pytest.Item) -> bool:
    """Whether PostgreSQL, Redis or several processes on them can change what the test sees.

    What a browser shows of a page has been seen with SQLite, and the page itself is of storage.
    """
    if _is_marked(item, ["postgresql", "redis"]):
        return True
    if _is_marked(item, ["browser"]) or not isinstance(item, pytest.Function):
        return False
    if any(item.path.is_relative_to(place) for place in _NOT_OF_STORAGE):
        return False
    own = (one for several in item._fixtureinfo.name2fixturedefs.values() for one in several if one.baseid)
    return (
        _is_marked(item, ["django_db"])
        or not _STORAGE_FIXTURES.isdisjoint(item.fixturenames)
        or any(_OPENS_DATABASE in fixture.argnames for fixture in own)
    )


def _is_marked(item: pytest.Item, marks: list[str]) -> bool:
    return any(item.get_closest_marker(mark) for mark in marks)


_EMPTIES = 2


def _turn(item: pytest.Item) -> int:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    marker = item.get_closest_marker("django_db")
    if "transactional_db" in fixtures or (marker is not None and marker.kwargs.get("transaction")):
        return _EMPTIES
    return 1 if "_demo" in fixtures else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """REQUIRE_ALL=1: a test skipped for want of a tool has failed."""
    report = yield
    impossible = call.excinfo is not None and isinstance(call.excinfo.value, ImpossibleHere)
    required = os.environ.get("REQUIRE_ALL") == "1" and not impossible
    if report.skipped and not hasattr(report, "wasxfail") and required:
        report.outcome = "failed"
        report.longrepr = f"REQUIRE_ALL=1, but this was skipped: {report.longrepr}"
    return report
