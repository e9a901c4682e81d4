"""The provider of the tests does what providers do: tests that build on it find no fault of its own."""

from __future__ import annotations

import jwt
import pytest
import requests

from tests.identity_provider import IdentityProvider, client

BACK = "http://127.0.0.1:1/back"
ADA = {"groups": ["staff"], "name": "Ada"}


def verified(
    provider: IdentityProvider, token: str, audience: str, algorithm: str = "RS256"
) -> dict[str, object]:
    keys = jwt.PyJWKSet.from_dict(requests.get(f"{provider.issuer}/jwks", timeout=60).json())
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return dict(jwt.decode(token, key, algorithms=[algorithm], audience=audience, issuer=provider.issuer))


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_the_code_flow_gives_tokens_of_each_algorithm(
    identity_provider: IdentityProvider, algorithm: str
) -> None:
    identity_provider.know(client("shop", redirects=[BACK], algorithm=algorithm), users={"ada": ADA})
    given = identity_provider.tokens("shop", "ada", BACK, resource="https://api.example")
    claims = verified(identity_provider, given["id_token"], "shop", algorithm)
    assert (claims["sub"], claims["groups"]) == ("ada", ["staff"])
    claims = verified(identity_provider, given["access_token"], "https://api.example", algorithm)
    assert (claims["sub"], claims["groups"]) == ("ada", ["staff"])


def test_refresh_tokens_are_given_and_taken(identity_provider: IdentityProvider) -> None:
    identity_provider.know(client("shop", redirects=[BACK]), users={"ada": ADA})
    wanted = {"scope": "openid offline_access", "prompt": "consent"}
    given = identity_provider.tokens("shop", "ada", BACK, **wanted)
    again = identity_provider.token("shop", grant_type="refresh_token", refresh_token=given["refresh_token"])
    assert verified(identity_provider, again["id_token"], "shop")["sub"] == "ada"


def test_keys_change_and_old_ones_stay_until_they_are_forgotten(identity_provider: IdentityProvider) -> None:
    def published() -> set[str]:
        keys = requests.get(f"{identity_provider.issuer}/jwks", timeout=60).json()["keys"]
        return {key["kid"] for key in keys}

    before = published()
    identity_provider.rotate()
    assert len(published()) == 6
    token = identity_provider.sign({"sub": "ada"}, "ES256")
    assert jwt.get_unverified_header(token)["kid"] not in before
    identity_provider.forget()
    assert published().isdisjoint(before)


def test_it_goes_away_and_comes_back_where_it_was(identity_provider: IdentityProvider) -> None:
    discovery = f"{identity_provider.issuer}/.well-known/openid-configuration"
    identity_provider.stop()
    with pytest.raises(requests.ConnectionError):
        requests.get(discovery, timeout=60)
    identity_provider.start()
    assert requests.get(discovery, timeout=60).json()["issuer"] == identity_provider.issuer
