"""Guessing passwords: what it costs who guesses, and what it does not cost anybody else."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import cache
from django.test import Client

from designer.models import AuditEntry
from project.logs import JsonFormatter
from runtime.callers import failed_logins, tokens
from runtime.callers.failed_logins import FailedLogins, KnownNetwork
from runtime.models import ApiAccount
from tests.callers import Caller
from tests.clocks import ahead

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"
LIMIT = 4
LIST = "/admin/runtime/failedlogins/"


@pytest.fixture(autouse=True)
def _a_low_limit(settings: Any) -> Iterator[None]:
    settings.AXES_FAILURE_LIMIT = LIMIT
    cache.clear()
    tokens.forget()
    yield
    tokens.forget()


@pytest.fixture(autouse=True)
def rita() -> User:
    user = get_user_model().objects.create_user("rita", password=PASSWORD)
    ApiAccount.objects.create(user=user)
    return user


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets that many seconds pass, for what counts failures."""
    return ahead(monkeypatch, failed_logins)


def log_in(address: str = "192.0.2.1", username: str = "rita", password: str = PASSWORD) -> Any:
    return Caller(address=address).post("/api/token", {"username": username, "password": password})


def fail(times: int, address: str, username: str = "rita") -> Any:
    """The last answer to so many wrong passwords; a `#` is the attempt's number."""
    for number in range(times):
        answer = log_in(address.replace("#", str(number)), username.replace("#", str(number)), "wrong")
    return answer


def studio_login(username: str, password: str, address: str = "192.0.2.1") -> Any:
    form = {"username": username, "password": password}
    return Client(REMOTE_ADDR=address).post("/admin/login/", form)


def test_forty_wrong_passwords_from_one_ipv6_network_are_a_lock_out() -> None:
    statuses = [log_in(f"2001:db8:7::{n:x}", password="wrong").status_code for n in range(1, 41)]
    assert statuses == [401] * (LIMIT - 1) + [429] * (41 - LIMIT)
    assert log_in("2001:db8:7:0:ffff::1").json()["code"] == "locked_out"
    assert log_in("2001:db8:7:1::1").status_code == 200


def test_ipv4_callers_of_a_socket_of_ipv6_are_not_one_network() -> None:
    """`HOST=::` listens to both, and names callers of IPv4 so."""
    assert fail(3 * LIMIT, "::ffff:192.0.2.9", "name-#").status_code == 429
    assert log_in("::ffff:192.0.2.9").status_code == 429
    assert log_in("::ffff:192.0.2.10").status_code == 200
    assert log_in("2001:db8::1").status_code == 200


def test_one_network_that_tries_many_names_is_locked_out_of_all() -> None:
    fail(3 * LIMIT, "192.0.2.9", "name-#")
    refused = log_in("192.0.2.9")
    assert (refused.status_code, refused.json()["code"]) == (429, "locked_out")
    assert log_in("192.0.2.10").status_code == 200


def test_failures_of_a_network_that_trickle_in_lock_nobody_out(later: Callable[[float], None]) -> None:
    for number in range(6 * LIMIT):
        assert log_in("192.0.2.9", f"name-{number}", "wrong").status_code == 401
        later(120)
    assert log_in("192.0.2.9").status_code == 200


def test_knocking_does_not_prolong_a_lock_and_it_ends(later: Callable[[float], None]) -> None:
    fail(LIMIT, "192.0.2.1")
    later(600)
    assert 0 < int(log_in()["Retry-After"]) <= 300
    later(301)
    assert log_in().status_code == 200


def test_nobody_locks_somebody_else_out(later: Callable[[float], None]) -> None:
    """Many networks fail with her name: where she has logged in before she notices nothing, elsewhere she
    waits once, while they go on.
    """
    assert log_in("198.51.100.5").status_code == 200
    fail(40, "192.0.2.#")
    assert log_in("198.51.100.5").status_code == 200
    assert log_in("198.51.100.5").status_code == 200
    refused = log_in("203.0.113.7")
    assert (refused.status_code, refused.json()["code"]) == (429, "slowed_down")
    wait = int(refused["Retry-After"])
    assert 1 <= wait <= 60
    fail(20, "192.0.2.1#")
    later(wait)
    assert log_in("203.0.113.7").status_code == 200
    assert log_in("203.0.113.7").status_code == 200


def test_slowing_down_grows_and_tells_nothing_of_the_account(later: Callable[[float], None]) -> None:
    told: dict[str, list[tuple[int, str]]] = {}
    for username in ("rita", "nobody"):
        answers = []
        for number in range(2 * LIMIT + 12):
            answer = log_in(f"192.0.2.{number}", username, "wrong")
            while answer.status_code == 429:
                answers.append((int(answer["Retry-After"]), answer.json()["code"]))
                later(int(answer["Retry-After"]))
                answer = log_in(f"192.0.2.{number}", username, "wrong")
            assert answer.status_code == 401
            answers.append((0, answer.json()["code"]))
        told[username] = answers
    assert told["rita"] == told["nobody"]
    waits = [seconds for seconds, _ in told["rita"] if seconds]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2, 60)


def test_what_was_refused_was_not_tried() -> None:
    """A right password during a wait is not told from a wrong one."""
    fail(2 * LIMIT, "192.0.2.#")
    for password in (PASSWORD, "wrong"):
        answers = [log_in("203.0.113.7", password=password) for _ in range(2)]
        assert {answer.json()["code"] for answer in answers} == {"slowed_down"}


def test_a_network_that_logged_in_a_month_ago_is_spared_no_more(
    rita: User, later: Callable[[float], None]
) -> None:
    now = dt.datetime.now(dt.UTC)
    KnownNetwork.objects.create(user=rita, network="198.51.100.5", last_at=now - dt.timedelta(days=29))
    KnownNetwork.objects.create(user=rita, network="198.51.100.6", last_at=now - dt.timedelta(days=31))
    fail(2 * LIMIT, "192.0.2.#")
    assert log_in("198.51.100.6").status_code == 429
    assert log_in("198.51.100.5").status_code == 200
    assert KnownNetwork.objects.get(network="198.51.100.5").last_at >= now


def test_a_known_network_is_one_of_the_account_alone() -> None:
    ApiAccount.objects.create(user=get_user_model().objects.create_user("max", password=PASSWORD))
    assert log_in("198.51.100.5", "max").status_code == 200
    fail(2 * LIMIT, "192.0.2.#")
    assert log_in("198.51.100.5").status_code == 429


def test_zero_switches_it_off(settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 0
    assert fail(30, "192.0.2.1").status_code == 401
    assert log_in().status_code == 200


def test_the_studios_login_is_held_by_the_same_counts() -> None:
    get_user_model().objects.create_user("dora", password=PASSWORD, is_staff=True)
    for _ in range(LIMIT - 1):
        assert studio_login("dora", "wrong").status_code == 200
    page = studio_login("dora", "wrong")
    assert page.status_code == 429
    assert "Too many failed logins" in page.content.decode()
    assert "Try again in 15 minutes" in page.content.decode()
    assert 600 < int(page["Retry-After"]) <= 900
    assert studio_login("dora", PASSWORD).status_code == 429
    # The API's login knows of it.
    assert log_in("192.0.2.1", "dora", "wrong").json()["code"] == "locked_out"
    assert studio_login("dora", PASSWORD, "192.0.2.77").status_code == 302


def test_the_studios_login_slows_down_too() -> None:
    get_user_model().objects.create_user("dora", password=PASSWORD, is_staff=True)
    fail(2 * LIMIT, "192.0.2.#", "dora")
    page = studio_login("dora", PASSWORD, "203.0.113.7")
    assert page.status_code == 429
    assert "Wait 2 seconds" in page.content.decode()
    assert page["Retry-After"] == "2"


def test_the_log_says_that_logins_fail_and_not_whose(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    fail(LIMIT + 1, "192.0.2.1")
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert [line.get("reason") for line in lines if line["event"] == "caller refused"] == [
        *["wrong_credentials"] * (LIMIT - 1), "locked_out", "locked_out"
    ]  # fmt: skip
    [lock] = [line for line in lines if line["event"] == "logins are locked out"]
    assert (lock["scope"], lock["level"]) == ("pair", "warning")
    assert "rita" not in json.dumps(lines)
    assert "192.0.2.1" not in json.dumps(lines)


@pytest.fixture
def administrator() -> Client:
    user = get_user_model().objects.create_user("ada", password=PASSWORD, is_staff=True)
    user.groups.add(Group.objects.get(name="Administrator"))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_administrators_see_locks_and_lift_them(administrator: Client) -> None:
    fail(LIMIT, "192.0.2.1")
    page = administrator.get(LIST).content.decode()
    assert "rita" in page
    assert "192.0.2.1" in page
    assert "locked out until" in page
    chosen = list(FailedLogins.objects.filter(account="rita").values_list("pk", flat=True))
    administrator.post(LIST, {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
    assert log_in().status_code == 200
    noted = AuditEntry.objects.filter(account="ada", action=AuditEntry.Action.DELETE)
    assert "failed logins: rita @ 192.0.2.1" in {entry.subject for entry in noted}


def test_what_is_deleted_with_an_account_is_named_in_the_readers_language(administrator: Client) -> None:
    ada = get_user_model().objects.get(username="ada")
    KnownNetwork.objects.create(user=ada, network="192.0.2.1", last_at=dt.datetime.now(dt.UTC))
    administrator.cookies["django_language"] = "de"
    asked = administrator.get(f"/admin/auth/user/{ada.pk}/delete/").content.decode()
    assert "Bekanntes Netz: ada @ 192.0.2.1" in asked


def test_who_may_only_look_lifts_nothing() -> None:
    viewer = get_user_model().objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_failedlogins"))
    client = Client()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    fail(LIMIT, "192.0.2.1")
    chosen = list(FailedLogins.objects.values_list("pk", flat=True))
    client.post(LIST, {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
    assert FailedLogins.objects.count() == len(chosen)


def test_designers_see_no_locks(administrator: Client) -> None:
    ada = get_user_model().objects.get(username="ada")
    ada.groups.set(Group.objects.filter(name="Designer"))
    assert administrator.get(LIST).status_code == 403
