"""Tokens of other issuers: keys from a real server on a socket, roles through the issuer's own map."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django.fixtures import Settings

from project.checks import settings_make_sense
from project.logs import JsonFormatter
from runtime.callers import tokens
from runtime.callers.issuers import jwks
from runtime.callers.issuers.environment import read_issuers
from runtime.callers.tokens import authenticate
from runtime.http import limits
from runtime.http.problems import Problem
from tests.callers import Caller
from tests.runtime import forge
from tests.runtime.accounts import ACCOUNTS, NOBODY

NAME = "https://login.example/v2.0"
AUDIENCE = "api://portico"
KEY = forge.rsa_key()
OTHER_KEY = forge.rsa_key()


class KeyServer:
    """Publishes `document` and counts who asks."""

    def __init__(self) -> None:
        self.document: Any = {"keys": [forge.jwk(KEY, "k1")]}
        self.status = 200
        self.location: str | None = None
        self.fetches = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.fetches += 1
                body = (
                    outer.document
                    if isinstance(outer.document, bytes)
                    else json.dumps(outer.document).encode()
                )
                self.send_response(outer.status)
                if outer.location:
                    self.send_header("Location", outer.location)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/keys"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def issuer() -> Iterator[KeyServer]:
    server = KeyServer()
    yield server
    server.stop()


@pytest.fixture
def configure(settings: Settings, issuer: KeyServer) -> Iterator[Any]:
    """Configures the issuer, with changes, and forgets what was known."""

    def set_issuer(**changes: Any) -> None:
        described = {
            "audience": AUDIENCE,
            "jwks_url": issuer.url,
            "allow_private_addresses": True,
            "role_map": {"Sales": "sales-rep", "Lead": ["sales-rep", "sales-manager"]},
        }
        entry = {name: value for name, value in (described | changes).items() if value is not forge.OMIT}
        settings.PORTICO = {**settings.PORTICO, "ISSUERS": {NAME: entry}}
        tokens.forget()

    set_issuer()
    yield set_issuer
    tokens.forget()


def token(key: Any = KEY, kid: str | None = "k1", algorithm: str = "RS256", **changes: Any) -> str:
    now = int(time.time())
    good = {"iss": NAME, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300, "roles": ["Sales"]}
    payload = {name: value for name, value in (good | changes).items() if value is not forge.OMIT}
    return forge.signed(payload, key=key, algorithm=algorithm, headers=None if kid is None else {"kid": kid})


def refused(text: str, status: int = 401) -> Problem:
    with pytest.raises(Problem) as caught:
        authenticate(f"Bearer {text}")
    assert caught.value.status_code == status
    return caught.value


pytestmark = pytest.mark.usefixtures("configure")


def test_a_good_token_gives_a_caller_with_the_mapped_roles() -> None:
    caller = authenticate(f"Bearer {token(roles=['Lead', 'Unmapped'])}")
    assert caller is not None
    assert (caller.issuer, caller.subject) == (NAME, "ada")
    assert caller.roles == {"sales-rep", "sales-manager"}
    assert caller.platform_user is None


def test_without_a_map_there_are_no_roles(configure: Any) -> None:
    configure(role_map=forge.OMIT)
    caller = authenticate(f"Bearer {token(roles=['sales-rep', 'Sales'])}")
    assert caller is not None
    assert caller.roles == frozenset()


@pytest.mark.parametrize(
    "claim",
    [{"Sales": True}, {"0": "Sales"}, [["Sales"]], [{"value": "Sales"}], ["Sales", 1],
     ["Sales", ["Lead"]], None, 1, True, "", [], ["Sales Lead"], "Sales,Lead", forge.OMIT],
    ids=repr,
)  # fmt: skip
def test_a_roles_claim_of_another_shape_grants_nothing(claim: Any) -> None:
    caller = authenticate(f"Bearer {token(roles=claim)}")
    assert caller is not None
    assert caller.roles == frozenset()


@pytest.mark.parametrize(
    "changes",
    [{"exp": forge.OMIT}, {"exp": 1}, {"exp": "soon"}, {"exp": 1e400}, {"nbf": 9999999999},
     {"aud": forge.OMIT}, {"aud": "other"}, {"aud": []}, {"aud": ["other"]}, {"aud": [AUDIENCE, 1]},
     {"aud": [[AUDIENCE]]}, {"aud": {AUDIENCE: True}}, {"aud": AUDIENCE + " other"}, {"aud": None},
     {"sub": forge.OMIT}, {"sub": ""}, {"iss": NAME + "/"}, {"iss": "portico"}, {"iss": forge.OMIT}],
    ids=repr,
)  # fmt: skip
def test_a_token_with_wrong_claims_is_refused(changes: dict[str, Any]) -> None:
    refused(token(**changes))


@pytest.mark.parametrize(
    ("claim", "roles"),
    [
        ("Sales", ["sales-rep"]),
        ("Sales Other", ["sales-rep"]),
        ("Other  Lead", ["sales-rep", "sales-manager"]),
        ("Global Admin", ["admin"]),
        ("Reader Global Admin", ["reader"]),
        (["Global Admin", "Reader"], ["admin", "reader"]),
    ],
    ids=repr,
)
def test_a_roles_claim_is_an_array_one_text_or_words(configure: Any, claim: Any, roles: list[str]) -> None:
    names = {"Sales": "sales-rep", "Lead": ["sales-rep", "sales-manager"]}
    configure(role_map={**names, "Global Admin": "admin", "Reader": "reader"})
    caller = authenticate(f"Bearer {token(roles=claim)}")
    assert caller is not None
    assert sorted(caller.roles) == sorted(roles)


@pytest.mark.parametrize(
    ("path", "claims"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["Sales"]}}),
        ("https://contoso.example/roles", {"https://contoso.example/roles": ["Sales"]}),
        ("a.b", {"a.b": "Sales", "a": {"b": "Lead"}}),
    ],
    ids=["nested", "a URL", "the exact name first"],
)
def test_a_roles_claim_may_be_nested_or_a_url(configure: Any, path: str, claims: dict[str, Any]) -> None:
    configure(roles_claim=path)
    caller = authenticate(f"Bearer {token(**claims)}")
    assert caller is not None
    assert caller.roles == {"sales-rep"}


@pytest.mark.parametrize("claims", [{}, {"a": None}, {"a": []}, {"a": "b"}, {"a": {"c": 1}}], ids=repr)
def test_a_path_that_leads_nowhere_grants_nothing(configure: Any, claims: dict[str, Any]) -> None:
    configure(roles_claim="a.b")
    caller = authenticate(f"Bearer {token(**claims)}")
    assert caller is not None
    assert caller.roles == frozenset()


@pytest.mark.parametrize("audience", [AUDIENCE, [AUDIENCE], ["other", AUDIENCE]], ids=repr)
def test_a_token_may_be_for_several_audiences(audience: Any) -> None:
    assert authenticate(f"Bearer {token(aud=audience)}") is not None


def test_an_issuer_may_have_several_audiences(configure: Any) -> None:
    configure(audience=[AUDIENCE, "0f0f-client"])
    for audience in (AUDIENCE, "0f0f-client", ["else", "0f0f-client"]):
        assert authenticate(f"Bearer {token(aud=audience)}") is not None
    refused(token(aud="else"))


AHEAD = [("iat", 3), ("nbf", 3), ("iat", 50), ("nbf", 50), ("exp", -3), ("exp", -50)]


@pytest.mark.parametrize(("claim", "seconds"), AHEAD)
def test_clocks_may_differ_by_a_minute(claim: str, seconds: int) -> None:
    changes: dict[str, Any] = {claim: int(time.time()) + seconds}
    moved = token(**changes)
    assert authenticate(f"Bearer {moved}") is not None


@pytest.mark.parametrize(("claim", "seconds"), [("iat", 90), ("nbf", 90), ("exp", -61)])
def test_clocks_may_not_differ_by_more(claim: str, seconds: int) -> None:
    changes: dict[str, Any] = {claim: int(time.time()) + seconds}
    refused(token(**changes))


def test_the_leeway_is_a_setting_and_each_issuers_own(configure: Any, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "TOKEN_LEEWAY": 0}
    configure()
    refused(token(exp=int(time.time()) - 3))
    configure(leeway=200)
    assert authenticate(f"Bearer {token(exp=int(time.time()) - 100)}") is not None
    with pytest.raises(ImproperlyConfigured, match="leeway"):
        read_issuers({NAME: {"audience": AUDIENCE, "public_key": forge.pem(KEY), "leeway": 601}})


def test_a_remembered_token_is_good_for_the_leeway_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    expires = int(time.time()) + 30
    text = token(exp=expires)
    assert authenticate(f"Bearer {text}") is not None
    monkeypatch.setattr(time, "time", lambda: expires + 59.0)
    assert authenticate(f"Bearer {text}") is not None
    monkeypatch.setattr(time, "time", lambda: expires + 60.0)
    assert "expired" in refused(text).sentence


def test_another_key_under_the_same_kid_is_refused() -> None:
    refused(token(key=OTHER_KEY))


def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(configure: Any) -> None:
    claims = {"iss": NAME, "aud": AUDIENCE, "sub": "ada", "exp": int(time.time()) + 300}
    configure(jwks_url=forge.OMIT, public_key=forge.pem(KEY))
    head = forge.raw({"alg": "HS256", "typ": "JWT", "kid": "k1"}, claims).removesuffix(".")
    refused(f"{head}.{forge.seal(head, forge.pem(KEY).encode())}")


def test_a_token_of_the_service_itself_cannot_come_from_elsewhere() -> None:
    refused(forge.signed(forge.claims(sub="1"), key=KEY, algorithm="RS256", headers={"kid": "k1"}))


def test_a_foreign_name_cannot_be_signed_with_the_services_key() -> None:
    refused(forge.signed({"iss": NAME, "aud": AUDIENCE, "sub": "ada", "exp": int(time.time()) + 300}))


def test_an_algorithm_that_is_not_configured_is_refused() -> None:
    refused(token(algorithm="RS512"))


def test_a_token_without_kid_is_refused() -> None:
    refused(token(kid=None))


@pytest.mark.parametrize("header", ["jku", "x5u", "jwk"])
def test_a_token_that_brings_its_own_key_is_refused(header: str, issuer: KeyServer) -> None:
    value = forge.jwk(OTHER_KEY, "k1") if header == "jwk" else issuer.url
    now = int(time.time())
    claims = {"iss": NAME, "aud": AUDIENCE, "sub": "ada", "exp": now + 300}
    refused(forge.signed(claims, key=OTHER_KEY, algorithm="RS256", headers={"kid": "k1", header: value}))
    assert issuer.fetches == 0


def test_one_public_key_will_do(configure: Any) -> None:
    configure(jwks_url=forge.OMIT, public_key=forge.pem(KEY))
    assert authenticate(f"Bearer {token(kid=None)}") is not None
    refused(token(key=OTHER_KEY))


def test_keys_are_fetched_once_for_many_tokens(issuer: KeyServer) -> None:
    for subject in ("ada", "bob", "cy"):
        assert authenticate(f"Bearer {token(sub=subject)}") is not None
    assert issuer.fetches == 1


@pytest.mark.parametrize(
    "strange", [{"kid": ["a"]}, {"kid": 1}, {"use": ["sig"]}, {"alg": ["RS256"]}, {"alg": "none"}]
)
def test_a_key_that_is_strangely_described_does_not_disturb_the_others(
    issuer: KeyServer, strange: dict[str, Any]
) -> None:
    issuer.document = {"keys": [{**forge.jwk(OTHER_KEY, "k2"), **strange}, forge.jwk(KEY, "k1")]}
    assert authenticate(f"Bearer {token()}") is not None
    refused(token(key=OTHER_KEY, kid="k2"))


def test_a_key_set_that_is_no_list_gives_no_keys(issuer: KeyServer) -> None:
    issuer.document = {"keys": 5}
    refused(token(), 503)


def test_a_new_key_is_found_without_a_restart(issuer: KeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    authenticate(f"Bearer {token()}")
    issuer.document = {"keys": [forge.jwk(OTHER_KEY, "k2")]}
    monkeypatch.setattr(jwks, "PAUSE", 0.0)
    assert authenticate(f"Bearer {token(key=OTHER_KEY, kid='k2')}") is not None
    refused(token(sub="bob"))


def test_a_flood_of_unknown_kids_causes_one_fetch(issuer: KeyServer) -> None:
    flood = [token(key=OTHER_KEY, kid=f"k{number}") for number in range(100, 140)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(refused, flood))
    assert issuer.fetches == 1


def test_while_the_issuer_is_down_its_last_keys_are_good(
    issuer: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    authenticate(f"Bearer {token()}")
    monkeypatch.setattr(jwks, "PAUSE", 0.0)
    monkeypatch.setattr(jwks, "MAX_AGE", -1.0)
    for status, document in (
        (500, {}),
        (200, b"<html>"),
        (200, []),
        (200, {"keys": []}),
        (200, {"keys": "no"}),
    ):
        issuer.status, issuer.document = status, document
        assert authenticate(f"Bearer {token(sub=repr((status, document)))}") is not None
    issuer.stop()
    assert authenticate(f"Bearer {token(sub='bob')}") is not None


def test_an_issuer_that_never_answered_is_503_and_asked_once(issuer: KeyServer) -> None:
    issuer.status = 500
    for subject in ("ada", "bob"):
        problem = refused(token(sub=subject), status=503)
        assert problem.code == "issuer_unavailable"
        assert int(problem.headers["Retry-After"]) > 0
    assert issuer.fetches == 1


def test_a_redirect_to_keys_is_not_followed(issuer: KeyServer) -> None:
    elsewhere = KeyServer()
    try:
        issuer.status, issuer.location = 302, elsewhere.url
        refused(token(), status=503)
        assert elsewhere.fetches == 0
    finally:
        elsewhere.stop()


def test_a_huge_key_set_is_not_read(issuer: KeyServer) -> None:
    issuer.document = b'{"keys": [' + b" " * 2_000_000 + b"]}"
    refused(token(), status=503)


def test_a_shared_secret_among_the_keys_is_no_key(issuer: KeyServer) -> None:
    secret = {"kty": "oct", "kid": "k9", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "alg": "HS256"}
    issuer.document = {"keys": [secret, forge.jwk(KEY, "k1"), forge.jwk(OTHER_KEY, "enc", use="enc")]}
    refused(token(key="secretsecretsecretsecretsecretsecret", kid="k9", algorithm="HS256"))
    refused(token(key=OTHER_KEY, kid="enc"))
    assert authenticate(f"Bearer {token()}") is not None


def test_private_addresses_are_refused_unless_allowed(configure: Any, issuer: KeyServer) -> None:
    configure(allow_private_addresses=False)
    refused(token(), status=503)
    assert issuer.fetches == 0


def test_outside_development_keys_come_over_https(settings: Settings) -> None:
    settings.DEVELOPMENT = False
    with pytest.raises(ImproperlyConfigured, match="https"):
        read_issuers({NAME: {"audience": AUDIENCE, "jwks_url": "http://login.example/keys"}})


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"jwks_url": "https://login.example/keys"}, "audience"),
        ({"audience": AUDIENCE}, "either jwks_url or public_key"),
        ({"audience": AUDIENCE, "jwks_url": "https://a.example", "public_key": forge.pem(KEY)}, "either"),
        ({"audience": AUDIENCE, "jwks_url": "file:///etc/passwd"}, "https"),
        ({"audience": AUDIENCE, "jwks_url": "https://user:pass@login.example/keys"}, "credentials"),
        ({"audience": AUDIENCE, "public_key": "no key"}, "PEM"),
        ({"audience": AUDIENCE, "jwks_url": "https://a.example", "algorithms": ["HS256"]}, "algorithms"),
        ({"audience": AUDIENCE, "jwks_url": "https://a.example", "algorithms": ["none"]}, "algorithms"),
        ({"audience": AUDIENCE, "jwks_url": "https://a.example", "algorithms": []}, "algorithms"),
        ({"audience": AUDIENCE, "jwks_url": "https://a.example", "rolemap": {}}, "rolemap"),
        ("https://a.example/keys", "object"),
    ],
    ids=[
        "no audience",
        "no keys",
        "two keys",
        "file",
        "credentials",
        "no PEM",
        "HS256",
        "none",
        "no algorithm",
        "typo",
        "text",
    ],
)
def test_a_wrong_issuer_stops_the_start_and_says_why(entry: Any, says: str, settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ISSUERS": {NAME: entry}}
    [error] = settings_make_sense(None)
    assert NAME in error.msg
    assert says in error.msg


@pytest.mark.parametrize("described", [[], "x", 1, None, {"portico": {}}], ids=repr)
def test_issuers_that_are_no_object_or_take_our_name_stop_the_start(
    described: Any, settings: Settings
) -> None:
    settings.PORTICO = {**settings.PORTICO, "ISSUERS": described}
    assert settings_make_sense(None)


REFUSALS: dict[str, dict[str, Any]] = {
    "expired": {"exp": 1},
    "not_yet_valid": {"nbf": 9999999999},
    "audience": {"aud": "marked-audience"},
    "signature": {"key": OTHER_KEY},
    "unknown_kid": {"kid": "k7"},
    "no_kid": {"kid": None},
    "algorithm": {"algorithm": "RS512"},
    "unknown_issuer": {"iss": "https://elsewhere.example/v2.0"},
    "no_platform_user": {},
    "no_role": {"roles": "marked-role"},
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_each_refusal_is_one_line_of_the_log_with_its_reason(
    portico: None, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = f"{ACCOUNTS}/{NOBODY}" if reason == "no_role" else "/api/context"
    text = token(sub="marked-subject", email="marked-mail", **REFUSALS[reason])
    caplog.set_level(logging.INFO)
    answer = Caller(text).get(path)
    assert answer.status_code in {401, 403}
    [line] = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert line["event"] == "caller refused"
    assert (line["level"], line["logger"]) == ("info", "portico.failures")
    assert (line["reason"], line["status"]) == (reason, answer.status_code)
    # What nobody vouches for is not repeated: an issuer that is not set up here, a key that it does not have.
    assert line.get("issuer") == (None if reason == "unknown_issuer" else NAME)
    by_a_key_of_its = reason in {"signature", "audience", "expired", "not_yet_valid"}
    assert line.get("key_id") == ("k1" if by_a_key_of_its else None)
    assert line["request_id"] == answer["X-Request-Id"]
    assert "marked" not in json.dumps(line)
    assert text not in json.dumps(line)


@pytest.mark.parametrize(
    "name", ["marked person", "https://a.example/?user=marked", "https://marked.example", "x" * 300]
)
def test_an_issuer_that_is_not_known_is_not_repeated_in_the_log(
    portico: None, name: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert Caller(token(iss=name, kid="marked ‮key")).get("/api/context").status_code == 401
    [line] = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert line["reason"] == "unknown_issuer"
    assert line.keys().isdisjoint({"issuer", "key_id"})


def test_a_flood_of_bad_tokens_writes_as_many_lines_as_an_address_may_send(
    portico: None, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 3}
    caplog.set_level(logging.INFO)
    limits._limiter.cache_clear()
    statuses = [Caller(token(exp=1), address="192.0.2.77").get("/api/context").status_code for _ in range(8)]
    assert statuses.count(429) == 5
    assert len(caplog.records) == 3


def test_no_issuers_are_fine(settings: Settings) -> None:
    settings.PORTICO = {**settings.PORTICO, "ISSUERS": {}}
    assert settings_make_sense(None) == []
