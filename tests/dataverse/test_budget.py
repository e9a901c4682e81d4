"""The platform's budget: the service itself refuses what Dataverse would answer with 429."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from crmbox.demo.people import AYA_AGENT, MAX_MANAGER, PORTAL_SERVICE, RITA_REP
from crmclient import Call, Share
from crmclient.dataverse.http.budget import (
    BOUNDLESS,
    Admission,
    Budget,
    Limits,
    Reason,
    Refusal,
    ReportedBudget,
)
from crmclient.dataverse.http.client_credentials import ClientCredentials
from crmclient.dataverse.http.process_budget import ProcessBudget
from crmclient.dataverse.options import Options
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import Throttled
from crmclient.query.ast import Column, Query
from project.shared_budget import RedisBudget
from tests.dataverse.test_resilience import Counting
from tests.servers import Site, copied, until

NAMES = Query("account", (Column("name"),), top=1)
SHARES = {Share.WRITES: 0.4, Share.READS: 0.35, Share.ANONYMOUS: 0.15, Share.BACKGROUND: 0.1}
WINDOW = 1.5
"""Seconds: short enough for a test to see it slide."""

Make = Callable[..., Budget]


@pytest.fixture(params=["process", "redis"])
def make(request: pytest.FixtureRequest) -> Make:
    """A new budget: in the process, or in a Redis."""
    if request.param == "process":
        return lambda limits, users=1: ProcessBudget(limits, users)
    store: subprocess.Popen[bytes] = request.getfixturevalue("store")
    return lambda limits, users=1: redis_budget(store, limits, users)


def redis_budget(
    store: subprocess.Popen[bytes], limits: Limits, users: int = 1, processes: int = 1
) -> RedisBudget:
    assert isinstance(store.args, list)
    url = f"redis://127.0.0.1:{store.args[-1]}/0"
    return RedisBudget(
        url, "https://a.example", [f"client {number}" for number in range(users)], limits, processes
    )


def taken(budget: Budget, share: Share = Share.READS, at_most: int = 1_000) -> int:
    """How many requests one after the other the budget admits."""
    for number in range(at_most):
        answer = budget.take(share)
        if isinstance(answer, Refusal):
            return number
        budget.settle(answer, 0.0, ReportedBudget())
    return at_most


def refusal(budget: Budget, share: Share = Share.READS, only: int | None = None) -> Refusal:
    answer = budget.take(share, only)
    assert isinstance(answer, Refusal)
    return answer


def admission(budget: Budget, share: Share = Share.READS, only: int | None = None) -> Admission:
    answer = budget.take(share, only)
    assert isinstance(answer, Admission), answer
    return answer


def test_a_window_takes_what_the_limit_says_and_no_more(make: Make) -> None:
    budget = make(Limits(requests=50))

    assert taken(budget) == 50
    refused = refusal(budget)
    assert refused.reason is Reason.REQUESTS
    assert 280 < refused.seconds <= 310


def test_what_is_older_than_the_window_is_free_again(make: Make) -> None:
    budget = make(Limits(requests=20, window=WINDOW))
    sent: list[tuple[float, float]] = []
    ends = time.monotonic() + 3 * WINDOW
    while (before := time.monotonic()) < ends:
        if taken(budget, at_most=1):
            sent.append((before, time.monotonic()))
        else:
            time.sleep(0.05)

    assert len(sent) >= 40
    # In any window at all, however it lies: each was counted at some moment between the two.
    for began, _ in sent:
        assert sum(began <= before and after < began + WINDOW for before, after in sent) <= 20


def test_the_refusal_says_when_to_come_again(make: Make) -> None:
    budget = make(Limits(requests=5, window=WINDOW))
    taken(budget)

    time.sleep(refusal(budget).seconds + 0.05)

    assert taken(budget) == 5


def test_work_is_counted_while_it_is_under_way(make: Make) -> None:
    budget = make(Limits(work=0.4))
    first = admission(budget)

    until(lambda: taken(budget, at_most=1) == 0)

    assert refusal(budget).reason is Reason.WORK
    budget.settle(first, 0.1, ReportedBudget())
    assert isinstance(budget.take(Share.READS), Admission)


def test_places_are_those_of_requests_under_way(make: Make) -> None:
    budget = make(Limits(places=3))
    held = [admission(budget) for _ in range(3)]

    assert refusal(budget).reason is Reason.PLACES
    budget.settle(held[0], 0.0, ReportedBudget())
    admission(budget)
    assert refusal(budget).reason is Reason.PLACES


@pytest.mark.parametrize("flooding", list(Share))
def test_a_group_that_floods_leaves_the_others_a_third_of_their_shares(make: Make, flooding: Share) -> None:
    budget = make(Limits(requests=600, shares=SHARES))

    flood = taken(budget, flooding)

    kept = {share: int(600 * part / 3) for share, part in SHARES.items() if share is not flooding}
    assert flood == 600 - sum(kept.values())
    for share, free in kept.items():
        assert taken(budget, share) == free


def test_a_group_gets_its_share_before_one_that_has_more_than_its_own(make: Make) -> None:
    budget = make(Limits(requests=100, window=WINDOW, shares=SHARES))
    flood = taken(budget, Share.ANONYMOUS)
    assert flood > 60
    ends = time.monotonic() + 2 * WINDOW
    latest: list[tuple[float, Share]] = []
    while time.monotonic() < ends:
        for share in (Share.ANONYMOUS, Share.WRITES):
            if taken(budget, share, at_most=1):
                latest.append((time.monotonic(), share))

    window = [share for at, share in latest if at > latest[-1][0] - WINDOW]
    # A slow machine does not ask for all of it.
    assert window.count(Share.WRITES) >= 0.35 * len(window)
    assert window.count(Share.ANONYMOUS) >= 0.1 * len(window)


def test_the_platforms_word_counts_for_what_others_have_used(make: Make) -> None:
    budget = make(Limits(requests=100, work=100.0))
    first = admission(budget)

    budget.settle(first, 0.0, ReportedBudget(requests=30, work=100))

    assert taken(budget) == 30


def test_requests_under_way_may_be_in_the_platforms_figure_or_not(make: Make) -> None:
    budget = make(Limits(requests=100))
    held = [admission(budget) for _ in range(10)]

    # The last of ten is counted first: 60 of somebody else, and this one.
    budget.settle(held[-1], 0.0, ReportedBudget(requests=39))

    assert taken(budget) <= 30


def test_a_platform_that_has_counted_less_is_not_believed_more_requests(make: Make) -> None:
    budget = make(Limits(requests=100))
    first = admission(budget)

    budget.settle(first, 0.0, ReportedBudget(requests=100_000))

    assert taken(budget) == 99
    [use] = budget.use_of_users()
    assert use.used_requests == 100


def test_what_has_no_limit_is_not_refused_whatever_the_platform_says(make: Make) -> None:
    budget = make(Limits(requests=BOUNDLESS, work=float(BOUNDLESS), shares=SHARES))

    budget.settle(admission(budget), 1.0, ReportedBudget(requests=0, work=0))

    assert taken(budget, at_most=50) == 50


def test_the_network_is_not_work(make: Make) -> None:
    budget = make(Limits(work=10))
    for _ in range(3):
        budget.settle(admission(budget), 3.3, ReportedBudget())
    assert taken(budget, at_most=1) == 1
    budget.settle(admission(budget), 3.3, ReportedBudget(work=9.5))

    # Of 9.9 seconds before, 0.5 were work.
    assert sum(1 for _ in range(10) if _spends(budget, 3.3)) == 2


def _spends(budget: Budget, seconds: float) -> bool:
    answer = budget.take(Share.READS)
    if isinstance(answer, Refusal):
        return False
    budget.settle(answer, seconds, ReportedBudget())
    return True


def test_the_user_with_most_left_is_asked(make: Make) -> None:
    budget = make(Limits(requests=100), 3)
    for _ in range(60):
        budget.settle(admission(budget, only=1), 0.0, ReportedBudget())

    asked = [admission(budget).user for _ in range(30)]

    assert asked.count(0) == asked.count(2) == 15


def test_users_have_their_budgets_one_by_one(make: Make) -> None:
    budget = make(Limits(requests=10), 3)

    assert taken(budget) == 30
    assert refusal(budget, only=1).reason is Reason.REQUESTS


def test_a_user_who_is_throttled_rests(make: Make) -> None:
    budget = make(Limits(requests=100), 2)

    assert budget.pause(0, 200)[1] == 0
    assert {admission(budget).user for _ in range(10)} == {1}
    assert refusal(budget, only=0) == Refusal(pytest.approx(200, abs=2), Reason.PAUSE)  # type: ignore[arg-type]
    budget.pause(1, 100)
    assert refusal(budget) == Refusal(pytest.approx(100, abs=2), Reason.PAUSE)  # type: ignore[arg-type]
    budget.pause(1, 50)
    assert refusal(budget).seconds > 90


def test_processes_that_share_a_redis_share_the_budget(store: subprocess.Popen[bytes]) -> None:
    first, second = (redis_budget(store, Limits(requests=40), processes=2) for _ in "ab")

    assert taken(first, at_most=30) == 30
    assert taken(second) == 10
    second.pause(0, 200)
    assert refusal(first).reason is Reason.PAUSE


def test_without_redis_each_process_goes_on_with_its_part(store: subprocess.Popen[bytes]) -> None:
    first, second = (redis_budget(store, Limits(requests=40), processes=2) for _ in "ab")
    assert taken(first, at_most=5) == 5
    store.kill()
    store.wait(10)

    assert taken(first) == 15
    assert taken(second) == 20


def test_one_of_several_processes_takes_its_part_of_what_the_platform_says() -> None:
    budget = ProcessBudget(Limits(requests=100).part(4))

    assert taken(budget, at_most=5) == 5
    budget.settle(admission(budget), 0.0, ReportedBudget(requests=40))

    assert taken(budget) == 10


CLIENTS = {"rita": RITA_REP, "max": MAX_MANAGER, "aya": AYA_AGENT, "portal": PORTAL_SERVICE}
LIMITS = Limits(requests=60, places=4)


class Limited:
    """A CRM server with limits; each of its clients is another user."""

    def __init__(self, site: Site, limits: str) -> None:
        clients = [{"client_id": id, "client_secret": "demo", "user": user} for id, user in CLIENTS.items()]
        self.server = site.start_crm(
            CRM_SERVER_LIMITS=limits, CRM_SERVER_FAULTS="1", CRM_SERVER_CLIENTS=json.dumps(clients)
        )

    def source(self, client: str) -> ClientCredentials:
        url = self.server.url
        return ClientCredentials(f"{url}/contoso/oauth2/v2.0/token", client, "demo", f"{url}/.default")

    def platform(self, budget: Budget, *clients: str) -> tuple[DataversePlatform, Counting]:
        seen = Counting()
        options = Options(self.server.url, concurrency=30, retries=0)
        sources = [self.source(client) for client in clients]
        return DataversePlatform(options, *sources, observer=seen, budget=budget), seen

    def arm(self, *faults: dict[str, Any]) -> None:
        requests.put(f"{self.server.url}/faults", json={"faults": faults}, timeout=30).raise_for_status()

    def struck(self) -> list[int]:
        answer = requests.get(f"{self.server.url}/faults", timeout=30).json()
        return [fault["struck"] for fault in answer["faults"]]


@pytest.fixture(scope="module")
def limited(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    with copied(_prepared, tmp_path_factory.mktemp("budget") / "data", "budget") as site:
        yield Limited(site, f"{LIMITS.requests},1200,{LIMITS.places}")


def flooded(*platforms: DataversePlatform, times: int = 150) -> list[float]:
    """What callers are told who were refused, of many at once."""
    told: list[float] = []

    def ask(number: int) -> None:
        try:
            platforms[number % len(platforms)].query(NAMES)
        except Throttled as error:
            told.append(error.retry_after or 0.0)

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(ask, range(times)))
    return told


@pytest.mark.processes
def test_threads_that_start_at_once_ask_for_metadata_once(limited: Limited) -> None:
    alone, seen_alone = limited.platform(ProcessBudget(LIMITS), "portal")
    alone.query(NAMES)
    together, seen_together = limited.platform(ProcessBudget(LIMITS), "portal")

    assert flooded(together, times=20) == []

    assert len(seen_together.attempts) == len(seen_alone.attempts) + 19


@pytest.mark.processes
def test_the_platform_never_has_to_refuse(limited: Limited) -> None:
    platform, seen = limited.platform(ProcessBudget(LIMITS), "rita")

    told = flooded(platform)

    assert "429" not in seen.attempts
    assert seen.attempts.count("200") == LIMITS.requests
    assert 0 < min(told) <= max(told) <= 310
    assert len(seen.refusals) == len(told)


@pytest.mark.processes
def test_two_processes_never_make_the_platform_refuse(
    limited: Limited, store: subprocess.Popen[bytes]
) -> None:
    (first, seen), (second, also) = (
        limited.platform(redis_budget(store, LIMITS, processes=2), "max") for _ in "ab"
    )

    flooded(first, second)

    assert {*seen.attempts, *also.attempts} == {"200"}
    assert len(seen.attempts) + len(also.attempts) == LIMITS.requests


@pytest.mark.processes
def test_a_stranger_who_spends_the_same_budget_is_noticed(limited: Limited) -> None:
    token = limited.source("aya").fetch(10).text
    stranger = requests.Session()
    stranger.headers["Authorization"] = f"Bearer {token}"
    for _ in range(40):
        stranger.get(f"{limited.server.url}/api/data/v9.2/WhoAmI", timeout=30).raise_for_status()
    platform, seen = limited.platform(ProcessBudget(LIMITS), "aya")

    told = flooded(platform, times=60)

    assert set(seen.attempts) == {"200"}
    assert len(seen.attempts) <= 20
    assert told


@pytest.mark.processes
def test_a_user_who_is_refused_rests_and_another_answers(limited: Limited) -> None:
    platform, seen = limited.platform(ProcessBudget(Limits(places=4), 2), "portico-demo", "portico-demo")
    platform.query(NAMES)
    limited.arm({"path": "/api/data/", "status": 429, "headers": {"Retry-After": "300"}, "times": 1})
    seen.attempts.clear()

    with pytest.raises(Throttled):
        # Retries are off: this one request is refused.
        platform.query(NAMES)
    for _ in range(5):
        platform.query(NAMES)

    assert seen.attempts == ["429"] + ["200"] * 5
    [first, second] = platform.budget.use_of_users()
    assert {first.pause > 0, second.pause > 0} == {True, False}


@pytest.mark.processes
def test_a_call_is_paid_for_by_its_share(limited: Limited) -> None:
    platform, seen = limited.platform(ProcessBudget(LIMITS), "portico-demo")

    platform.query(NAMES, call=Call(share=Share.WRITES, spender="sales.accounts"))

    assert seen.spenders[-1] == (Share.WRITES, "sales.accounts")
    [standing] = platform.budget.use_of_users()
    assert standing.requests[Share.WRITES] == 1


@pytest.mark.processes
def test_work_never_makes_the_platform_refuse(site: Site) -> None:
    limited = Limited(site, "6000,1,52")
    platform, seen = limited.platform(ProcessBudget(Limits(work=1.0, places=4)), "rita")

    while not seen.refusals:
        flooded(platform, times=40)

    assert set(seen.attempts) == {"200"}
