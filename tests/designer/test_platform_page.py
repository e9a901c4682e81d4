"""The Platform page: the budget that is left, who spends it, and what ten times the callers would do."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crmclient import Share
from crmclient.dataverse.http.budget import Limits
from crmclient.dataverse.http.process_budget import ProcessBudget
from designer.models import EndpointCalls
from designer.platform import get_platform
from runtime.serving.usage import usage
from tests.callers import Caller
from tests.runtime.accounts import an_account
from tests.runtime.queries import a_query, accounts


@pytest.fixture(autouse=True)
def _nothing_counted(portico: None) -> Iterator[None]:
    usage.flush()
    EndpointCalls.objects.all().delete()
    yield
    usage.flush()


def page(dora: Client) -> str:
    answer = dora.get(reverse("studio:platform_budget"))
    assert answer.status_code == 200
    # What a cell is called on a telephone, where a row is a card.
    return re.sub(' data-label="[^"]*"', "", answer.content.decode())


def with_budget(monkeypatch: pytest.MonkeyPatch) -> ProcessBudget:
    """The platform has one of 100 requests, of which writes have 40."""
    budget = ProcessBudget(Limits(requests=100, shares={Share.WRITES: 0.4}))
    monkeypatch.setattr(get_platform(), "budget", budget, raising=False)
    return budget


def test_who_spends_the_budget_is_listed_with_what_each_call_costs(rita: Caller, dora: Client) -> None:
    path = an_account()
    for _ in range(4):
        assert rita.get(path).status_code == 200
    usage.flush()

    [row] = EndpointCalls.objects.all()
    assert row.calls == 4
    assert row.platform_calls >= 4
    shown = page(dora)
    assert "/api/sales/accounts/" in shown
    assert f'<td class="number">{row.platform_calls}</td>' in shown


def test_what_the_cache_saved_is_shown(rita: Caller, dora: Client) -> None:
    path = a_query("multi", accounts(), cache={"seconds": 60})
    # The first request is kept, also where the process has yet to notice that something is cached.
    for _ in range(5):
        assert rita.get(path).status_code == 200
    usage.flush()

    [row] = EndpointCalls.objects.all()
    assert (row.calls, row.cached) == (5, 4)
    saved = 4 * row.platform_calls
    shown = page(dora)
    assert f"4 of 5 calls were answered from the cache. That saved the platform about {saved} calls." in shown
    assert f'<td class="number">4</td><td class="number">{saved}</td>' in shown


def test_a_platform_without_a_budget_is_said_to_have_none(dora: Client) -> None:
    assert "This platform does not limit how many calls" in page(dora)


def test_what_is_left_is_shown_by_share(dora: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = with_budget(monkeypatch)
    for _ in range(7):
        budget.take(Share.WRITES)

    shown = page(dora)

    assert "7 / 100" in shown
    assert '<td>Writes of known callers</td><td class="number">7</td><td class="number">40</td>' in shown


@pytest.mark.parametrize(
    ("busiest", "sentence"), [(100, "is enough"), (1_200, "90 of 100 calls would be refused")]
)
def test_ten_times_the_callers_are_compared_with_the_budget(
    dora: Client, monkeypatch: pytest.MonkeyPatch, busiest: int, sentence: str
) -> None:
    with_budget(monkeypatch)
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0) - dt.timedelta(days=2)
    EndpointCalls.objects.create(endpoint="a", hour=hour, platform_calls=busiest, last_at=now)

    assert sentence in page(dora)


def test_requests_refused_for_the_budget_are_counted(dora: Client) -> None:
    usage.count("sales.accounts.read", 503, 1, throttled=True)
    usage.flush()

    assert '<td class="number">1</td></tr>' in page(dora)
