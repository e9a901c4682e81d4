"""A refresh of the metadata that is asked for in the studio: it goes on without the page, and every process
says how far it is.
"""

from __future__ import annotations

import datetime as dt
import html
import io
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from designer.models import AuditEntry
from designer.platform import get_platform
from project.metadata_store import DatabaseStore
from project.models import Claim, MetadataRefresh
from project.refresh_runs import refresh_runs
from tests.chosen_platform import serving_with
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import platform_at, settings_for
from tests.servers import Server, Site, copied, until

pytestmark = pytest.mark.processes

SLOW_SECONDS = 8.0
METADATA = "EntityDefinitions|GlobalOptionSetDefinitions|metadata$|RetrieveMetadataChanges|customapis"


@pytest.fixture
def remote(portico: None, failing: Failing, settings: Any) -> Iterator[Failing]:
    """The service's platform is Dataverse, whose metadata has never been refreshed."""
    store = DatabaseStore("https://contoso.example/")
    with serving_with(platform_at(failing.server, store=store, retries=0), settings, METADATA_TIMEOUT=90):
        # What an earlier test has begun is no test's any more.
        while refresh_runs.run_next(0):
            pass
        yield failing


def state_of(studio: Client, **headers: str) -> str:
    answer = studio.get(reverse("studio:platform"), headers=headers)
    assert answer.status_code == 200
    return " ".join(html.unescape(answer.content.decode()).split())


def ask(studio: Client) -> str:
    answer = studio.post(reverse("studio:refresh_metadata"), {"fragment": "1"})
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_a_refresh_is_only_begun_and_its_state_asks_the_platform_nothing(
    remote: Failing, dora: Client
) -> None:
    remote.arm({"path": "/api/data/", "delay": 60, "times": None})

    began = time.monotonic()
    begun, state = ask(dora), state_of(dora)

    assert time.monotonic() - began < 20
    for shown in begun, state:
        assert "a refresh of the platform's metadata began, and is still running." in shown
        assert "Each request may take 90 seconds (METADATA_TIMEOUT)." in shown
        assert 'role="status"' in shown
        assert 'aria-disabled="true"' in shown
    remote.arm()


def test_a_refresh_that_runs_is_not_begun_again(remote: Failing, dora: Client) -> None:
    ask(dora)
    begun = MetadataRefresh.objects.get()

    ask(dora)

    assert MetadataRefresh.objects.get().started == begun.started
    assert refresh_runs.run_next(0)
    assert not refresh_runs.run_next(0)
    assert "Refreshed" in state_of(dora)
    details = AuditEntry.objects.filter(action="refresh").order_by("id").values_list("account", "detail")
    assert list(details) == [("designer", "begun"), ("designer", "changed")]


def test_a_refresh_whose_process_is_gone_is_said_to_be_lost_and_can_be_begun_again(
    remote: Failing, dora: Client
) -> None:
    ask(dora)
    # Nobody renews the claim.
    Claim.objects.filter(name="metadata refresh").update(until=dt.datetime.now(dt.UTC))

    state = state_of(dora)
    assert "was lost, because its process has ended" in state
    assert "Refresh the metadata again." in state
    assert "data-refreshing" not in state
    assert "aria-disabled" not in state

    assert "data-refreshing" in ask(dora)
    # The thread of the lost one, had its process only been suspended, finds its turn over.
    assert refresh_runs.run_next(0)
    assert MetadataRefresh.objects.get().ended is None
    assert refresh_runs.run_next(0)
    assert "Refreshed" in state_of(dora)


def test_a_result_is_told_for_ten_minutes_and_a_failure_until_another_refresh_succeeds(
    remote: Failing, dora: Client
) -> None:
    remote.arm({"path": "/api/data/", "status": 500, "body": "<html>", "times": None})
    ask(dora)
    refresh_runs.run_next(0)
    assert "the refresh of the platform's metadata failed." in state_of(dora)

    remote.arm()
    get_platform().refresh_metadata()  # type: ignore[attr-defined]  # it keeps its metadata
    assert "metadata failed" not in state_of(dora)

    ask(dora)
    refresh_runs.run_next(0)
    assert "nothing is different" in state_of(dora)
    MetadataRefresh.objects.update(ended=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=11))
    assert "nothing is different" not in state_of(dora)


def without_scripts(page: str) -> str:
    (shown,) = re.findall(r"<noscript>\s*(?=<)(.*?)</noscript>", page, re.DOTALL)
    return str(html.unescape(shown))


def test_without_scripts_a_form_begins_the_refresh_and_the_page_says_how_far_it_is(
    remote: Failing, dora: Client
) -> None:
    page = reverse("studio:platform_budget")
    assert f'action="{reverse("studio:refresh_metadata")}"' in without_scripts(
        dora.get(page).content.decode()
    )

    shown = dora.post(reverse("studio:refresh_metadata"), follow=True)

    assert shown.redirect_chain == [(page, 302)]
    running = without_scripts(shown.content.decode())
    assert "is still running" in running
    assert f'<a href="{page}">Reload the page</a>' in running
    assert "<form" not in running
    refresh_runs.run_next(0)
    ended = without_scripts(dora.get(page).content.decode())
    assert "Refreshed" in ended
    assert "<form" in ended


@pytest.mark.parametrize("language", ["de", "ar"])
def test_a_refresh_is_told_in_the_language_of_the_reader(
    remote: Failing, dora: Client, language: str
) -> None:
    remote.arm({"path": "/api/data/", "status": 429, "headers": {"Retry-After": "3600"}, "times": None})
    states = [state_of(dora, **{"Accept-Language": language})]
    ask(dora)
    MetadataRefresh.objects.update(asked=["stamp", "processes", "entity/account"], done=2, total=9)
    states.append(state_of(dora, **{"Accept-Language": language}))
    refresh_runs.run_next(0)
    states.append(state_of(dora, **{"Accept-Language": language}))

    assert len(set(states)) == 3
    for state in states:
        words = re.sub(r"<[^>]*>", " ", state)
        assert not re.search(r"\b(the|refresh\w*|asked|of|again|hour|state)\b", words), words


def test_the_command_tells_on_standard_error_what_it_waits_for(remote: Failing) -> None:
    remote.arm({"path": "/RetrieveProvisionedLanguages", "delay": 12, "times": 1})
    output, errors = io.StringIO(), io.StringIO()

    call_command("refreshmetadata", stdout=output, stderr=errors)

    assert re.search(r"After \d+ seconds: the platform is being asked for: .*languages", errors.getvalue())
    assert "Each request may take 90 seconds (METADATA_TIMEOUT)." in errors.getvalue()
    assert "being asked" not in output.getvalue()


class Studio:
    """A browser without scripts, logged in at a server."""

    def __init__(self, server: Server) -> None:
        self._url = server.url
        self._session = requests.Session()
        self._session.get(f"{self._url}/admin/login/", timeout=60).raise_for_status()
        self._post("/admin/login/", username="designer", password="demo")

    def refresh(self) -> str:
        return self._post("/admin/platform/refresh/", fragment="1")

    def state(self) -> str:
        answer = self._session.get(f"{self._url}/admin/platform/", timeout=60)
        answer.raise_for_status()
        return " ".join(html.unescape(answer.text).split())

    def _post(self, path: str, **data: str) -> str:
        sent = {"csrfmiddlewaretoken": self._session.cookies["csrftoken"], **data}
        answer = self._session.post(f"{self._url}{path}", sent, timeout=60)
        answer.raise_for_status()
        return html.unescape(answer.text)


@pytest.fixture
def installation(_prepared: Site, failing: Failing, tmp_path: Any) -> Iterator[Site]:
    with copied(_prepared, tmp_path / "data", "refresh_runs") as site:
        site.environment.update(settings_for(failing.server))
        yield site


def test_every_process_says_how_far_the_refresh_of_one_of_them_is(
    installation: Site, failing: Failing
) -> None:
    one, two = (Studio(installation.start()) for _ in range(2))
    failing.arm({"path": METADATA, "delay": SLOW_SECONDS, "times": None})

    assert "is still running" in one.refresh()
    until(lambda: "The platform is being asked for: the state of the metadata" in two.state(), pause=0.5)
    assert "parts have come" in two.state()
    assert "data-refreshing" in two.refresh()

    until(lambda: "data-refreshing" not in two.state(), pause=0.5)
    failing.arm()
    for studio in one, two:
        assert "Refreshed" in studio.state()


def test_a_process_that_is_killed_leaves_no_refresh_running(installation: Site, failing: Failing) -> None:
    killed, living = (installation.start() for _ in range(2))
    failing.arm({"path": METADATA, "delay": 300, "times": None})
    studio = Studio(living)
    assert "is still running" in Studio(killed).refresh()
    assert "data-refreshing" in studio.state()

    killed.kill()

    until(lambda: "was lost, because its process has ended" in studio.state(), pause=1)
    failing.arm()
    assert "data-refreshing" in studio.refresh()
    until(lambda: "Refreshed" in studio.state(), pause=0.5)
