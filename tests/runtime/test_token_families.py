"""Refresh tokens: the successor of each, however often it is asked for, and what ends all of a login."""

from __future__ import annotations

import datetime as dt
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken
from rest_framework_simplejwt.tokens import RefreshToken

from designer.models import AuditEntry
from project.logs import JsonFormatter
from runtime.callers import token_families, tokens
from runtime.callers.own_tokens import revoke_all
from runtime.callers.refusals import RefusedCaller
from runtime.models import ApiAccount, TokenFamily
from tests.callers import Caller
from tests.clocks import ahead
from tests.runtime import forge
from tests.runtime.at_once import posted_at_once
from tests.servers import Server, Site

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    tokens.forget()
    yield
    tokens.forget()


@pytest.fixture
def account() -> ApiAccount:
    return ApiAccount.objects.create(user=get_user_model().objects.create_user("rita", password=PASSWORD))


@pytest.fixture
def first(account: ApiAccount) -> str:
    return log_in()


def log_in() -> str:
    """A refresh token."""
    answer = Caller().post("/api/token", {"username": "rita", "password": PASSWORD})
    refresh: str = answer.json()["refresh"]
    return refresh


def renewed(refresh: str, address: str = "127.0.0.1") -> Any:
    return Caller(address=address).post("/api/token/refresh", {"refresh": refresh})


def successor(refresh: str) -> str:
    answer = renewed(refresh)
    assert answer.status_code == 200, answer.content
    following: str = answer.json()["refresh"]
    return following


def is_refused(refresh: str) -> bool:
    answer = renewed(refresh)
    if answer.status_code == 200:
        return False
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    return True


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets that many seconds pass, for what keeps the families."""
    return ahead(monkeypatch, token_families)


def as_of_0_2(account: ApiAccount) -> str:
    """A refresh token as the release before families gave them."""
    refresh = RefreshToken()
    refresh["sub"] = str(account.user_id)
    OutstandingToken.objects.create(
        user=account.user,
        jti=refresh["jti"],
        token="",
        created_at=refresh.current_time,
        expires_at=refresh.current_time + dt.timedelta(days=1),
    )
    return str(refresh)


def test_a_lost_answer_is_given_again_with_the_same_successor(
    first: str, later: Callable[[float], None]
) -> None:
    second = successor(first)
    assert second != first
    assert successor(first) == second
    later(29)
    assert successor(first) == second
    third = successor(second)
    assert third not in {first, second}
    assert successor(second) == third


def test_a_token_that_is_sent_long_after_its_use_ends_its_login(
    first: str, later: Callable[[float], None]
) -> None:
    second = successor(first)
    later(31)
    assert is_refused(first)
    assert is_refused(second)
    assert is_refused(first)


def _is_sent_again(tokens: dict[str, Any], account: ApiAccount) -> None:
    assert is_refused(successor(tokens["refresh"])) is False
    assert is_refused(tokens["refresh"])


def _is_revoked(tokens: dict[str, Any], account: ApiAccount) -> None:
    assert Caller().post("/api/token/revoke", {"token": tokens["refresh"]}).status_code == 200


def _all_are_revoked(tokens: dict[str, Any], account: ApiAccount) -> None:
    assert revoke_all(account.user) == 1


@pytest.mark.parametrize("end", [_is_sent_again, _is_revoked, _all_are_revoked])
def test_the_access_tokens_of_a_login_end_with_it_within_a_minute(
    account: ApiAccount, end: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    login = {"username": "rita", "password": PASSWORD}
    ended = Caller().post("/api/token", login).json()
    held = [ended["access"], renewed(ended["refresh"]).json()["access"]]
    assert [tokens.authenticate(f"Bearer {token}") is not None for token in held] == [True, True]
    end(ended, account)
    other = Caller().post("/api/token", login).json()["access"]

    in_a_minute = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: in_a_minute)
    for token in held:
        with pytest.raises(RefusedCaller):
            tokens.authenticate(f"Bearer {token}")
    assert tokens.authenticate(f"Bearer {other}") is not None


def test_a_token_before_the_one_before_ends_its_login_at_once(first: str) -> None:
    third = successor(successor(first))
    assert is_refused(first)
    assert is_refused(third)


def test_a_token_that_was_never_used_renews_at_any_time(first: str, later: Callable[[float], None]) -> None:
    later(80_000)
    assert not is_refused(first)


def test_other_logins_of_the_account_go_on(first: str) -> None:
    other = log_in()
    third = successor(successor(first))
    assert is_refused(first)
    assert is_refused(third)
    assert not is_refused(other)


def test_a_stolen_token_is_told_to_those_who_run_the_service(
    first: str, account: ApiAccount, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    third = successor(successor(first))
    renewed(first, address="192.0.2.66")
    renewed(first, address="192.0.2.66")
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    [told] = [line for line in lines if line["logger"] == "portico.logins"]
    assert (told["level"], told["account"]) == ("warning", account.user_id)
    assert [line.get("reason") for line in lines if line["event"] == "caller refused"] == [
        *("reused", "used_or_revoked")
    ]
    [entry] = AuditEntry.objects.filter(action=AuditEntry.Action.REVOKE)
    assert entry.subject == "API account: rita"
    assert entry.address == "192.0.2.66"
    assert first not in caplog.text
    assert third not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_renewals_at_once_give_one_successor(account: ApiAccount) -> None:
    first = log_in()
    answers = posted_at_once("/api/token/refresh", {"refresh": first}, 3)
    renewals = [(status, content["refresh"]) for status, content in answers]
    assert len(renewals) == 3
    [(status, second)] = set(renewals)
    assert status == 200
    assert successor(second) != second


@pytest.fixture
def two_workers(site: Site) -> Server:
    return site.start(WORKERS="2", LOGIN_RATE="0")


@pytest.mark.processes
def test_renewals_at_once_in_several_processes_give_one_successor(two_workers: Server) -> None:
    server = two_workers
    given = {"username": "rep", "password": "demo"}
    refresh = server.request("POST", "/api/token", json=given).json()["refresh"]
    for _ in range(5):
        renewals: list[str] = []

        def renew(token: str = refresh, renewals: list[str] = renewals) -> None:
            renewals.append(
                server.request("POST", "/api/token/refresh", json={"refresh": token}).json()["refresh"]
            )

        threads = [threading.Thread(target=renew) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(renewals) == 3
        [refresh] = set(renewals)


def test_a_token_of_an_earlier_release_founds_a_family(account: ApiAccount) -> None:
    old = as_of_0_2(account)
    second = successor(old)
    assert successor(old) == second
    third = successor(second)
    assert is_refused(old)
    assert is_refused(third)


def test_a_token_that_an_earlier_release_saw_used_or_revoked_founds_none(account: ApiAccount) -> None:
    old = as_of_0_2(account)
    BlacklistedToken.objects.create(token=OutstandingToken.objects.get())
    assert is_refused(old)
    assert not TokenFamily.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_first_uses_at_once_of_a_token_of_an_earlier_release_found_one_family(account: ApiAccount) -> None:
    old = as_of_0_2(account)
    answers = posted_at_once("/api/token/refresh", {"refresh": old}, 3)
    renewals = [content["refresh"] for _status, content in answers]
    assert len(renewals) == 3
    assert len(set(renewals)) == 1
    assert TokenFamily.objects.count() == 1


def test_revoking_all_ends_every_family_old_ones_and_new(account: ApiAccount) -> None:
    held = [log_in(), successor(log_in()), as_of_0_2(account)]
    founded = as_of_0_2(account)
    held.append(successor(founded))
    assert revoke_all(account.user) == 4
    assert [is_refused(each) for each in [*held, founded]] == [True] * 5
    assert revoke_all(account.user) == 0


@pytest.mark.parametrize(
    "changed",
    [
        lambda jti: jti[:-1] + ("A" if jti[-1] != "A" else "B"),
        lambda jti: jti.replace(".1.", ".2."),
        lambda jti: "0" * 32 + jti[32:],
        lambda jti: jti.rpartition(".")[0],
        lambda jti: jti + "\n",
    ],
)
def test_the_signing_key_alone_makes_no_refresh_token(
    first: str, account: ApiAccount, changed: Callable[[str], str]
) -> None:
    claims = jwt.decode(first, options={"verify_signature": False})
    forged = forge.signed({**claims, "jti": changed(claims["jti"])})
    assert is_refused(forged)
    assert not is_refused(first)


def test_a_token_for_somebody_else_leads_nowhere(first: str) -> None:
    other = ApiAccount.objects.create(user=get_user_model().objects.create_user("max"))
    claims = jwt.decode(first, options={"verify_signature": False})
    assert is_refused(forge.signed({**claims, "sub": str(other.user_id)}))
    assert not is_refused(first)


def test_an_earlier_secret_key_is_good_for_what_it_made(first: str, settings: Any) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another" * 10
    second = successor(first)
    settings.SECRET_KEY_FALLBACKS = []
    assert is_refused(first)
    assert not is_refused(second)


def test_the_database_holds_nothing_that_is_a_token(first: str) -> None:
    second = successor(first)
    kept = json.dumps(list(TokenFamily.objects.values()), default=str)
    for token in (first, second):
        jti = jwt.decode(token, options={"verify_signature": False})["jti"]
        assert jti.rpartition(".")[2] not in kept


def test_families_go_when_their_last_token_has_expired(first: str) -> None:
    successor(first)
    call_command("tidy")
    assert TokenFamily.objects.count() == 1
    TokenFamily.objects.update(expires_at=dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1))
    call_command("tidy")
    assert TokenFamily.objects.count() == 0
    assert is_refused(first)
