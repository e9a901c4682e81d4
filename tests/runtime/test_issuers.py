"""Issuers of the configuration: tokens of providers as they write them, on requests to the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from pytest_django.fixtures import Settings

from designer.models import Issuer
from runtime.callers import tokens
from runtime.callers.issuers import jwks
from tests.callers import Caller
from tests.runtime import forge
from tests.runtime.accounts import ACCOUNTS, NOBODY
from tests.runtime.issuers import AUDIENCE, KEY, OTHER_KEY, Provider, grants, issuer_row

ADA = f"{ACCOUNTS}/{NOBODY}"
SALES = {"claim": "roles", "grants": grants(Sales="sales-rep")}

pytestmark = pytest.mark.usefixtures("portico")


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    server = Provider()
    yield server
    server.stop()


def status(token: str, path: str = ADA) -> int:
    """404 where the caller is let in to look for a record that is not there; 403 without the role."""
    return int(Caller(token).get(path).status_code)


def test_keys_are_found_by_discovery(provider: Provider) -> None:
    issuer_row(provider, SALES)
    assert status(provider.token(roles=["Sales"])) == 404
    assert status(provider.token(roles=["Other"])) == 403
    assert status(provider.token(roles=["Sales"], key=OTHER_KEY)) == 401
    assert provider.asked == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize("how", ["broken", "cut"])
def test_one_broken_connection_turns_nobody_away(provider: Provider, how: str) -> None:
    issuer_row(provider, SALES)
    setattr(provider, how, 1)
    assert status(provider.token(roles=["Sales"])) == 404
    assert provider.asked == ["/.well-known/openid-configuration"] * 2 + ["/keys"]


def test_an_issuer_is_known_with_the_next_request_and_gone_with_the_next(provider: Provider) -> None:
    token = provider.token(roles=["Sales"])
    assert status(token) == 401
    row = issuer_row(provider, SALES)
    assert status(token) == 404
    Issuer.objects.filter(pk=row.pk).update(enabled=False)
    assert status(token) == 401


def test_a_document_of_another_issuer_gives_no_keys(provider: Provider) -> None:
    provider.said_issuer = "https://elsewhere.example"
    issuer_row(provider, SALES)
    assert status(provider.token()) == 503


def test_the_keys_of_a_document_may_not_lead_into_the_own_network(
    provider: Provider, settings: Settings
) -> None:
    elsewhere = Provider()
    try:
        provider.said_keys = elsewhere.said_keys.replace("127.0.0.1", "localhost")
        issuer_row(provider, SALES)
        assert status(provider.token()) == 503
        assert elsewhere.asked == []
        settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": []}
        issuer_row(elsewhere, name="two")
        assert status(elsewhere.token()) == 503
        assert elsewhere.asked == []
    finally:
        elsewhere.stop()


def test_keys_may_be_a_key_set_or_pem(provider: Provider) -> None:
    row = issuer_row(provider, SALES, key_source="jwks", key_url=provider.said_keys)
    assert status(provider.token(roles=["Sales"])) == 404
    assert provider.asked == ["/keys"]
    pem = forge.pem(OTHER_KEY)
    Issuer.objects.filter(pk=row.pk).update(key_source="pem", key_pem=pem, key_url="")
    assert status(provider.token(roles=["Sales"], key=OTHER_KEY)) == 404
    assert status(provider.token(roles=["Sales"], sub="eve")) == 401


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256", "PS384"])
def test_a_key_without_an_algorithm_is_for_those_that_the_issuer_allows(
    provider: Provider, algorithm: str
) -> None:
    issuer_row(provider, SALES, algorithms=[algorithm])
    assert status(provider.token(roles=["Sales"], algorithm=algorithm)) == 404
    assert status(provider.token(roles=["Sales"], algorithm=algorithm, key=OTHER_KEY)) == 401
    for other in {"RS256", "RS384", "PS512"} - {algorithm}:
        assert status(provider.token(roles=["Sales"], algorithm=other)) == 401
    # The public key is no shared secret, whatever a token says.
    claims = jwt.decode(provider.token(roles=["Sales"]), options={"verify_signature": False})
    signed_part = forge.raw({"alg": "HS256", "typ": "JWT", "kid": "k1"}, claims).removesuffix(".")
    assert status(f"{signed_part}.{forge.seal(signed_part, forge.pem(KEY).encode())}") == 401
    assert status(forge.raw({"alg": "none", "kid": "k1"}, claims)) == 401


def test_a_key_that_names_its_algorithm_is_for_that_one_alone(provider: Provider) -> None:
    provider.described = {"alg": "RS512"}
    issuer_row(provider, SALES, algorithms=["RS256", "RS512"])
    assert status(provider.token(roles=["Sales"], algorithm="RS512")) == 404
    assert status(provider.token(roles=["Sales"], algorithm="RS256")) == 401


def test_two_keys_are_good_during_a_rotation(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer_row(provider, SALES)
    assert status(provider.token(roles=["Sales"])) == 404
    monkeypatch.setattr(jwks, "PAUSE", 0.0)
    provider.keys["k2"] = OTHER_KEY
    assert status(provider.token(roles=["Sales"], key=OTHER_KEY, kid="k2")) == 404
    assert status(provider.token(roles=["Sales"], sub="eve")) == 404


def test_two_pem_keys_are_good_during_a_rotation(provider: Provider) -> None:
    both = forge.pem(forge.rsa_key()) + forge.pem(OTHER_KEY)
    issuer_row(provider, SALES, key_source="pem", key_pem=both)
    assert status(provider.token(roles=["Sales"], key=OTHER_KEY)) == 404


def test_a_template_stands_for_each_of_its_tenants(provider: Provider) -> None:
    issuer_row(provider, SALES, issuer=f"{provider.address}/{{tenantid}}/v2.0", tenants=["t1", "t2"])
    provider.said_issuer = f"{provider.address}/{{tenantid}}/v2.0"
    for tenant in ("t1", "t2"):
        assert status(provider.token(roles=["Sales"], iss=f"{provider.address}/{tenant}/v2.0")) == 404
    assert status(provider.token(roles=["Sales"], iss=f"{provider.address}/t3/v2.0")) == 401


@pytest.mark.parametrize(
    ("required", "claims", "expected"),
    [
        ([{"claim": "azp", "values": ["portal"]}], {"azp": "portal"}, 404),
        ([{"claim": "azp", "values": ["portal"]}], {"azp": "other"}, 401),
        ([{"claim": "azp", "values": ["portal"]}], {}, 401),
        ([{"claim": "scp", "values": ["access_as_user"]}], {"scp": "openid access_as_user"}, 404),
        ([{"claim": "scp", "values": ["access_as_user"]}], {"scp": "openid"}, 401),
        ([{"claim": "tid", "values": ["t1", "t2"]}], {"tid": "t2"}, 404),
        ([{"claim": "amr", "values": ["mfa"]}], {"amr": ["pwd", "mfa"]}, 404),
        ([{"claim": "acr", "values": []}], {"acr": "1"}, 404),
        ([{"claim": "acr", "values": []}], {}, 401),
        ([{"claim": "email_verified", "values": ["true"]}], {"email_verified": True}, 404),
    ],
    ids=repr,
)
def test_required_claims_have_one_of_their_values(
    provider: Provider, required: Any, claims: dict[str, Any], expected: int
) -> None:
    issuer_row(provider, SALES, required_claims=required)
    assert status(provider.token(roles=["Sales"], **claims)) == expected


# Access tokens as providers document them.
PROVIDERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Entra ID, application roles": (
        {"claim": "roles", "shape": "array", "grants": grants(Sales="sales-rep")},
        {"oid": "0c6a", "tid": "t1", "ver": "2.0", "azp": "app", "scp": "user", "roles": ["Sales"]},
    ),
    "Entra ID, groups": (
        {"claim": "groups", "grants": [{"value": "9b1f-1111", "role": "sales-rep"}]},
        {"oid": "0c6a", "tid": "t1", "groups": ["9b1f-0000", "9b1f-1111"], "wids": []},
    ),
    "Entra External ID, scopes": (
        {"claim": "scp", "shape": "words", "grants": grants(**{"Accounts.Read": "sales-rep"})},
        {"tid": "t1", "scp": "openid Accounts.Read", "azpacr": "0", "idp": "google.com"},
    ),
    "Azure AD B2C, a custom attribute": (
        {"claim": "extension_Roles", "shape": "commas", "grants": grants(**{"Key User": "sales-rep"})},
        {"tfp": "B2C_1_signin", "emails": ["ada@contoso.example"], "extension_Roles": "Other, Key User"},
    ),
    "Keycloak, realm roles": (
        {"claim": "realm_access.roles", "grants": grants(sales="sales-rep")},
        {"typ": "Bearer", "azp": "portal", "realm_access": {"roles": ["offline_access", "sales"]}},
    ),
    "Keycloak, roles of a client with dots": (
        {"claim": 'resource_access."my.portal".roles', "grants": grants(sales="sales-rep")},
        {"resource_access": {"my.portal": {"roles": ["sales"]}, "account": {"roles": ["view"]}}},
    ),
    "Auth0, a name that is a URL": (
        {"claim": "https://contoso.example/roles", "grants": grants(Sales="sales-rep")},
        {
            "aud": [AUDIENCE, "https://contoso.eu.auth0.com/userinfo"],
            "https://contoso.example/roles": ["Sales"],
        },
    ),
    "Auth0, a name in quotes, as named": (
        {"claim": '"https://contoso.example/roles"', "as_named": True},
        {"https://contoso.example/roles": ["sales-rep"], "permissions": ["read:accounts"]},
    ),
    "Google, one text": (
        {"claim": "hd", "shape": "text", "grants": [{"value": "contoso.example", "role": "sales-rep"}]},
        {"hd": "contoso.example", "email": "ada@contoso.example", "email_verified": True, "azp": "app"},
    ),
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_roles_come_out_of_the_claims_of_each_provider(provider: Provider, name: str) -> None:
    rule, claims = PROVIDERS[name]
    issuer_row(provider, rule)
    assert status(provider.token(**claims)) == 404
    assert status(provider.token(sub="eve", aud=claims.get("aud", AUDIENCE))) == 403


def test_each_rule_adds_roles_and_every_caller_has_those_of_the_issuer(provider: Provider) -> None:
    row = issuer_row(provider, {"claim": "roles", "grants": []}, SALES)
    assert status(provider.token(roles=["Sales"])) == 404
    assert status(provider.token(sub="eve")) == 403
    Issuer.objects.filter(pk=row.pk).update(roles=["sales-rep"])
    assert status(provider.token(sub="eve")) == 404


def test_an_expression_gives_roles_for_the_rest(provider: Provider) -> None:
    issuer_row(provider, roles_expression="claims.level > 2 ? ['sales-rep'] : []")
    assert status(provider.token(level=3)) == 404
    assert status(provider.token(level=2)) == 403
    assert status(provider.token()) == 403


def test_the_environment_wins_where_both_have_an_issuer(provider: Provider, settings: Settings) -> None:
    issuer_row(provider, SALES)
    entry = {"audience": "other", "public_key": forge.pem(OTHER_KEY)}
    settings.PORTICO = {**settings.PORTICO, "ISSUERS": {provider.address: entry}}
    tokens.forget()
    assert status(provider.token(roles=["Sales"])) == 401
