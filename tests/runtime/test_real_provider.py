"""Access tokens of a real OpenID provider, from its login to a request, through changes of its keys."""

from __future__ import annotations

import time

import pytest
from pytest_django.fixtures import Settings

from designer.models import Issuer, RoleRule
from runtime.callers import tokens
from runtime.callers.issuers import jwks
from tests.callers import Caller
from tests.identity_provider import IdentityProvider, client
from tests.runtime.accounts import ACCOUNTS, NOBODY
from tests.runtime.issuers import grants

BACK = "http://127.0.0.1:1/back"
API = "https://portico.example"


@pytest.fixture(autouse=True)
def _issuer(portico: None, identity_provider: IdentityProvider, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1", "localhost"]}
    users = {"ada": {"groups": ["sales", "staff"]}, "eve": {"groups": ["staff"]}}
    identity_provider.know(client("shop", redirects=[BACK]), users=users)
    row = Issuer.objects.create(
        name="Real", issuer=identity_provider.issuer, audiences=[API], algorithms=["RS256", "ES256"]
    )
    RoleRule.objects.create(issuer=row, claim="groups", shape="array", grants=grants(sales="sales-rep"))


def status(token: str) -> int:
    """404 where the caller is let in to look for a record that is not there."""
    return int(Caller(token).get(f"{ACCOUNTS}/{NOBODY}").status_code)


def of(provider: IdentityProvider, subject: str, algorithm: str = "RS256") -> str:
    now = int(time.time())
    claims = {"iss": provider.issuer, "aud": API, "sub": subject, "iat": now, "exp": now + 300}
    return provider.sign({**claims, "groups": ["sales"]}, algorithm)


def test_who_signs_in_there_may_call_here(identity_provider: IdentityProvider) -> None:
    ada = identity_provider.tokens("shop", "ada", BACK, resource=API)
    assert status(ada["access_token"]) == 404
    # An ID token is for the application that signed her in.
    assert status(ada["id_token"]) == 401
    eve = identity_provider.tokens("shop", "eve", BACK, resource=API)
    assert status(eve["access_token"]) == 403


def test_each_accepted_algorithm_is_verified_with_its_own_key(identity_provider: IdentityProvider) -> None:
    assert status(of(identity_provider, "ada", "ES256")) == 404
    assert status(of(identity_provider, "ada", "EdDSA")) == 401


def test_keys_change_while_callers_call(
    identity_provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = of(identity_provider, "ada")
    assert status(before) == 404
    identity_provider.rotate()
    monkeypatch.setattr(jwks, "PAUSE", 0.0)
    assert status(of(identity_provider, "bob")) == 404
    assert status(of(identity_provider, "cy", "ES256")) == 404
    assert status(before) == 404


def test_the_last_keys_are_good_while_it_is_away(
    identity_provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, unknown = of(identity_provider, "bob"), of(identity_provider, "cy")
    assert status(of(identity_provider, "ada")) == 404
    identity_provider.stop()
    monkeypatch.setattr(jwks, "MAX_AGE", -1.0)
    monkeypatch.setattr(jwks, "PAUSE", 0.0)
    assert status(late) == 404
    tokens.forget()
    assert status(unknown) == 503
