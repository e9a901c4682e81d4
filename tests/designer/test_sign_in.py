"""Signing in to the studio at an identity provider, over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from designer.models import AuditEntry
from designer.studio.sign_in import provider_documents
from designer.studio.sign_in.provider_requests import GuardedAdapter
from tests.designer.signing_in import (
    CALLBACK,
    HERE,
    Person,
    handed_over,
    provider_settings,
    studio_client,
    text_of,
)
from tests.identity_provider import SECRET, IdentityProvider

ADA = {
    "groups": ["crm-team", "canteen"],
    "preferred_username": "ada@contoso.example",
    "email": "ada@contoso.example",
    "given_name": "Ada",
    "family_name": "Lovelace",
}
PASSWORD = "a long one of its own"

Configure = Callable[..., None]


@pytest.fixture
def configure(settings: Any) -> Configure:
    def change(**values: Any) -> None:
        settings.PORTICO = {**settings.PORTICO, **values}

    return change


@pytest.fixture
def contoso(portico: None, identity_provider: IdentityProvider, configure: Configure) -> IdentityProvider:
    """A provider that the studio is set up for, and that knows Ada."""
    cache.clear()
    configure(**provider_settings(identity_provider))
    identity_provider.know(studio_client(), users={"ada": ADA})
    return identity_provider


def refused(answer: Any, status: int = 403) -> str:
    assert answer.status_code == status, answer
    return text_of(answer)


# Who comes in


def test_a_person_with_a_mapped_group_signs_in(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    answer = ada.sign_in("/admin/designer/module/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/designer/module/")
    assert ada.is_in()
    account = User.objects.get(username="ada@contoso.example")
    assert {group.name for group in account.groups.all()} == {"Designer", "Publisher"}
    assert (account.is_staff, account.is_superuser, account.has_usable_password()) == (True, False, False)
    assert (account.first_name, account.last_name, account.email) == (
        "Ada",
        "Lovelace",
        "ada@contoso.example",
    )


def test_the_login_page_offers_the_provider_by_its_name(contoso: IdentityProvider) -> None:
    assert "Sign in with Contoso" in text_of(Client().get("/admin/login/"))


def test_without_a_provider_the_login_page_offers_none_and_nobody_signs_in(portico: None) -> None:
    assert "Sign in with" not in text_of(Client().get("/admin/login/"))
    assert Client().post("/admin/sign-in/").headers["Location"] == "/admin/login/"
    assert Client().get("/admin/sign-in/callback/?state=x&code=y").status_code == 400


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_tokens_of_each_algorithm_are_taken(contoso: IdentityProvider, algorithm: str) -> None:
    contoso.know(studio_client(id_token_signed_response_alg=algorithm), users={"ada": ADA})
    ada = Person("ada")
    ada.sign_in()
    assert ada.is_in()


def test_claims_that_the_id_token_leaves_out_are_asked_for(contoso: IdentityProvider) -> None:
    contoso.know(studio_client(), users={"ada": ADA}, thin=True)
    ada = Person("ada")
    ada.sign_in()
    assert ada.is_in()


@pytest.mark.parametrize(
    ("claim", "claims"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["crm-team"]}}),
        ("https://example.org/groups", {"https://example.org/groups": "crm-team"}),
    ],
)
def test_the_claim_of_groups_may_be_nested_or_have_dots_in_its_name(
    contoso: IdentityProvider, configure: Configure, claim: str, claims: dict[str, Any]
) -> None:
    configure(STUDIO_OIDC_GROUPS_CLAIM=claim)
    contoso.know(studio_client(), users={"ada": claims})
    ada = Person("ada")
    ada.sign_in()
    assert ada.is_in()


def test_provider_accounts_are_not_asked_for_a_second_factor(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    TOTPDevice.objects.create(user=User.objects.get(username="ada@contoso.example"), confirmed=True)
    ada = Person("ada")
    ada.sign_in()
    assert ada.is_in()
    page = ada.studio.get("/admin/").content.decode()
    assert "/admin/two-factor/" not in page
    assert "/admin/password_change/" not in page


def test_keys_of_the_provider_may_change_at_any_time(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    contoso.rotate()
    contoso.forget()
    ada = Person("ada")
    ada.sign_in()
    assert ada.is_in()


# Whose account it is


def test_a_local_account_of_the_same_name_and_address_is_left_alone(contoso: IdentityProvider) -> None:
    local = User.objects.create_superuser("ada@contoso.example", "ada@contoso.example", PASSWORD)
    ada = Person("ada")
    ada.sign_in()
    assert ada.studio.session["_auth_user_id"] != str(local.pk)
    made = User.objects.get(pk=ada.studio.session["_auth_user_id"])
    assert (made.username, made.is_superuser) == ("ada@contoso.example-2", False)
    assert not local.groups.exists()


def test_a_person_keeps_the_account_when_name_and_address_change(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    contoso.know(studio_client(), users={"ada": {**ADA, "email": "a@x.example", "preferred_username": "a"}})
    Person("ada").sign_in()
    account = User.objects.get(email="a@x.example")
    assert account.username == "ada@contoso.example"


def test_one_subject_of_two_issuers_is_two_accounts(contoso: IdentityProvider) -> None:
    from designer.models import ProviderAccount

    Person("ada").sign_in()
    ProviderAccount.objects.update(issuer="https://another.example")
    Person("ada").sign_in()
    assert User.objects.filter(username__startswith="ada@contoso.example").count() == 2


def test_a_session_ends_when_its_provider_is_taken_out_of_the_settings(
    contoso: IdentityProvider, configure: Configure
) -> None:
    ada = Person("ada")
    ada.sign_in()
    configure(STUDIO_OIDC_ISSUER="")
    assert not ada.is_in()


def test_a_session_lasts_as_long_as_the_settings_say(contoso: IdentityProvider, configure: Configure) -> None:
    configure(STUDIO_OIDC_HOURS=2)
    ada = Person("ada")
    ada.sign_in()
    assert 7100 < ada.studio.session.get_expiry_age() <= 7200


# Groups


def test_groups_follow_the_claims_at_every_sign_in_and_the_audit_says_so(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    contoso.know(studio_client(), users={"ada": {**ADA, "groups": ["crm-team", "crm-admins"]}})
    Person("ada").sign_in()
    account = User.objects.get(username="ada@contoso.example")
    account.groups.add(Group.objects.get(name="Viewer"))
    contoso.know(studio_client(), users={"ada": {**ADA, "groups": ["crm-admins"]}})
    Person("ada").sign_in()
    assert {group.name for group in account.groups.all()} == {"Administrator"}
    noted = AuditEntry.objects.filter(account=account.username).order_by("id")
    assert [(entry.action, entry.detail) for entry in noted] == [
        ("add", f"subject ada of {contoso.issuer}"),
        ("change", "groups: +Designer, +Publisher"),
        ("login", ""),
        ("change", "groups: +Administrator"),
        ("login", ""),
        ("change", "groups: −Designer, −Publisher, −Viewer"),
        ("login", ""),
    ]


def test_nobody_without_a_mapped_group_gets_in_and_the_page_says_what_is_missing(
    contoso: IdentityProvider,
) -> None:
    contoso.know(studio_client(), users={"ada": {**ADA, "groups": ["canteen", "<b>staff</b>"]}})
    ada = Person("ada")
    answer = ada.sign_in()
    text = refused(answer)
    assert "Contoso signed you in as ada@contoso.example." in text
    assert "None of your groups opens this studio: canteen, <b>staff</b>." in text
    assert "help@contoso.example" in text
    assert b"<b>staff" not in answer.content
    assert not ada.is_in()
    assert not User.objects.filter(username="ada@contoso.example").exists()
    entry = AuditEntry.objects.get(action="login-failed")
    assert entry.account == "ada@contoso.example"
    assert entry.detail == "no mapped group: canteen, <b>staff</b>"


def test_a_claim_that_is_not_there_is_named(contoso: IdentityProvider) -> None:
    contoso.know(studio_client(), users={"ada": {"email": "ada@contoso.example"}})
    assert "the claim “groups” is missing or empty" in refused(Person("ada").sign_in())


def test_groups_that_were_too_many_for_the_token_are_recognised(contoso: IdentityProvider) -> None:
    contoso.know(studio_client(), users={"ada": {"_claim_names": {"groups": "src1"}}})
    assert "so many groups that Contoso left the claim “groups” out" in refused(Person("ada").sign_in())


def test_a_group_of_the_table_that_the_studio_lacks_opens_nothing(
    contoso: IdentityProvider, configure: Configure
) -> None:
    configure(STUDIO_OIDC_GROUPS={"crm-team": ("Nobody",)})
    assert "None of your groups opens this studio" in refused(Person("ada").sign_in())


def test_whoever_loses_the_last_group_loses_sessions_that_are_open_too(contoso: IdentityProvider) -> None:
    before = Person("ada")
    before.sign_in()
    contoso.know(studio_client(), users={"ada": {**ADA, "groups": []}})
    refused(Person("ada").sign_in())
    assert not before.is_in()
    assert not User.objects.get(username="ada@contoso.example").groups.exists()


def test_an_account_that_was_switched_off_here_stays_out(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    User.objects.filter(username="ada@contoso.example").update(is_active=False)
    ada = Person("ada")
    assert "Your account is switched off" in refused(ada.sign_in())
    assert not ada.is_in()


# Passwords beside it


def test_a_provider_account_opens_with_no_password(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    account = User.objects.get(username="ada@contoso.example")
    account.set_password(PASSWORD)
    account.save()
    client = Client()
    answer = client.post("/admin/login/", {"username": account.username, "password": PASSWORD})
    assert "Please enter the correct username and password" in refused(answer, 200)
    assert client.get("/admin/").status_code == 302


def test_passwords_can_be_switched_off_but_for_one_account(
    contoso: IdentityProvider, configure: Configure
) -> None:
    configure(STUDIO_LOCAL_LOGIN=["glass"])
    for name in ("glass", "other"):
        User.objects.create_superuser(name, password=PASSWORD)
    answers = {}
    for name in ("glass", "other", "nobody"):
        client = Client()
        data = {"username": name, "password": PASSWORD, "next": "/admin/"}
        answers[name] = client.post("/admin/login/", data)
        assert (client.get("/admin/").status_code == 200) is (name == "glass")
    assert answers["glass"].status_code == 302
    errors = [answers[name].context["form"].non_field_errors() for name in ("other", "nobody")]
    assert errors[0] == errors[1]
    assert AuditEntry.objects.filter(account="other", action="login-failed").exists()


def test_the_discovery_document_and_the_keys_are_read_once_for_many_sign_ins(
    contoso: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    send = GuardedAdapter.send

    def counted(self: Any, request: Any, *given: Any, **options: Any) -> Any:
        read.append(urlsplit(request.url).path)
        return send(self, request, *given, **options)

    monkeypatch.setattr(GuardedAdapter, "send", counted)
    for _ in range(3):
        ada = Person("ada")
        ada.sign_in()
        assert ada.is_in()
    documents = [path for path in read if path not in ("/token", "/me")]
    assert documents == ["/.well-known/openid-configuration", "/jwks"]


def test_what_was_read_of_the_provider_is_forgotten_when_it_does_not_answer(
    contoso: IdentityProvider,
) -> None:
    ada = Person("ada")
    back = ada.at_provider(ada.begin())
    contoso.stop()
    assert "Contoso does not answer" in refused(ada.come_back(back), 503)
    assert "Contoso does not answer" in refused(Client().post("/admin/sign-in/"), 503)


def test_what_somebody_else_wrote_into_the_cache_is_not_taken(contoso: IdentityProvider) -> None:
    Person("ada").sign_in()
    address = f"{contoso.issuer}/.well-known/openid-configuration"
    document = provider_documents.cached(address)
    assert document is not None
    provider_documents.forget(address)
    # Signed by the studio, but of another address; and not signed at all.
    provider_documents.store("https://elsewhere.example", document)
    elsewhere = cache.get(provider_documents._key("https://elsewhere.example"))
    for written in (elsewhere, json.dumps({"address": address, "document": document})):
        cache.set(provider_documents._key(address), written)
        assert provider_documents.cached(address) is None


def test_a_password_logs_in_while_the_provider_is_away(contoso: IdentityProvider) -> None:
    contoso.stop()
    client = Client()
    answer = client.post("/admin/sign-in/", {"next": "/admin/"})
    assert "Contoso does not answer" in refused(answer, 503)
    User.objects.create_superuser("local", password=PASSWORD)
    client.post("/admin/login/", {"username": "local", "password": PASSWORD, "next": "/admin/"})
    assert client.get("/admin/").status_code == 200
    # What is left of the sign-in does not shorten the session.
    assert client.session.get_expiry_age() > 3600


def test_a_provider_that_goes_away_in_the_middle_is_said(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    back = ada.at_provider(ada.begin())
    contoso.stop()
    assert "Contoso does not answer" in refused(ada.come_back(back), 503)
    assert not ada.is_in()


# Logging out


def test_logging_out_ends_the_session_here_and_there(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    ada.sign_in()
    answer = ada.studio.post("/admin/logout/")
    assert not ada.is_in()
    address = handed_over(answer)
    asked = parse_qs(urlsplit(address).query)
    assert address.startswith(f"{contoso.issuer}/session/end?")
    assert (asked["post_logout_redirect_uri"], asked["client_id"]) == ([f"{HERE}/admin/login/"], ["studio"])
    page = ada.elsewhere.get(address, timeout=60).text
    assert "Sign out here too" in page
    assert answer.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")


def test_a_local_session_is_logged_out_here_alone(contoso: IdentityProvider) -> None:
    User.objects.create_superuser("local", password=PASSWORD)
    client = Client()
    client.post("/admin/login/", {"username": "local", "password": PASSWORD, "next": "/admin/"})
    assert "http-equiv" not in client.post("/admin/logout/").content.decode().partition("<body")[0]
    # Logged in again, so that there is something to end.
    client.force_login(User.objects.get(username="local"))
    assert client.get("/admin/logout/").headers["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


# What is forged, stolen, late or repeated


def query_of(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def test_the_request_has_state_nonce_and_a_hashed_verifier(contoso: IdentityProvider) -> None:
    one, other = query_of(Person("ada").begin()), query_of(Person("ada").begin())
    assert one["code_challenge_method"] == "S256"
    assert (one["response_type"], one["redirect_uri"]) == ("code", CALLBACK)
    for name in ("state", "nonce", "code_challenge"):
        assert len(one[name]) >= 43
        assert one[name] != other[name]


def test_a_session_gets_a_new_key_when_somebody_signs_in(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    back = ada.at_provider(ada.begin())
    planted = str(ada.studio.session.session_key)
    ada.come_back(back)
    assert ada.is_in()
    assert ada.studio.session.session_key != planted
    thief = Client()
    thief.cookies["sessionid"] = planted
    assert thief.get("/admin/").status_code == 302


def test_an_answer_is_taken_once(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    back = ada.at_provider(ada.begin())
    ada.come_back(back)
    assert "This sign-in cannot be finished" in refused(ada.come_back(back), 400)


def test_an_answer_is_taken_from_the_browser_that_began_alone(contoso: IdentityProvider) -> None:
    attacker, victim = Person("ada"), Person("ada")
    back = attacker.at_provider(attacker.begin())
    victim.begin()
    refused(victim.come_back(back), 400)
    assert not victim.is_in()


def test_an_answer_that_comes_too_late_is_refused(
    contoso: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = Person("ada")
    back = ada.at_provider(ada.begin())
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 599)
    late = Person("ada")
    late_back = late.at_provider(late.begin())
    monkeypatch.setattr(time, "time", lambda: now + 605)
    refused(ada.come_back(back), 400)
    assert not ada.is_in()
    monkeypatch.undo()
    late.come_back(late_back)
    assert late.is_in()


def test_an_answer_in_the_name_of_another_provider_is_refused(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    back = query_of(ada.at_provider(ada.begin()))
    assert back["iss"] == contoso.issuer
    address = f"{CALLBACK}?{urlencode({**back, 'iss': 'https://evil.example'})}"
    assert "cannot be trusted" in refused(ada.come_back(address))
    assert not ada.is_in()


def test_an_answer_without_the_issuer_is_refused_where_the_provider_names_itself(
    contoso: IdentityProvider,
) -> None:
    ada = Person("ada")
    back = query_of(ada.at_provider(ada.begin()))
    back.pop("iss")
    refused(ada.come_back(f"{CALLBACK}?{urlencode(back)}"))
    assert not ada.is_in()


def test_a_code_of_another_sign_in_is_refused(contoso: IdentityProvider) -> None:
    attacker, victim = Person("ada"), Person("ada")
    stolen = query_of(attacker.at_provider(attacker.begin()))
    own = query_of(victim.at_provider(victim.begin()))
    refused(victim.come_back(f"{CALLBACK}?{urlencode({**own, 'code': stolen['code']})}"))
    assert not victim.is_in()


def test_what_the_provider_declines_is_said_without_words_of_others(contoso: IdentityProvider) -> None:
    ada = Person("nobody")
    text = refused(ada.come_back(ada.at_provider(ada.begin())))
    assert "Contoso did not sign you in" in text
    assert "“access_denied”" in text
    ada = Person("ada")
    forged = {**query_of(ada.at_provider(ada.begin())), "error": "call 555", "error_description": "call 556"}
    text = refused(ada.come_back(f"{CALLBACK}?{urlencode(forged)}"))
    assert "call 55" not in text


@pytest.mark.parametrize(
    "twist",
    [
        {"claims": {"nonce": "another"}},
        {"claims": {"nonce": None}},
        {"claims": {"iss": "https://another.example"}},
        {"claims": {"aud": "another"}},
        {"claims": {"aud": "another", "azp": "studio"}},
        {"claims": {"aud": ["studio", "another"], "azp": "another"}},
        {"claims": {"exp": 1_000_000_000}},
        {"claims": {"exp": None}},
        {"claims": {"iat": 9_999_999_999}},
        {"claims": {"nbf": 9_999_999_999}},
        {"claims": {"sub": None}},
        {"claims": {"sub": 7}},
        {"claims": {"sub": ""}},
        {"claims": {"at_hash": "another"}},
        {"header": {"alg": "none"}},
        {"header": {"alg": "HS256"}},
        {"header": {"kid": "another"}},
        {"header": {"alg": "ES256", "kid": "RS256-1"}},
    ],
    ids=str,
)
def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    contoso: IdentityProvider, twist: dict[str, Any]
) -> None:
    contoso.know(studio_client(), users={"ada": ADA}, twist=twist)
    ada = Person("ada")
    assert "The answer of Contoso cannot be trusted" in refused(ada.sign_in())
    assert not ada.is_in()
    assert not User.objects.filter(username="ada@contoso.example").exists()
    assert AuditEntry.objects.get(action="login-failed").detail == "answer not trusted"


def test_clocks_may_differ_by_the_leeway(contoso: IdentityProvider, configure: Configure) -> None:
    now = int(time.time())
    late = {"claims": {"exp": now - 120, "iat": now - 600}}
    contoso.know(studio_client(), users={"ada": ADA}, twist=late)
    refused(Person("ada").sign_in())
    configure(TOKEN_LEEWAY=300)
    ada = Person("ada")
    ada.sign_in()
    assert ada.is_in()


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "javascript:alert(1)",
        "http:///evil.example",
        "/admin/\r\nSet-Cookie: a=b",
    ],
)
def test_nobody_is_sent_to_another_site_afterwards(contoso: IdentityProvider, target: str) -> None:
    answer = Person("ada").sign_in(target)
    assert answer.status_code == 302
    assert urlsplit(answer.headers["Location"]).netloc == ""
    assert answer.headers["Location"].startswith("/admin/")
    assert "Set-Cookie: a" not in str(answer.headers)


def test_signing_in_begins_with_a_form_of_this_site(contoso: IdentityProvider) -> None:
    bookmarked = Client().get("/admin/sign-in/")
    assert (bookmarked.status_code, bookmarked.headers["Location"]) == (302, "/admin/login/")
    assert Client().put("/admin/sign-in/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/admin/sign-in/").status_code == 403


def test_signing_in_is_counted_with_logins(contoso: IdentityProvider, configure: Configure) -> None:
    configure(LOGIN_RATE=2)
    client = Client(REMOTE_ADDR="198.51.100.77")
    statuses = [client.post("/admin/sign-in/").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_the_content_policy_knows_no_provider(contoso: IdentityProvider) -> None:
    for answer in (Client().get("/admin/login/"), Client().post("/admin/sign-in/")):
        policy = answer.headers["Content-Security-Policy"]
        assert "form-action 'self'" in policy
        assert urlsplit(contoso.issuer).netloc not in policy


# Where requests may go


def test_no_provider_in_the_own_network_is_asked_in_production(
    contoso: IdentityProvider, configure: Configure, settings: Any
) -> None:
    settings.DEVELOPMENT = False
    for issuer in (contoso.issuer, "https://127.0.0.1:1", "https://169.254.169.254", "https://[::1]:1"):
        configure(STUDIO_OIDC_ISSUER=issuer)
        assert "Contoso does not answer" in refused(Client().post("/admin/sign-in/"), 503)
    configure(STUDIO_OIDC_PRIVATE_ADDRESS=True, STUDIO_OIDC_ISSUER=contoso.issuer)
    assert "Contoso does not answer" in refused(Client().post("/admin/sign-in/"), 503)


def test_a_discovery_document_of_another_issuer_is_not_taken(
    contoso: IdentityProvider, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[requests.Session] = []
    close = requests.Session.close

    def noted(session: requests.Session) -> None:
        closed.append(session)
        close(session)

    monkeypatch.setattr(requests.Session, "close", noted)
    configure(STUDIO_OIDC_ISSUER=contoso.issuer.replace("127.0.0.1", "localhost"))
    assert "Contoso does not answer" in refused(Client().post("/admin/sign-in/"), 503)
    # The connection of a sign-in that ends at once is not left open.
    assert closed


def test_no_token_code_or_secret_is_logged(
    contoso: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="portico")
    contoso.know(studio_client(), users={"ada": ADA}, twist={"claims": {"nonce": "another"}})
    ada = Person("ada")
    back = ada.at_provider(ada.begin())
    pending = ada.studio.session["pending_sign_ins"][0]
    refused(ada.come_back(back))
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert "sign-in refused: ID token: invalid_claim nonce" in said
    for secret in (query_of(back)["code"], pending["nonce"], pending["verifier"], "eyJ", SECRET):
        assert secret not in said


def test_the_provider_of_these_tests_refuses_a_wrong_verifier(contoso: IdentityProvider) -> None:
    ada = Person("ada")
    back = query_of(ada.at_provider(ada.begin()))
    answer = requests.post(
        f"{contoso.issuer}/token",
        data={"grant_type": "authorization_code", "code": back["code"], "redirect_uri": CALLBACK},
        auth=("studio", SECRET),
        timeout=60,
    )
    assert answer.json()["error"] == "invalid_grant"
