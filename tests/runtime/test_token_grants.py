"""The token endpoint in OAuth 2's words: grants, refusals as RFC 6749 has them, and revocation (RFC 7009)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from pytest_django import Settings

from runtime.callers import tokens
from runtime.callers.own_tokens import issue
from runtime.callers.tokens import authenticate
from runtime.http import limits
from runtime.models import ApiAccount, FailedLogins, TokenFamily
from tests.callers import Caller

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"
FORM = "application/x-www-form-urlencoded"
GOOD = {"grant_type": "password", "username": "rita", "password": PASSWORD}


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    cache.clear()
    limits._limiter.cache_clear()
    tokens.forget()
    yield
    tokens.forget()


@pytest.fixture(autouse=True)
def account() -> ApiAccount:
    return ApiAccount.objects.create(user=get_user_model().objects.create_user("rita", password=PASSWORD))


def post(sent: Any, path: str = "/api/token", *, form: bool = True, **headers: str) -> Any:
    if not form:
        return Caller().post(path, sent, **headers)
    body = sent if isinstance(sent, bytes) else urlencode(sent).encode()
    return Caller().post(path, body, **{"content_type": FORM, **headers})


def refused(answer: Any) -> tuple[int, str]:
    """Status and `error`, of an answer that is in both words at once."""
    assert answer["Content-Type"] == "application/json"
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    body = answer.json()
    assert body["status"] == answer.status_code
    assert {"error_description", "type", "title", "detail", "instance", "code", "requestId"} < set(body)
    assert set(body["error_description"]) <= {chr(code) for code in range(32, 127)} - {'"', "\\"}
    return answer.status_code, body["error"]


@pytest.mark.parametrize("form", [True, False])
def test_a_password_is_a_grant(form: bool) -> None:
    answer = post(GOOD, form=form)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    body = answer.json()
    assert set(body) == {"access", "refresh", "access_token", "refresh_token", "token_type", "expires_in"}
    assert authenticate(f"Bearer {body['access_token']}") is not None


@pytest.mark.parametrize("form", [True, False])
@pytest.mark.parametrize("path", ["/api/token", "/api/token/refresh"])
def test_a_refresh_token_is_a_grant(path: str, form: bool) -> None:
    first = post(GOOD).json()["refresh_token"]
    answer = post({"grant_type": "refresh_token", "refresh_token": first}, path, form=form)
    assert answer.status_code == 200
    assert answer.json()["refresh_token"] != first
    assert authenticate(f"Bearer {answer.json()['access_token']}") is not None


def test_the_refresh_address_takes_a_grant_with_its_own_name_of_the_token() -> None:
    first = post(GOOD).json()["refresh"]
    sent = {"grant_type": "refresh_token", "refresh": first}
    assert post(sent, "/api/token/refresh").status_code == 200


def test_what_a_library_adds_is_no_mistake_in_a_form() -> None:
    more = {
        "scope": "openid",
        "client_id": "portal",
        "client_secret": "x",
        "resource": "https://x",
        "state": "",
    }
    assert post({**GOOD, **more}).status_code == 200
    answer = post({**GOOD, "resource": "https://x"}, form=False)
    assert refused(answer) == (400, "invalid_request")
    assert answer.json()["errors"] == [
        {"pointer": "/resource", "code": "unknown_key", "message": "There is no such input."}
    ]


def test_wrong_credentials_are_a_grant_that_is_not_good() -> None:
    answer = post({**GOOD, "password": "wrong"})
    assert refused(answer) == (400, "invalid_grant")
    assert answer.json()["code"] == "invalid_credentials"
    assert not answer.has_header("WWW-Authenticate")
    # Who names no grant is answered as ever.
    answer = post({"username": "rita", "password": "wrong"})
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert "error" not in answer.json()
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")


@pytest.mark.parametrize("token", ["x", "a.b.c", "é", "eyJ" * 100])
@pytest.mark.parametrize("path", ["/api/token", "/api/token/refresh"])
def test_a_wrong_refresh_token_is_a_grant_that_is_not_good(path: str, token: str) -> None:
    answer = post({"grant_type": "refresh_token", "refresh_token": token}, path)
    assert refused(answer) == (400, "invalid_grant")
    assert answer.json()["code"] == "invalid_token"


def test_an_access_token_is_no_refresh_token(account: ApiAccount) -> None:
    sent = {"grant_type": "refresh_token", "refresh_token": issue(account.user).access}
    assert refused(post(sent)) == (400, "invalid_grant")


@pytest.mark.parametrize(
    "kind",
    ["authorization_code", "implicit", "PASSWORD", "password ", "urn:ietf:params:oauth:grant-type:jwt-bearer",
     "x" * 5000, "é"],
    ids=lambda kind: kind[:20],
)  # fmt: skip
@pytest.mark.parametrize("form", [True, False])
def test_another_grant_is_not_supported(kind: str, form: bool) -> None:
    answer = post({**GOOD, "grant_type": kind}, form=form)
    assert refused(answer) == (400, "unsupported_grant_type")
    assert not FailedLogins.objects.exists()


def test_the_refresh_address_gives_nothing_for_a_password() -> None:
    assert refused(post(GOOD, "/api/token/refresh")) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("kind", ["", None, 5, True, [], {}, ["password"]], ids=repr)
def test_a_grant_without_a_name_is_a_wrong_request(kind: object) -> None:
    assert refused(post({**GOOD, "grant_type": kind}, form=False)) == (400, "invalid_request")
    if kind == "":
        assert refused(post({**GOOD, "grant_type": ""})) == (400, "invalid_request")


@pytest.mark.parametrize(
    "body",
    [
        b"grant_type=password&grant_type=password&username=rita&password=x",
        b"grant_type=password&username=rita&username=rita&password=x",
        b"grant_type=password&username=rita&password=x&scope=&scope=",
        b"grant_type=password&username=r%00ita&password=x",
        b"grant_type=password&username=rita",
        b"grant_type=password&username=&password=x",
        b"grant_type=password&username=" + b"r" * 151 + b"&password=x",
        b"grant_type=refresh_token",
        b"grant_type=refresh_token&refresh_token=",
        b"grant_type=refresh_token&refresh_token=" + b"x" * 9000,
        b"grant_type=password&username=rita\xff&password=x",
        b'{"grant_type": "password"}',
    ],
    ids=lambda body: str(body[:60]),
)
def test_a_wrong_request_is_said_to_be_one(body: bytes) -> None:
    answer = Caller().post("/api/token", body) if body.startswith(b"{") else post(body)
    assert refused(answer) == (400, "invalid_request")
    assert not FailedLogins.objects.exists()


def test_all_that_is_missing_is_named() -> None:
    answer = post({"grant_type": "password"})
    assert {error["pointer"] for error in answer.json()["errors"]} == {"/username", "/password"}


@pytest.mark.parametrize(
    "content_type", ["text/plain", "multipart/form-data; boundary=x", "application/xml", "", FORM + "2"]
)
def test_another_media_type_is_415_and_names_no_grant(content_type: str) -> None:
    answer = post(b"grant_type=password&username=rita&password=x", content_type=content_type)
    assert (answer.status_code, answer["Content-Type"]) == (415, "application/problem+json")


def test_a_parameter_in_the_address_is_refused_in_the_senders_words() -> None:
    answer = post(GOOD, "/api/token?client_secret=x")
    assert refused(answer) == (400, "invalid_request")


def test_too_many_failures_are_told_in_both_words(settings: Settings) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    answers = [post({**GOOD, "password": "wrong"}) for _ in range(3)]
    assert [refused(answer) for answer in answers] == [
        (400, "invalid_grant"), (429, "temporarily_unavailable"), (429, "temporarily_unavailable")
    ]  # fmt: skip
    assert answers[-1].json()["code"] == "locked_out"
    assert int(answers[-1]["Retry-After"]) > 600


def test_too_many_requests_are_told_in_both_words(settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "LOGIN_RATE": 2}
    answers = [post({"grant_type": "refresh_token", "refresh_token": "x"}) for _ in range(3)]
    assert refused(answers[-1]) == (429, "temporarily_unavailable")
    assert answers[-1].json()["code"] == "too_many_requests"
    assert int(answers[-1]["Retry-After"]) >= 1
    answer = post({"username": "rita", "password": PASSWORD}, form=False)
    assert (answer.status_code, answer["Content-Type"]) == (429, "application/problem+json")
    # What is too long for a token request is not read to find out in which words to refuse it.
    long = post({"grant_type": "refresh_token", "refresh_token": "x" * 20_000})
    assert (long.status_code, long["Content-Type"]) == (429, "application/problem+json")


@pytest.mark.parametrize("header", ["Bearer nonsense", "Basic cmVwOmRlbW8=", "Basic ", ""])
def test_an_authorization_header_is_ignored_where_no_client_has_to_prove_itself(header: str) -> None:
    answer = post(GOOD, authorization=header)
    assert answer.status_code == 200
    refresh = {"grant_type": "refresh_token", "refresh_token": answer.json()["refresh_token"]}
    assert post(refresh, authorization=header).status_code == 200


def revoke(token: str, **more: Any) -> Any:
    return post({"token": token, **more}, "/api/token/revoke")


@pytest.mark.parametrize("form", [True, False])
def test_revoking_a_refresh_token_ends_its_login(form: bool) -> None:
    first = post(GOOD).json()["refresh_token"]
    second = post({"grant_type": "refresh_token", "refresh_token": first}).json()["refresh_token"]
    other = post(GOOD).json()["refresh_token"]
    answer = post({"token": first, "token_type_hint": "refresh_token"}, "/api/token/revoke", form=form)
    assert (answer.status_code, answer.content) == (200, b"")
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    for token in (first, second):
        again = post({"grant_type": "refresh_token", "refresh_token": token})
        assert refused(again) == (400, "invalid_grant")
    assert post({"grant_type": "refresh_token", "refresh_token": other}).status_code == 200


@pytest.mark.parametrize("token", ["x", "a.b.c", "é", "\U0001f600", "0" * 8192])
def test_a_token_of_nobody_is_revoked_already(token: str) -> None:
    assert revoke(token).status_code == 200
    assert revoke(token, token_type_hint="nonsense", client_id="portal").status_code == 200


def test_a_token_is_revoked_twice_as_well_as_once() -> None:
    first = post(GOOD).json()["refresh_token"]
    assert [revoke(first).status_code for _ in range(2)] == [200, 200]
    assert TokenFamily.objects.exclude(revoked_at=None).count() == 1


def test_an_access_token_is_said_not_to_be_revoked() -> None:
    access = post(GOOD).json()["access_token"]
    assert refused(revoke(access, token_type_hint="access_token")) == (400, "unsupported_token_type")


@pytest.mark.parametrize("body", [b"x=1", b"token=", b"token=a&token=b", b"token=a%00b", b"tok\xffen=a"])
def test_a_wrong_revocation_is_refused_in_words_of_oauth(body: bytes) -> None:
    assert refused(post(body, "/api/token/revoke")) == (400, "invalid_request")


@pytest.mark.parametrize("path", ["/api/token", "/api/token/refresh", "/api/token/revoke"])
def test_without_a_body_all_that_is_missing_is_named(path: str) -> None:
    answer = Caller().request("POST", path, None)
    assert answer.status_code == 400, answer.content
    assert {error["code"] for error in answer.json()["errors"]} == {"required"}


@pytest.mark.parametrize("path", ["/api/token", "/api/token/refresh", "/api/token/revoke"])
def test_a_body_of_another_type_is_told_both_that_are_taken(path: str) -> None:
    answer = Caller().post(path, b"token=x", content_type="text/plain")
    assert answer.status_code == 415
    assert FORM in answer.json()["detail"]
    assert "application/json" in answer.json()["detail"]


def test_revocations_are_counted_with_logins(settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "LOGIN_RATE": 2}
    assert [revoke("x").status_code for _ in range(3)] == [200, 200, 429]
    assert refused(revoke("x")) == (429, "temporarily_unavailable")


def test_the_document_tells_of_grants_and_of_both_forms_of_refusals() -> None:
    document = json.loads(Caller().get("/api/openapi.json").content)
    operation = document["paths"]["/api/token"]["post"]
    schemas = document["components"]["schemas"]
    members = schemas["token.input"]["properties"]
    assert set(members["grant_type"]["enum"]) >= {"password", "refresh_token"}
    assert "refresh_token" in schemas["token.output"]["properties"]
    refusal = document["components"]["responses"][operation["responses"]["400"]["$ref"].rpartition("/")[2]]
    assert set(refusal["content"]) == {"application/json", "application/problem+json"}
    assert {"error", "error_description", "code"} < set(schemas["OAuthError"]["required"])
    assert "/api/token/revoke" in document["paths"]
