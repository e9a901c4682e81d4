"""Local access tokens: which are taken, and everything that is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth import get_user_model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from designer.models import Role
from runtime.callers import tokens
from runtime.callers.caller import Caller
from runtime.callers.own_tokens import issue
from runtime.callers.tokens import authenticate
from runtime.http.problems import Problem
from runtime.models import ApiAccount
from tests.runtime import forge

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    tokens.forget()
    yield
    tokens.forget()


@pytest.fixture
def account() -> ApiAccount:
    user = get_user_model().objects.create_user("rita", password="secret")
    account = ApiAccount.objects.create(user=user)
    account.roles.add(Role.objects.get_or_create(name="sales-rep")[0])
    return account


@pytest.fixture
def token(account: ApiAccount) -> str:
    return issue(account.user).access


@pytest.fixture
def forged(account: ApiAccount) -> Callable[..., str]:
    """A token for the account whose claims differ from a good one's as said."""
    return lambda **changes: forge.signed(forge.claims(**({"sub": str(account.user_id)} | changes)))


def refusal(authorization: str) -> Problem:
    with pytest.raises(Problem) as caught:
        authenticate(authorization)
    problem = caught.value
    assert (problem.status_code, problem.code) == (401, "invalid_token")
    assert problem.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    return problem


def test_no_header_is_no_caller() -> None:
    assert authenticate(None) is None


def test_a_good_token_gives_the_account_with_its_roles(token: str, account: ApiAccount) -> None:
    caller = authenticate(f"Bearer {token}")
    assert caller == Caller("portico", str(account.user_id), roles=frozenset({"sales-rep"}))
    assert caller is not None
    assert not caller.is_anonymous


def test_a_forged_token_with_the_right_key_and_claims_is_taken(forged: Callable[..., str]) -> None:
    """So that the refusals below are refused for what they change."""
    assert authenticate(f"Bearer {forged()}") is not None


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_written_in_any_case(token: str, scheme: str) -> None:
    assert authenticate(f"{scheme} {token}") is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": forge.OMIT},
        {"exp": 1},
        {"exp": "soon"},
        {"exp": None},
        {"exp": True},
        {"exp": [9999999999]},
        {"exp": 1e400},
        {"exp": 10**400},
        {"nbf": 9999999999},
        {"iat": 9999999999},
        {"aud": forge.OMIT},
        {"aud": "another-api"},
        {"aud": ["portico-api"]},
        {"aud": ["portico-api", "another-api"]},
        {"aud": None},
        {"iss": forge.OMIT},
        {"iss": "PORTICO"},
        {"iss": "https://evil.example"},
        {"sub": forge.OMIT},
        {"sub": ""},
        {"sub": "no-account"},
        {"sub": "0"},
        {"sub": "9" * 200},
        {"sub": "1 OR 1=1"},
        {"token_type": "refresh"},
        {"token_type": forge.OMIT},
        {"jti": forge.OMIT},
    ],
    ids=repr,
)
def test_a_token_with_wrong_claims_is_refused(forged: Callable[..., str], changes: dict[str, Any]) -> None:
    refusal(f"Bearer {forged(**changes)}")


@pytest.mark.parametrize("subject", [1, 1.0, True, None, ["1"], {"id": "1"}], ids=repr)
def test_a_subject_that_is_no_text_is_refused(account: ApiAccount, subject: object) -> None:
    refusal("Bearer " + forge.sealed({}, forge.claims(sub=subject)))


def test_a_token_without_a_signature_is_refused(account: ApiAccount) -> None:
    claims = forge.claims(sub=str(account.user_id))
    for algorithm in ("none", "None", "NONE", "nOnE"):
        refusal("Bearer " + forge.raw({"alg": algorithm, "typ": "JWT"}, claims))


@pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
def test_another_algorithm_is_refused_even_with_the_right_key(account: ApiAccount, algorithm: str) -> None:
    claims = forge.claims(sub=str(account.user_id))
    refusal("Bearer " + forge.signed(claims, algorithm=algorithm))


def test_a_token_signed_by_an_asymmetric_key_is_refused(account: ApiAccount) -> None:
    claims = forge.claims(sub=str(account.user_id))
    refusal("Bearer " + forge.signed(claims, key=forge.rsa_key(), algorithm="RS256"))


def test_another_key_is_refused(account: ApiAccount) -> None:
    refusal("Bearer " + forge.signed(forge.claims(sub=str(account.user_id)), key="k" * 64))


def test_the_key_of_sessions_and_cursors_signs_no_tokens(account: ApiAccount) -> None:
    claims = forge.claims(sub=str(account.user_id))
    refusal("Bearer " + forge.signed(claims, key=django_settings.SECRET_KEY))


@pytest.mark.parametrize(
    "headers",
    [
        {"jku": "https://evil.example/keys"},
        {"x5u": "https://evil.example/chain"},
        {"jwk": {"kty": "oct", "k": "a2V5"}},
        {"kid": 7},
        {"crit": ["exp"]},
        {"b64": False, "crit": ["b64"]},
    ],
    ids=str,
)
def test_a_token_that_brings_its_own_key_or_rules_is_refused(
    account: ApiAccount, headers: dict[str, Any]
) -> None:
    refusal("Bearer " + forge.sealed(headers, forge.claims(sub=str(account.user_id))))


@pytest.mark.parametrize("kid", ["../../etc/passwd", "' OR 1=1 --", "\x00", "k" * 1000])
def test_a_kid_with_a_path_or_sql_changes_nothing(account: ApiAccount, kid: str) -> None:
    claims = forge.claims(sub=str(account.user_id))
    assert authenticate("Bearer " + forge.signed(claims, headers={"kid": kid})) is not None
    refusal("Bearer " + forge.signed(claims, key="k" * 64, headers={"kid": kid}))


def test_a_refresh_token_is_no_access_token(account: ApiAccount) -> None:
    refusal(f"Bearer {issue(account.user).refresh}")


def test_two_authorization_headers_are_refused(token: str) -> None:
    for joined in (
        f"Bearer {token}, Bearer {token}",
        f"Bearer {token},Bearer {token}",
        f"Bearer {token},{token}",
    ):
        refusal(joined)


@pytest.mark.parametrize(
    "header",
    ["", " ", "Bearer", "Bearer ", "Bearer  ", "Bearer .", "Bearer ..", "Bearer a.b.c",
     "Basic cmVwOmRlbW8=", "Token abc", "Bearer null", "Bearer undefined", "Bearer \ud800", "Bearer é.é.é",
     "\x00", "bearer\ttoken"],
    ids=ascii,
)  # fmt: skip
def test_a_header_without_a_token_is_refused(header: str) -> None:
    refusal(header)


def test_a_token_of_100_kb_is_refused_unread(token: str) -> None:
    # The work that it is, not how long other work makes it wait.
    started = time.thread_time()
    refusal("Bearer " + token + "A" * 100_000)
    assert time.thread_time() - started < 0.05


def test_a_deeply_nested_payload_is_refused() -> None:
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    refusal("Bearer " + forge.sealed({}, nested))
    refusal("Bearer " + forge.sealed({}, forge.claims(sub=nested)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(position=st.integers(min_value=0), character=st.sampled_from("ABab01-_."))
def test_a_changed_character_is_refused(token: str, position: int, character: str) -> None:
    position %= len(token)
    changed = token[:position] + character + token[position + 1 :]
    if changed != token:
        refusal(f"Bearer {changed}")


@settings(max_examples=200, deadline=None)
@given(header=st.text(max_size=300))
def test_any_text_is_refused_and_never_crashes(header: str) -> None:
    refusal(header)


@settings(max_examples=100, deadline=None)
@given(
    header=st.dictionaries(
        st.sampled_from(["alg", "typ", "kid", "iss"]), st.none() | st.integers() | st.text()
    ),
    payload=st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["iss", "sub", "aud", "exp"]), inner),
        max_leaves=8,
    ),
)
def test_any_unsigned_content_is_refused_and_never_crashes(header: dict[str, Any], payload: object) -> None:
    refusal("Bearer " + forge.raw(json.loads(json.dumps(header)), payload))


def test_a_closed_account_is_refused(token: str, account: ApiAccount) -> None:
    account.user.is_active = False
    account.user.save()
    refusal(f"Bearer {token}")


def test_an_account_that_became_a_studio_account_is_refused(token: str, account: ApiAccount) -> None:
    account.user.is_staff = True
    account.user.save()
    refusal(f"Bearer {token}")


def test_a_deleted_account_is_refused(token: str, account: ApiAccount) -> None:
    account.user.delete()
    refusal(f"Bearer {token}")


def test_roles_come_from_the_account_not_from_the_token(forged: Callable[..., str]) -> None:
    caller = authenticate(f"Bearer {forged(roles=['admin'], groups=['admin'])}")
    assert caller is not None
    assert caller.roles == {"sales-rep"}


def test_an_account_without_roles_is_a_caller_without_roles(token: str, account: ApiAccount) -> None:
    account.roles.clear()
    caller = authenticate(f"Bearer {token}")
    assert caller is not None
    assert caller.roles == frozenset()


def test_a_known_token_costs_no_query(token: str, django_assert_num_queries: Callable[[int], Any]) -> None:
    authenticate(f"Bearer {token}")
    with django_assert_num_queries(0):
        authenticate(f"Bearer {token}")


def test_a_closed_account_loses_access_within_a_minute(
    token: str, account: ApiAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticate(f"Bearer {token}")
    account.user.is_active = False
    account.user.save()
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    refusal(f"Bearer {token}")


def test_a_remembered_token_expires_on_its_second(
    forged: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expires = int(time.time()) + 30
    token = forged(exp=expires)
    assert authenticate(f"Bearer {token}") is not None
    monkeypatch.setattr(time, "time", lambda: float(expires))
    assert "expired" in refusal(f"Bearer {token}").sentence


def test_a_refused_token_is_not_remembered_as_good(token: str, account: ApiAccount) -> None:
    account.user.is_active = False
    account.user.save()
    refusal(f"Bearer {token}")
    account.user.is_active = True
    account.user.save()
    assert authenticate(f"Bearer {token}") is not None


@pytest.mark.parametrize(
    "name", ["everyone_is_support", "everyone_is_support_with_options", "identity_of_customers"]
)
def test_a_resolver_of_the_application_decides(token: str, settings: Any, name: str) -> None:
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": f"tests.runtime.resolvers.{name}"}
    caller = authenticate(f"Bearer {token}")
    assert caller is not None
    assert caller.roles == {"support"}


def test_a_resolver_that_returns_something_else_is_named(token: str, settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": "tests.runtime.resolvers.names"}
    with pytest.raises(TypeError, match="USER_RESOLVER must return a Caller, an Identity or None, not str"):
        authenticate(f"Bearer {token}")


def test_a_resolver_that_knows_nobody_refuses(token: str, settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": "tests.runtime.resolvers.nobody"}
    refusal(f"Bearer {token}")
