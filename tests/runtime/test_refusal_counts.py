"""Refused callers, counted by issuer and reason, on the studio's list."""

from __future__ import annotations

import datetime as dt
import html
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from rest_framework_simplejwt.settings import api_settings

from project.housekeeping import tidy
from runtime.callers import tokens
from runtime.callers.refusal_counts import KEPT, RefusalCount, refusal_counts
from runtime.callers.refusals_page import REASONS
from tests.callers import Caller
from tests.runtime import forge
from tests.runtime.issuers import KEY, Provider, issuer_row
from tests.servers import ROOT

LIST = "/admin/runtime/refusalcount/"


@pytest.fixture(autouse=True)
def _nothing_counted(db: None) -> None:
    """What other tests were refused is in the process's memory."""
    refusal_counts.flush()
    RefusalCount.objects.all().delete()


@pytest.fixture
def administrator(portico: None) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("root"))
    return client


def refuse(provider: Provider, times: int, **claims: Any) -> None:
    for at in range(times):
        assert Caller(provider.token(sub=f"s{at}", **claims)).get("/api/context").status_code == 401


def test_refusals_are_counted_by_reason_and_shown(administrator: Client) -> None:
    provider = Provider()
    try:
        issuer_row(provider, key_source="pem", key_pem=forge.pem(KEY))
        refuse(provider, 2, exp=1)
        refuse(provider, 1, aud="other")
        refuse(provider, 1, iss="https://marked.example")
        page = html.unescape(administrator.get(LIST).content.decode())
        counts = {(row.issuer, row.reason): row.count for row in RefusalCount.objects.all()}
        assert counts == {
            (provider.address, "expired"): 2,
            (provider.address, "audience"): 1,
            ("", "unknown_issuer"): 1,
        }
        assert "for another audience" in page
        assert re.search(r"\b3\s+refused callers\b", page)
        assert page.count("an issuer that is not set up") == 1
        # Whatever a stranger writes into a token stands nowhere.
        assert "marked" not in page
        refuse(provider, 1, exp=1)
        refusal_counts.flush()
        assert RefusalCount.objects.get(reason="expired").count == 3
    finally:
        provider.stop()
        tokens.forget()


def test_refused_api_keys_are_counted_as_this_services(administrator: Client) -> None:
    assert Caller(f"portico{'a' * 16}_{'0' * 64}").get("/api/context").status_code == 401
    refusal_counts.flush()
    [count] = RefusalCount.objects.all()
    assert (count.issuer, count.reason) == (api_settings.ISSUER, "wrong_key")


def test_a_wrong_password_is_said_to_be_of_no_issuer(administrator: Client) -> None:
    sent = {"username": "rep", "password": "wrong"}
    assert Caller().post("/api/token", sent).status_code == 401
    page = html.unescape(administrator.get(LIST).content.decode())
    assert "wrong user name or password" in page
    assert "an issuer that is not set up" not in page
    assert re.search(r"\b1\s+refused caller\b", page)


def test_every_reason_has_its_words() -> None:
    settings = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    table = settings.partition("| `reason` | What to look at |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert documented == set(REASONS)


def test_old_counts_go_without_anybody_looking(portico: None) -> None:
    long_ago = dt.datetime.now(dt.UTC) - KEPT - dt.timedelta(days=2)
    RefusalCount.objects.create(reason="expired", day=long_ago.date(), count=1, last_at=long_ago)
    assert Caller("a.b.c").get("/api/context").status_code == 401
    refusal_counts.flush()
    assert dict(tidy())["Refused callers"] == 1
    assert [row.reason for row in RefusalCount.objects.all()] == ["malformed"]


def test_a_designer_does_not_see_them(dora: Client) -> None:
    assert dora.get(LIST).status_code == 403
