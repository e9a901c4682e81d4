"""Access tokens: fetched once, renewed in good time, by one thread for all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from crmclient.dataverse.http.client_credentials import ClientCredentials
from crmclient.dataverse.http.entra import Entra
from crmclient.dataverse.http.tokens import Token, Tokens
from crmclient.errors import Unavailable, UnexpectedAnswer
from tests.dataverse.conftest import Failing

SOON = 30.0


class Issuing:
    """A source of numbered tokens."""

    def __init__(self, lifetime: float, before: Callable[[], None] = lambda: None) -> None:
        self.fetched = 0
        self._lifetime = lifetime
        self._before = before

    def fetch(self, timeout: float) -> Token:
        self._before()
        self.fetched += 1
        return Token(f"token {self.fetched}", self._lifetime)


def ends() -> float:
    return time.monotonic() + SOON


def test_a_token_is_fetched_once() -> None:
    source = Issuing(3600)
    tokens = Tokens(source)

    assert [tokens.get(ends()) for _ in range(5)] == ["token 1"] * 5
    assert source.fetched == 1


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the clock on by seconds, without waiting for them."""
    real, passed = time.monotonic, 0.0

    def move(seconds: float) -> None:
        nonlocal passed
        passed += seconds

    monkeypatch.setattr(time, "monotonic", lambda: real() + passed)
    return move


def test_a_token_is_renewed_before_it_ends(later: Callable[[float], None]) -> None:
    tokens = Tokens(Issuing(200))
    tokens.get(ends())
    later(120)

    assert tokens.get(ends()) == "token 2"


def test_a_rejected_token_is_not_used_again() -> None:
    tokens = Tokens(Issuing(3600))
    tokens.reject(tokens.get(ends()))

    assert tokens.get(ends()) == "token 2"
    tokens.reject("token 1")
    assert tokens.get(ends()) == "token 2"


def test_many_threads_fetch_one_token() -> None:
    source = Issuing(3600, before=lambda: time.sleep(0.2))
    tokens = Tokens(source)

    with ThreadPoolExecutor(8) as threads:
        distinct_tokens = set(threads.map(lambda _: tokens.get(ends()), range(8)))

    assert (distinct_tokens, source.fetched) == ({"token 1"}, 1)


def test_the_old_token_serves_while_a_new_one_cannot_be_had(later: Callable[[float], None]) -> None:
    broken = threading.Event()

    def fail() -> None:
        if broken.is_set():
            raise Unavailable("no")

    tokens = Tokens(Issuing(600, before=fail))
    tokens.get(ends())
    broken.set()
    later(350)

    assert tokens.get(ends()) == "token 1"
    later(300)
    with pytest.raises(Unavailable):
        tokens.get(ends())


def test_a_wrong_secret_is_no_matter_of_time(failing: Failing) -> None:
    url = failing.server.url
    source = ClientCredentials(f"{url}/contoso/oauth2/v2.0/token", "portico-demo", "wrong", f"{url}/.default")

    with pytest.raises(UnexpectedAnswer) as raised:
        source.fetch(5)
    assert "wrong" not in str(raised.value)


def test_a_token_endpoint_that_is_away_is() -> None:
    with pytest.raises(Unavailable):
        ClientCredentials("http://127.0.0.1:1/token", "a", "b", "c").fetch(5)


def test_entra_that_is_away_is_too() -> None:
    """Its library asks an authority that does not answer here: what it raises is ours."""
    source = Entra("common", "client", "secret", "scope", authority="https://127.0.0.1:1")

    with pytest.raises(Unavailable):
        source.fetch(1)
