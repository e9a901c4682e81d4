"""Limits by the minute of endpoints, roles and callers, and the headers that say where a caller stands."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from limits.storage import storage_from_string
from pytest_django import Settings

from crmbox.demo.people import FIRST_ACCOUNT
from designer.documents.document_writer import export, to_bytes
from designer.history.recording import Author, Origin
from designer.imports.document_import import import_document
from designer.loading import load
from designer.models import Endpoint, Role
from runtime.callers import tokens
from runtime.http import limits
from runtime.models import ApiAccount, ApiKey
from tests.callers import Caller, account
from tests.designer.studio import change_url, filled, send

OPTIONS = "/optionsets/priorities"


@pytest.fixture(autouse=True)
def _fresh_counters(settings: Settings) -> None:
    if url := settings.PORTICO["CACHE_URL"]:
        storage_from_string(url).reset()
    limits._limiter.cache_clear()
    tokens.forget()


def limited(**limits: int) -> Endpoint:
    """The option set of priorities, with these limits."""
    row = Endpoint.objects.get(kind="option-set", name="priorities")
    row.settings = {**row.settings, "limits": limits}
    row.save()
    return row


def statuses(caller: Caller, times: int, path: str = OPTIONS) -> list[int]:
    return [caller.get(path).status_code for _ in range(times)]


def standing(answer: Any) -> dict[str, dict[str, int]]:
    """What both headers say, by limit."""
    by_name: dict[str, dict[str, int]] = {}
    for header in ("RateLimit-Policy", "RateLimit"):
        for item in answer[header].split(", "):
            name, *parameters = item.split(";")
            numbers = {key: int(value) for key, value in (each.split("=") for each in parameters)}
            by_name.setdefault(name.strip('"'), {}).update(numbers)
    return by_name


def test_an_endpoint_is_limited_for_all_callers_together(portico: None, rita: Caller, max: Caller) -> None:
    limited(rate=3)

    assert statuses(rita, 2) + statuses(max, 2) + statuses(Caller(), 1) == [200, 200, 200, 429, 429]
    refused = rita.get(OPTIONS)
    assert refused.json()["code"] == "too_many_requests"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert rita.get("/api/context").status_code == 200


def test_an_endpoint_is_limited_for_each_caller(portico: None, rita: Caller, max: Caller) -> None:
    limited(caller_rate=2)

    assert statuses(rita, 3) == [200, 200, 429]
    assert statuses(max, 3) == [200, 200, 429]
    assert statuses(Caller(), 3) == [200, 200, 429]
    assert statuses(Caller(address="10.0.0.9"), 1) == [200]


def test_a_caller_who_is_refused_takes_nothing_from_the_others(
    portico: None, rita: Caller, max: Caller
) -> None:
    limited(rate=4, caller_rate=2)

    assert statuses(rita, 8)[2:] == [429] * 6
    assert statuses(max, 2) == [200, 200]


def test_a_limit_that_is_taken_back_holds_no_longer(portico: None, rita: Caller) -> None:
    limited(rate=1)
    assert statuses(rita, 2) == [200, 429]
    limited()
    assert statuses(rita, 2) == [200, 200]


def test_the_highest_limit_of_a_callers_roles_stands_for_the_services(
    portico: None, rita: Caller, max: Caller, settings: Settings
) -> None:
    settings.PORTICO = {**settings.PORTICO, "CALLER_RATE": 2}
    held = ApiAccount.objects.get(user__username="rep").roles
    assert held.count()
    held.update(rate=3)
    higher = Role.objects.create(name="partner", rate=4)
    held.add(higher)

    assert statuses(rita, 5) == [200] * 4 + [429]


def test_a_caller_has_a_limit_of_its_own(portico: None, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "CALLER_RATE": 2}
    Role.objects.update(rate=5)
    key = ApiKey(name="import", rate=3)
    secret = key.make()
    key.save()
    key.roles.set(Role.objects.all())

    assert statuses(Caller(secret), 4) == [200, 200, 200, 429]


def test_an_account_has_a_limit_of_its_own(portico: None) -> None:
    ApiAccount.objects.filter(user__username="rep").update(rate=1)

    assert statuses(account("rep"), 2) == [200, 429]


def test_headers_tell_callers_where_they_stand(portico: None, rita: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "CALLER_RATE": 10}
    limited(rate=3, caller_rate=2)

    first, second, third = (rita.get(OPTIONS) for _ in range(3))

    assert re.fullmatch(r'"[a-z-]+";q=\d+;w=60(, "[a-z-]+";q=\d+;w=60)*', first["RateLimit-Policy"])
    by_name = standing(first)
    assert [(name, limit["q"], limit["r"]) for name, limit in by_name.items()] == [
        ("caller", 10, 9),
        ("endpoint-caller", 2, 1),
        ("endpoint", 3, 2),
    ]
    assert standing(second)["endpoint-caller"]["r"] == 0
    assert third.status_code == 429
    assert standing(third)["endpoint-caller"]["r"] == 0
    assert 1 <= standing(third)["endpoint-caller"]["t"] == int(third["Retry-After"]) <= 60


def test_a_caller_without_limits_reads_of_none(portico: None, rita: Caller, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "CALLER_RATE": 0}

    assert not rita.get(OPTIONS).has_header("RateLimit")


def test_the_document_describes_the_limits(portico: None, rita: Caller) -> None:
    limited(rate=30)

    document = rita.get("/api/openapi.json").json()

    responses = document["paths"]["/optionsets/priorities"]["get"]["responses"]
    assert {"RateLimit", "RateLimit-Policy"} <= set(responses["200"]["headers"])
    name = responses["429"]["$ref"].rpartition("/")[2]
    refused = document["components"]["responses"][name]["headers"]
    assert {"RateLimit", "RateLimit-Policy", "Retry-After"} == set(refused)


def test_limits_come_and_go_with_documents(portico: None) -> None:
    limited(rate=30)
    Role.objects.filter(name="sales-rep").update(rate=40)
    document = to_bytes(export(load()))
    limited()
    Role.objects.update(rate=0)

    import_document(
        document, (), Author(origin=Origin.COMMAND, may_change_write_access=True), allow_broken=True
    )

    endpoint = Endpoint.objects.get(kind="option-set", name="priorities")
    assert endpoint.settings["limits"] == {"rate": 30}
    assert Role.objects.get(name="sales-rep").rate == 40


def test_limits_are_set_in_the_studio(portico: None, dora: Client, rita: Caller) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    url = change_url(row)
    data = filled(dora.get(url))
    data["settings__limits__rate"] = "2"

    assert send(dora, url, data).status_code == 302

    row.refresh_from_db()
    assert row.settings["limits"] == {"rate": 2}
    path = f"/api/sales/accounts/{FIRST_ACCOUNT}"
    assert statuses(rita, 3, path) == [200, 200, 429]


def test_a_limit_below_zero_is_refused(portico: None, dora: Client) -> None:
    url = change_url(Endpoint.objects.get(kind="read", entity__segment="accounts"))

    answer = send(dora, url, {**filled(dora.get(url)), "settings__limits__rate": "-1"})

    assert "settings__limits__rate" in answer.context["adminform"].form.errors
