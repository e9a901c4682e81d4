"""What the platform is asked of callers: once a minute each, in all processes together."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.errors import AccessDenied, Unavailable
from designer.models import UserProperty
from designer.platform import get_platform
from project.platform import configured
from runtime.callers import active_records, minute_cache, tokens
from runtime.callers.minute_cache import MinuteCache
from runtime.callers.portable_values import Unportable, from_bytes, to_bytes
from runtime.context import user_context
from runtime.serving import served
from tests.callers import Caller, account
from tests.runtime.queries import a_query, accounts, where

CALLS: Counter[str] = Counter()


class CountingPlatform:
    """The real one, with what it is asked about users counted. `is_away`: it cannot be reached."""

    is_away = False

    def __init__(self) -> None:
        self._platform = configured()

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._platform, name)
        if self.is_away and name in {"retrieve", "update"}:
            return _away
        return member

    def user(self, id: str) -> Any:
        CALLS["user"] += 1
        return _away() if self.is_away else self._platform.user(id)

    def query(self, query: Any, *rest: Any, **named: Any) -> Any:
        CALLS[f"query {query.entity}"] += 1
        return _away() if self.is_away else self._platform.query(query, *rest, **named)


def _away(*args: Any, **named: Any) -> Any:
    raise Unavailable("It cannot be reached.")


class CompaniesHidden(CountingPlatform):
    """One that the service may not read the companies of contacts from."""

    def query(self, query: Any, *rest: Any, **named: Any) -> Any:
        if query.entity == "contact" and query.links:
            raise AccessDenied("The application user may not read accounts.")
        return super().query(query, *rest, **named)


@pytest.fixture
def counted(portico: None, settings: Any) -> Iterator[Counter[str]]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.CountingPlatform"}
    get_platform.cache_clear()
    # What is served already asks the platform that it was made with, before this test and after it.
    served._served = None
    CALLS.clear()
    yield CALLS
    served._served = None
    get_platform.cache_clear()


def test_a_property_that_cannot_be_read_stops_no_call_that_needs_none(
    counted: Counter[str], settings: Any
) -> None:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.CompaniesHidden"}
    get_platform.cache_clear()
    clara = account("customer")
    assert clara.get("/api/portal/queries/articles").status_code == 200
    assert clara.get("/api/context").status_code >= 400


def of_users(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name in {"user", "query systemuser"}}


def test_a_caller_costs_the_platform_two_calls_a_minute(counted: Counter[str], a_minute_later: Any) -> None:
    rita = account("rep")
    for _ in range(3):
        assert rita.get("/api/context").status_code == 200
        # Another token of the same person.
        assert account("rep").get("/api/context").status_code == 200
    assert of_users(counted) == {"user": 1, "query systemuser": 1}
    a_minute_later()
    assert account("rep").get("/api/context").status_code == 200
    assert of_users(counted) == {"user": 2, "query systemuser": 2}


def test_callers_that_come_at_once_wait_for_one_reading() -> None:
    calls: list[int] = []
    together = threading.Barrier(8)
    cache: MinuteCache[str] = MinuteCache("test-at-once", pack=str, unpack=str)

    def read() -> str:
        calls.append(1)
        time.sleep(0.2)
        return "value"

    def ask() -> None:
        together.wait(30)
        assert cache.get(("rita",), read).value == "value"

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_an_edited_user_property_applies_to_the_next_request(counted: Counter[str]) -> None:
    rita = account("rep")
    assert "mail" not in rita.get("/api/context").json()["user"]
    UserProperty.objects.create(name="mail", attribute="internalemailaddress", position=99)
    assert rita.get("/api/context").json()["user"]["mail"] == "rita.rep@contoso.example"


def test_a_disabled_caller_is_asked_for_once_a_minute_too(counted: Counter[str], a_minute_later: Any) -> None:
    rita = account("rep")
    user = rita.get("/api/context").json()["user"]["id"]
    get_platform().update("systemuser", user, {"isdisabled": True})
    a_minute_later()
    counted.clear()
    assert {rita.get("/api/context").status_code for _ in range(3)} == {403}
    assert {rita.get("/api/sales/accounts/" + user).status_code for _ in range(2)} == {403}
    assert of_users(counted) == {"user": 1}


def test_callers_differ_by_their_roles(counted: Counter[str]) -> None:
    assert account("rep").get("/api/context").json()["user"]["isManager"] is False
    assert account("manager").get("/api/context").json()["user"]["isManager"] is True


def forget_here() -> None:
    """As another process, which has read nothing yet."""
    tokens._verified.clear()
    active_records._profiles._local.clear()
    user_context._PROPERTIES._local.clear()


@pytest.mark.redis
def test_processes_share_what_one_has_read(counted: Counter[str]) -> None:
    rita = account("rep")
    before = rita.get("/api/context").json()
    forget_here()
    assert rita.get("/api/context").json() == before
    assert of_users(counted) == {"user": 1, "query systemuser": 1}


@pytest.mark.redis
def test_what_is_shared_cannot_be_read_or_forged(counted: Counter[str], settings: Any) -> None:
    account("rep").get("/api/context")
    client = minute_cache._redis()._redis.client
    assert client is not None
    keys = list(client.scan_iter("portico:known-callers:*"))
    contents: list[Any] = [client.get(key) for key in keys]
    assert len(keys) == 2
    assert not any(b"Rita" in content or b"sales" in content for content in contents)
    for key, content in zip(keys, reversed(contents), strict=True):
        client.set(key, content, px=60_000)
    forget_here()
    assert account("rep").get("/api/context").json()["user"]["fullName"] == "Rita Rep"
    assert of_users(counted) == {"user": 2, "query systemuser": 2}


@pytest.mark.redis
def test_what_another_process_read_is_no_younger_here() -> None:
    first: MinuteCache[str] = MinuteCache("test-age", pack=str, unpack=str)
    second: MinuteCache[str] = MinuteCache("test-age", pack=str, unpack=str)
    kept = first.get(("rita",), lambda: "value", until=time.monotonic() + 20)
    taken = second.get(("rita",), lambda: pytest.fail("was read twice"))
    assert taken.until <= kept.until + 0.5


def test_without_its_store_a_process_remembers_alone(counted: Counter[str], settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "CACHE_URL": "redis://127.0.0.1:1/0"}
    rita = account("rep")
    assert {rita.get("/api/context").status_code for _ in range(3)} == {200}
    assert of_users(counted) == {"user": 1, "query systemuser": 1}


def test_a_failure_is_not_remembered() -> None:
    cache: MinuteCache[str] = MinuteCache("test-failure", pack=str, unpack=str)

    def fail() -> str:
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        cache.get(("rita",), fail)
    assert cache.get(("rita",), lambda: "value").value == "value"


def test_what_was_known_last_counts_while_the_platform_is_away(a_minute_later: Any) -> None:
    cache: MinuteCache[str] = MinuteCache("test-away", pack=str, unpack=str, when_old=str.lower)
    cache.get(("rita",), lambda: "VALUE")
    a_minute_later()
    assert cache.get(("rita",), _away).value == "value"
    # It is not asked again within the minute.
    assert cache.get(("rita",), lambda: pytest.fail("was asked again")).value == "value"
    for _ in range(15):
        a_minute_later()
    with pytest.raises(Unavailable):
        cache.get(("rita",), _away)


def test_what_must_be_of_the_last_minute_is_not_taken_older(a_minute_later: Any) -> None:
    cache: MinuteCache[str] = MinuteCache("test-strict", pack=str, unpack=str)
    cache.get(("rita",), lambda: "value", old_counts=False)
    a_minute_later()
    with pytest.raises(Unavailable):
        cache.get(("rita",), _away, old_counts=False)


@pytest.mark.redis
def test_what_another_process_read_counts_while_the_platform_is_away() -> None:
    first: MinuteCache[str] = MinuteCache("test-shared-away", pack=str, unpack=str)
    second: MinuteCache[str] = MinuteCache("test-shared-away", pack=str, unpack=str)
    first.get(("rita",), lambda: "value")
    client = minute_cache._redis()._redis.client
    assert client is not None
    [key] = client.scan_iter("portico:known-callers:*")
    # A minute later, by the clock of Redis.
    client.pexpire(key, int(client.pttl(key)) - 60_000)
    assert second.get(("rita",), _away).value == "value"


def test_a_cached_answer_is_served_to_who_called_before_while_the_platform_is_away(
    counted: Counter[str], a_minute_later: Any
) -> None:
    """Also one that depends on the caller's properties; nothing else is, and nothing is written."""
    by_name = '<filter><condition attribute="name" operator="ne" value="@user.fullName"/></filter>'
    cache = {"seconds": 60, "stale_seconds": 600}
    path = a_query(
        "multi", accounts(where('attribute="name" operator="like" value="A%"') + by_name), cache=cache
    )
    rita = account("rep")
    place = f"/api/sales/accounts/{FIRST_ACCOUNT}"
    assert rita.get("/optionsets/priorities").status_code == 200
    assert rita.get(path).status_code == 200
    a_minute_later()
    CountingPlatform.is_away = True
    try:
        late = rita.get(path)
        assert (late.status_code, late["Cache-Status"].partition("; detail=")[2]) == (200, "platform-away")
        assert rita.get(place).status_code == 503
        assert rita.patch(place, {"name": "Away"}).status_code == 503
        assert rita.get("/api/context").status_code == 503
        assert account("manager").get(path).status_code == 503
    finally:
        CountingPlatform.is_away = False


def test_it_is_bounded() -> None:
    cache: MinuteCache[str] = MinuteCache("test-bound", pack=str, unpack=str, size=10)
    for number in range(100):
        cache.get((str(number),), lambda: "value")
    assert len(cache._local) == 10
    assert not cache._reading


_PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes(timezones=st.just(dt.UTC))
)


@given(st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner)))
def test_values_come_back_as_they_were(value: Any) -> None:
    again = from_bytes(to_bytes(value))
    assert again == value
    assert type(again) is type(value)


def test_an_exact_number_keeps_its_places() -> None:
    assert str(from_bytes(to_bytes(Decimal("1.500")))) == "1.500"


@pytest.mark.parametrize(
    "value",
    [object(), {1: 2}, [set()], 2**64, float("nan"), "\ud800"],
    ids=["object", "key", "set", "large", "nan", "surrogate"],
)
def test_what_is_of_another_type_is_not_carried(value: Any) -> None:
    with pytest.raises(Unportable):
        to_bytes(value)


def test_an_anonymous_caller_costs_the_platform_nothing(counted: Counter[str]) -> None:
    assert Caller().get("/api/context").status_code == 401
    assert of_users(counted) == {}
