from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from tests.callers import Caller
from tests.servers import Site

EVERYWHERE = ["/", "/nowhere", "/api/nowhere", "/health/live", "/admin/login/"]
PROTECTING = [
    "Content-Security-Policy",
    "Cross-Origin-Opener-Policy",
    "Referrer-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
]


@pytest.mark.django_db
@pytest.mark.parametrize("address", EVERYWHERE)
def test_every_answer_forbids_sniffing_and_limits_the_referrer(client: Client, address: str) -> None:
    headers = client.get(address).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.django_db
@pytest.mark.parametrize("address", EVERYWHERE)
def test_every_answer_has_one_policy_that_names_its_own_origin(client: Client, address: str) -> None:
    policy = directives(client, address)
    assert policy["default-src"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"


@pytest.mark.django_db
@pytest.mark.parametrize("address", EVERYWHERE)
def test_no_policy_allows_inline_scripts(client: Client, address: str) -> None:
    policy = directives(client, address)
    assert "'unsafe-inline'" not in policy.get("script-src", policy["default-src"])


@pytest.mark.django_db
@pytest.mark.parametrize("secure", [False, True])
def test_the_api_protects_its_answers_as_pages_do(settings: Settings, secure: bool) -> None:
    settings.SECURE_HSTS_SECONDS = 1000
    # A client is served by the settings at its first request.
    page, answer = (Client().get(address, secure=secure).headers for address in ("/nowhere", "/api/nowhere"))
    for name in PROTECTING:
        assert answer.get(name) == page.get(name)
    assert ("Strict-Transport-Security" in answer) is secure


@pytest.mark.django_db
def test_only_the_studio_may_evaluate(client: Client) -> None:
    assert "'unsafe-eval'" in directives(client, "/admin/login/")["script-src"]
    assert "unsafe-eval" not in client.get("/api/nowhere").headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_the_studio_cannot_be_framed(client: Client) -> None:
    assert client.get("/admin/login/").headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("address", ["/admin/designer/module/", "/admin/designer/module/add/?_popup=1"])
def test_no_list_and_no_form_of_the_studio_can_be_framed(dora: Client, address: str) -> None:
    assert dora.get(address).headers["X-Frame-Options"] == "DENY"
    assert directives(dora, address)["frame-ancestors"] == "'none'"


def test_the_api_sets_no_cookie_and_reads_none(dora: Client) -> None:
    answer = dora.get("/api/context")
    assert answer.status_code == 401
    assert not answer.cookies


def test_a_token_opens_no_studio(rita: Caller) -> None:
    answer = rita.get("/admin/")
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


@pytest.mark.django_db
def test_the_studio_refuses_a_form_without_its_token() -> None:
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "a", "password": "b"})
    assert answer.status_code == 403


@pytest.mark.processes
def test_only_listed_origins_may_call_from_a_browser(site: Site) -> None:
    server = site.start(CORS_ORIGINS="https://portal.example.org")
    for origin, allowed in (("https://portal.example.org", True), ("https://elsewhere.example", False)):
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        preflight = server.request("OPTIONS", "/api/sales/accounts", headers=asked)
        answer = server.request("GET", "/optionsets/priorities", headers={"Origin": origin})
        for headers in (preflight.headers, answer.headers):
            assert headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
            assert "Access-Control-Allow-Credentials" not in headers
        if allowed:
            exposed = set(answer.headers["Access-Control-Expose-Headers"].split(", "))
            assert {"RateLimit", "RateLimit-Policy", "Retry-After"} <= exposed


@pytest.mark.processes
def test_a_browser_may_send_and_read_what_the_contract_names(site: Site) -> None:
    server = site.start(CORS_ORIGINS="https://portal.example.org")
    asked = {
        "Origin": "https://portal.example.org",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "if-match",
    }
    preflight = server.request("OPTIONS", "/api/sales/accounts", headers=asked)
    assert "default-src" in preflight.headers["Content-Security-Policy"]
    unknown = server.request("GET", "/api", headers={"Origin": asked["Origin"]})
    assert unknown.headers["Access-Control-Allow-Origin"] == asked["Origin"]
    of_the_studio = server.request("OPTIONS", "/admin/b/optionsets/x", headers=asked)
    assert "Access-Control-Allow-Origin" not in of_the_studio.headers
    sent = preflight.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-disposition", "idempotency-key", "if-match", "range"} <= set(sent)
    answer = server.request("GET", "/optionsets/priorities", headers={"Origin": asked["Origin"]})
    read = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"ETag", "Content-Disposition", "Content-Range"} <= set(read)


def test_without_listed_origins_none_may(anonymous: Caller) -> None:
    answer = anonymous.get("/optionsets/priorities", origin="https://elsewhere.example")
    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("address", ["/api/nowhere", "/api/context", "/optionsets/priorities?lcid=x"])
def test_a_problem_and_its_header_name_the_same_request(anonymous: Caller, address: str) -> None:
    answer = anonymous.get(address)
    assert answer.json()["requestId"] == answer.headers["X-Request-Id"]


def directives(client: Client, address: str) -> dict[str, str]:
    policy = client.get(address).headers["Content-Security-Policy"]
    return {name: values for name, _, values in (part.partition(" ") for part in policy.split("; "))}
