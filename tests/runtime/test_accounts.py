"""The token endpoints: who gets tokens, how they are renewed, and what failing costs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from runtime.callers import tokens
from runtime.callers.failed_logins import FailedLogins
from runtime.callers.own_tokens import revoke_all
from runtime.callers.tokens import authenticate
from runtime.models import ApiAccount
from tests.runtime import forge
from tests.runtime.at_once import posted_at_once

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    cache.clear()
    tokens.forget()
    yield
    tokens.forget()


@pytest.fixture
def account() -> ApiAccount:
    return ApiAccount.objects.create(user=get_user_model().objects.create_user("rita", password=PASSWORD))


@pytest.fixture
def post(client: Client) -> Callable[..., Any]:
    """Posts JSON; `headers` as Django's test client takes them."""

    def send(body: object, path: str = "/api/token", **extra: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return client.generic("POST", path, data, extra.pop("content_type", "application/json"), **extra)

    return send


@pytest.fixture
def log_in(post: Callable[..., Any]) -> Callable[..., Any]:
    return lambda username="rita", password=PASSWORD, **extra: post(
        {"username": username, "password": password}, **extra
    )


def refresh_body(answer: Any) -> dict[str, str]:
    return {"refresh": answer.json()["refresh"]}


def codes(answer: Any) -> dict[str, str]:
    return {
        error.get("pointer") or "?" + error["parameter"]: error["code"] for error in answer.json()["errors"]
    }


def test_a_password_gives_a_pair_of_tokens(account: ApiAccount, log_in: Callable[..., Any]) -> None:
    answer = log_in()
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    body = answer.json()
    assert answer["Pragma"] == "no-cache"
    assert set(body) == {*("access", "refresh", "access_token", "refresh_token", "token_type", "expires_in")}
    assert body["access"] == body["access_token"]
    assert body["refresh"] == body["refresh_token"]
    assert (body["token_type"], body["expires_in"]) == ("Bearer", 300)
    caller = authenticate(f"Bearer {body['access']}")
    assert caller is not None
    assert caller.subject == str(account.user_id)


def test_tokens_carry_what_they_must(account: ApiAccount, log_in: Callable[..., Any]) -> None:
    body = log_in().json()
    for name, lifetime, kind in (("access", 300, "access"), ("refresh", 86400, "refresh")):
        claims = jwt.decode(body[name], options={"verify_signature": False})
        login = {"sid"} if kind == "access" else set()
        assert claims.keys() == {"iss", "aud", "sub", "exp", "iat", "jti", "token_type"} | login
        assert (claims["iss"], claims["aud"]) == ("portico", "portico-api")
        assert claims["exp"] - claims["iat"] == lifetime
        assert claims["token_type"] == kind


def test_a_form_will_do_as_oauth_libraries_send_it(account: ApiAccount, post: Callable[..., Any]) -> None:
    form = {"grant_type": "password", "username": "rita", "password": PASSWORD}
    answer = post(urlencode(form).encode(), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 200


@pytest.mark.parametrize("header", ["Bearer nonsense", "Basic cmVwOmRlbW8=", ""])
def test_an_authorization_header_is_ignored(
    account: ApiAccount, log_in: Callable[..., Any], post: Callable[..., Any], header: str
) -> None:
    answer = log_in(headers={"Authorization": header})
    assert answer.status_code == 200
    again = post(refresh_body(answer), "/api/token/refresh", headers={"Authorization": header})
    assert again.status_code == 200


def test_every_wrong_login_gets_one_and_the_same_answer(
    account: ApiAccount, log_in: Callable[..., Any]
) -> None:
    users = get_user_model().objects
    users.create_user("designer", password=PASSWORD, is_staff=True)
    users.create_superuser("admin", password=PASSWORD)
    users.create_user("nobody", password=PASSWORD)
    ApiAccount.objects.create(user=users.create_user("gone", password=PASSWORD, is_active=False))
    ApiAccount.objects.create(user=users.create_user("both", password=PASSWORD, is_staff=True))
    answers = [log_in("rita", "wrong")]
    answers += [
        log_in(name) for name in ("unknown", "designer", "admin", "nobody", "gone", "both", "RITA", "rita ")
    ]
    bodies = {json.dumps(answer.json() | {"requestId": ""}) for answer in answers}
    assert len(bodies) == 1
    assert {answer.status_code for answer in answers} == {401}
    assert {answer["WWW-Authenticate"] for answer in answers} == {"Bearer"}
    assert answers[0].json()["code"] == "invalid_credentials"


def test_a_missing_field_is_named_with_all_others(post: Callable[..., Any]) -> None:
    answer = post({"user": "rita", "__proto__": 1})
    assert answer.status_code == 400
    assert codes(answer) == {
        "/username": "required", "/password": "required", "/user": "unknown_key", "/__proto__": "unknown_key"
    }  # fmt: skip


@pytest.mark.parametrize("value", [1, 1.5, True, ["rita"], {"name": "rita"}], ids=repr)
def test_a_value_that_is_no_text_is_refused(post: Callable[..., Any], value: object) -> None:
    answer = post({"username": value, "password": value})
    assert answer.status_code == 400
    assert codes(answer) == {"/username": "wrong_type", "/password": "wrong_type"}


@pytest.mark.parametrize(
    "body",
    [b" ", b"{", b"[]", b'"rita"', b"null", b"NaN", b'{"username": "a", "username": "b", "password": "c"}',
     b'{"username": "\xff"}', b'{"username": "\\ud800"}', b"[" * 10_000],
    ids=lambda body: str(body[:20]),
)  # fmt: skip
def test_a_malformed_body_is_refused(post: Callable[..., Any], body: bytes) -> None:
    answer = post(body)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("text", ["r\0ita", "r\\ud800ita"])
def test_characters_that_no_database_takes_are_refused(post: Callable[..., Any], text: str) -> None:
    assert post({"username": text.replace("\\ud800", "\ud800"), "password": "x"}).status_code == 400


def test_an_endless_password_is_refused(post: Callable[..., Any]) -> None:
    answer = post({"username": "rita", "password": "x" * 100_000})
    assert codes(answer) == {"/password": "too_long"}


def test_a_repeated_form_field_is_refused(post: Callable[..., Any]) -> None:
    body = b"username=rita&username=max&password=x"
    answer = post(body, content_type="application/x-www-form-urlencoded")
    assert codes(answer) == {"/username": "repeated_key"}


def test_credentials_in_the_query_string_are_refused(post: Callable[..., Any]) -> None:
    answer = post({"username": "rita", "password": "x"}, "/api/token?password=x")
    assert codes(answer) == {"?password": "unknown_parameter"}
    assert not FailedLogins.objects.exists()


@pytest.mark.parametrize(
    "content_type", ["text/plain", "multipart/form-data; boundary=x", "application/xml", ""]
)
def test_another_media_type_is_415(post: Callable[..., Any], content_type: str) -> None:
    assert post(b"username=rita", content_type=content_type).status_code == 415


def test_too_many_failures_lock_one_account_at_one_address(
    account: ApiAccount, log_in: Callable[..., Any], settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    assert [log_in(password="wrong").status_code for _ in range(3)] == [401, 401, 429]
    locked = log_in()
    assert locked.status_code == 429
    assert locked.json()["code"] == "locked_out"
    assert 600 < int(locked["Retry-After"]) <= 900
    assert log_in("unknown").status_code == 401
    assert log_in(REMOTE_ADDR="192.0.2.7").status_code == 200


def test_a_lock_out_is_not_dodged_by_other_headers(
    account: ApiAccount, log_in: Callable[..., Any], settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    answers = [
        log_in(password="wrong", headers={"X-Forwarded-For": f"192.0.2.{number}", "User-Agent": str(number)})
        for number in range(4)
    ]
    assert answers[-1].status_code == 429


def test_an_unknown_name_is_locked_out_like_a_known_one(log_in: Callable[..., Any], settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    assert [log_in("unknown").status_code for _ in range(4)] == [401, 401, 429, 429]


def test_a_right_password_of_a_studio_account_counts_as_a_failure(
    log_in: Callable[..., Any], settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    get_user_model().objects.create_user("designer", password=PASSWORD, is_staff=True)
    assert [log_in("designer").status_code for _ in range(4)] == [401, 401, 429, 429]


def test_a_good_login_forgives_failures_before_it(
    account: ApiAccount, log_in: Callable[..., Any], settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(3):
        assert log_in(password="wrong").status_code == 401
        assert log_in().status_code == 200


def test_a_refresh_token_gives_a_new_pair_and_is_used_up_with_its_successor(
    account: ApiAccount, log_in: Callable[..., Any], post: Callable[..., Any]
) -> None:
    first = log_in()
    second = post(refresh_body(first), "/api/token/refresh")
    assert second.status_code == 200
    assert authenticate(f"Bearer {second.json()['access']}") is not None
    third = post(refresh_body(second), "/api/token/refresh")
    assert third.status_code == 200
    reused = post(refresh_body(first), "/api/token/refresh")
    assert (reused.status_code, reused.json()["code"]) == (401, "invalid_token")
    assert reused["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    # Somebody has a copy: nobody goes on with this login.
    assert post(refresh_body(third), "/api/token/refresh").status_code == 401


def test_an_access_token_does_not_refresh(
    account: ApiAccount, log_in: Callable[..., Any], post: Callable[..., Any]
) -> None:
    answer = post({"refresh": log_in().json()["access"]}, "/api/token/refresh")
    assert answer.status_code == 401


def test_a_refresh_token_that_was_never_issued_is_refused(
    account: ApiAccount, post: Callable[..., Any]
) -> None:
    token = forge.signed(forge.claims(sub=str(account.user_id), token_type="refresh"))
    assert post({"refresh": token}, "/api/token/refresh").status_code == 401


@pytest.mark.parametrize("text", ["x", "a.b.c", "....", "é", "null"])
def test_nonsense_does_not_refresh(post: Callable[..., Any], text: str) -> None:
    assert post({"refresh": text}, "/api/token/refresh").status_code == 401


def test_a_closed_account_does_not_refresh(
    account: ApiAccount, log_in: Callable[..., Any], post: Callable[..., Any]
) -> None:
    answer = log_in()
    account.user.is_active = False
    account.user.save()
    assert post(refresh_body(answer), "/api/token/refresh").status_code == 401


def test_revoked_tokens_do_not_refresh(
    account: ApiAccount, log_in: Callable[..., Any], post: Callable[..., Any]
) -> None:
    answers = [log_in(), log_in()]
    assert revoke_all(account.user) == 2
    for answer in answers:
        assert post(refresh_body(answer), "/api/token/refresh").status_code == 401
    assert log_in().status_code == 200


def test_no_token_or_password_is_kept_or_logged(
    account: ApiAccount,
    log_in: Callable[..., Any],
    post: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    body = log_in().json()
    post(refresh_body(log_in()), "/api/token/refresh")
    log_in(password="wrong secret")
    post(
        b"username=rita&password=wrong+secret",
        content_type="application/x-www-form-urlencoded",
    )
    authenticate(f"Bearer {body['access']}")
    kept = [*OutstandingToken.objects.values_list("token"), *FailedLogins.objects.values_list()]
    said = " ".join([*map(str, kept), *(record.getMessage() for record in caplog.records), str(caplog.text)])
    for secret in (body["access"], body["refresh"], PASSWORD, "wrong secret", "wrong+secret"):
        assert secret not in said


@pytest.mark.django_db(transaction=True)
def test_refreshes_at_once_get_one_and_the_same_successor(
    account: ApiAccount, log_in: Callable[..., Any]
) -> None:
    token = refresh_body(log_in())
    sent = posted_at_once("/api/token/refresh", token, 4)
    answers = [(status, content["refresh"]) for status, content in sent]
    assert len(answers) == 4
    [(status, successor)] = set(answers)
    assert status == 200
    assert successor != token["refresh"]


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_only_post_is_allowed(client: Client, method: str) -> None:
    answer = getattr(client, method)("/api/token")
    assert answer.status_code == 405
    assert "POST" in answer["Allow"]
