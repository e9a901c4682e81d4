"""What queries, row rules and fetchers compare with beside user properties: type, roles and claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from crmclient import Value
from designer.models import Endpoint, Fetcher
from designer.platform import get_platform
from tests.callers import Caller
from tests.row_rules import by_roles, only_rule
from tests.runtime.issuers import Provider, issuer_row
from tests.runtime.queries import a_query, accounts, where

READABLE = ["tier", "realm_access.level", "emails", "https://contoso.example/city"]
ODD: list[Any] = [None, "", [], {}, {"a": 1}, [{"a": 1}], [[]], "\0", "\ud800", ["a", None]]


@pytest.fixture
def provider(portico: None, settings: Settings) -> Iterator[Provider]:
    """An issuer of services with readable claims; five accounts of their own city."""
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    server = Provider()
    issuer_row(server, {"claim": "roles", "as_named": True}, caller_type="service", readable_claims=READABLE)
    for name, city, people in (("A", "gold", 5), ("B", "silver", 6), ("C", "service", 7), ("D", "true", 8)):
        values: dict[str, Value] = {
            "name": name,
            "address1_city": city,
            "numberofemployees": people,
            "websiteurl": "mine",
        }
        get_platform().create("account", values)
    yield server
    server.stop()


def path(*conditions: str) -> str:
    """Of a query for services on the accounts at hand."""
    query_path = a_query(
        "multi", accounts(where('attribute="websiteurl" operator="eq" value="mine"', *conditions))
    )
    Endpoint.objects.filter(name="tested").update(caller_types=["service"])
    return query_path


def names(provider: Provider, path: str, **claims: Any) -> list[str]:
    answer = Caller(provider.token(**claims)).get(path)
    assert answer.status_code == 200, answer.content
    return sorted(row["name"] for row in answer.json())


CITY = 'attribute="address1_city" operator="{}" value="@user.{}"'


@pytest.mark.parametrize(
    ("value", "claims", "expected"),
    [
        ("claims.tier", {"tier": "gold"}, ["A"]),
        ("claims.tier", {"tier": True}, ["D"]),
        ("claims.realm_access.level", {"realm_access": {"level": "silver", "other": 1}}, ["B"]),
        ("claims.emails[1]", {"emails": ["x", "gold"]}, ["A"]),
        ("claims.emails[1]", {"emails": ["gold"]}, []),
        ("claims.https://contoso.example/city", {"https://contoso.example/city": "gold"}, ["A"]),
        ("claims.&quot;https://contoso.example/city&quot;", {"https://contoso.example/city": "gold"}, ["A"]),
        ("type", {}, ["C"]),
    ],
)
def test_a_query_compares_with_the_caller(
    provider: Provider, value: str, claims: dict[str, Any], expected: list[str]
) -> None:
    assert names(provider, path(CITY.format("eq", value)), **claims) == expected


def test_numbers_take_the_type_of_what_they_are_compared_with(provider: Provider) -> None:
    query = path('attribute="numberofemployees" operator="ge" value="@user.claims.tier"')
    assert names(provider, query, tier=7) == ["C", "D"]
    assert names(provider, query, tier=7.0) == ["C", "D"]
    assert names(provider, query, tier="7") == ["C", "D"]
    assert names(provider, query, tier=7.5) == []


@pytest.mark.parametrize("operator", ["eq", "ne", "not-like", "in", "not-in"])
def test_a_claim_that_is_missing_or_odd_matches_nothing(provider: Provider, operator: str) -> None:
    value = 'value="@user.claims.tier"/>'
    if operator in ("in", "not-in"):
        value = "><value>@user.claims.tier</value></condition>"
    condition = f'<condition attribute="address1_city" operator="{operator}" {value}'
    query = a_query("multi", accounts(f"<filter>{condition}</filter>"))
    Endpoint.objects.filter(name="tested").update(caller_types=["service"])
    assert names(provider, query) == []
    for claim in ODD:
        assert names(provider, query, tier=claim) == [], claim
    assert names(provider, query, tier=["gold", "silver"]) == [] or operator in ("in", "not-in")


def test_what_no_issuer_lets_read_is_missing(provider: Provider) -> None:
    query = path(CITY.format("eq", "claims.secret"))
    assert names(provider, query, secret="gold") == []


def test_roles_are_a_list(provider: Provider) -> None:
    values = "<value>@user.roles</value><value>true</value>"
    query = a_query(
        "multi",
        accounts(f'<filter><condition attribute="address1_city" operator="in">{values}</condition></filter>'),
    )
    Endpoint.objects.filter(name="tested").update(caller_types=["service"])
    assert names(provider, query, roles=["gold", "silver"]) == ["A", "B", "D"]
    # A list that is empty is no value.
    assert names(provider, query) == []


def test_nobody_has_a_type_or_roles(provider: Provider) -> None:
    query = path(CITY.format("ne", "type"))
    Endpoint.objects.filter(name="tested").update(authentication_required=False)
    assert names(provider, query) == ["A", "B", "D"]
    answer = Caller("").get(query)
    assert (answer.status_code, answer.json()) == (200, [])


def test_a_claim_that_a_row_rule_lacks_empties_its_own_entry(provider: Provider) -> None:
    query = a_query("multi", accounts())
    Endpoint.objects.filter(name="tested").update(caller_types=["service"])
    only_rule(where(CITY.format("eq", "claims.tier")))
    assert names(provider, query, tier="gold") == ["A"]
    assert names(provider, query) == []
    negated = where(CITY.format("ne", "claims.tier"), 'attribute="websiteurl" operator="eq" value="mine"')
    entries: list[tuple[str, list[str]]] = [
        (negated, []),
        (where('attribute="address1_city" operator="eq" value="silver"'), []),
    ]
    by_roles(entries)
    assert names(provider, query, tier="gold") == ["B", "C", "D"]
    assert names(provider, query) == ["B"]


def test_a_record_is_ruled_by_claims(provider: Provider, rita: Caller) -> None:
    only_rule(where(CITY.format("eq", "claims.tier")))
    read = Endpoint.objects.get(kind="read", entity__segment="accounts", entity__module__segment="sales")
    Endpoint.objects.filter(pk=read.pk).update(caller_types=["service", "user"])
    read.roles.clear()
    [gold, silver] = (
        get_platform().create("account", {"name": "X", "address1_city": city}).id
        for city in ("gold", "silver")
    )
    caller = Caller(provider.token(tier="gold"))
    assert caller.get(f"/api/sales/accounts/{gold}").status_code == 200
    assert caller.get(f"/api/sales/accounts/{silver}").status_code == 404
    # The tokens of local accounts have no claims.
    assert rita.get(f"/api/sales/accounts/{gold}").status_code == 404


def test_a_data_fetcher_compares_with_claims(provider: Provider) -> None:
    query = path('attribute="name" operator="eq" value="@fetch.own.name"')
    Fetcher.objects.create(
        endpoint=Endpoint.objects.get(name="tested"),
        name="own",
        query=accounts(where(CITY.format("eq", "claims.tier"))),
    )
    assert names(provider, query, tier="silver") == ["B"]
    assert names(provider, query) == []
