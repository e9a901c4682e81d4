from __future__ import annotations

import errno
import re
from typing import Any, NoReturn

import pytest
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django.test import Client
from django.urls import path

from project.urls import handler400, handler404, handler500, urlpatterns  # noqa: F401  of this module as a URLconf


def fail(request: HttpRequest) -> NoReturn:
    raise RuntimeError("the secret reason")


class Failing:
    """Middleware that fails."""

    error: Exception = RuntimeError("the secret reason")

    def __init__(self, get_response: object) -> None: ...

    def __call__(self, request: HttpRequest) -> NoReturn:
        raise self.error


urlpatterns = [path("failing", fail), *urlpatterns]


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("link", ["/admin/", "/api/docs", "/api/openapi.json", "/api/schema"])
def test_the_landing_page_leads_to_studio_documentation_and_schema(client: Client, link: str) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert f'href="{link}"' in page.content.decode()


def test_pages_hold_no_inline_script_or_style(client: Client) -> None:
    for address in ("/", "/nowhere"):
        text = client.get(address).content.decode()
        assert not re.search(r"<script|<style|\sstyle=|\son\w+=", text)


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/nowhere", "/sales/accounts", "/<script>"])
def test_an_unknown_address_is_a_page(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "<script>" not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    ["/api", "/api/nowhere", "/api/a/b/c/d/e/f", "/optionsets", "/optionsets/a/b", "/a/b/optionsets"],
)
def test_an_unknown_address_of_the_api_is_a_problem(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["instance"] == address


@pytest.mark.urls(__name__)
def test_a_failure_tells_a_reader_nothing_of_its_reason(client: Client) -> None:
    page = client.get("/failing")
    assert page.status_code == 500
    assert page.headers["Content-Type"].startswith("text/html")
    assert "secret reason" not in page.content.decode()


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("secret reason"), 503, "The service&#x27;s database cannot be reached."),
        (InterfaceError("secret reason"), 503, "The service&#x27;s database cannot be reached."),
        (OSError(errno.ENOSPC, "secret reason"), 507, "no room left"),
    ],
)
def test_a_page_says_what_is_away_and_to_save_again(
    settings: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    monkeypatch.setattr(Failing, "error", error)
    settings.MIDDLEWARE = [f"{__name__}.Failing", *settings.MIDDLEWARE]
    page = Client(raise_request_exception=False).get("/admin/")
    assert page.status_code == status
    assert words in page.content.decode()
    assert "Save it again." in page.content.decode()
    assert "secret reason" not in page.content.decode()


def test_a_failure_before_the_api_is_reached_is_a_problem_without_its_reason(
    settings: Any,
) -> None:
    settings.MIDDLEWARE = [f"{__name__}.Failing", *settings.MIDDLEWARE]
    for address in ("/api/context", "/optionsets/x", "/sales/accounts/optionsets/x"):
        problem = Client(raise_request_exception=False).get(address)
        assert problem.status_code == 500
        assert problem.json()["code"] == "internal_error"
        assert "secret reason" not in problem.content.decode()


def test_the_studio_without_its_slash_is_found(client: Client) -> None:
    assert client.get("/admin").headers["Location"] == "/admin/"
