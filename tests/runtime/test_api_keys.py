"""API keys: made in the studio and shown once; sent as bearer or exchanged for an access token."""

from __future__ import annotations

import base64
import datetime as dt
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client

from crmbox.demo import people
from designer.models import AuditEntry, Role
from project.logs import JsonFormatter
from runtime.callers import tokens
from runtime.models import ApiKey, FailedLogins
from tests.callers import Caller

pytestmark = pytest.mark.usefixtures("portico")

LIST = "/admin/runtime/apikey/"
ADD = f"{LIST}add/"
ACCOUNTS = "/api/sales/accounts"
FORM = "application/x-www-form-urlencoded"
KEY = re.compile(r"portico[a-z2-7]{16}_[0-9a-f]{64}")


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    cache.clear()
    tokens.forget()
    yield
    tokens.forget()


def studio_of(username: str) -> Client:
    client = Client()
    user = get_user_model().objects.get(username=username)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def studio() -> Client:
    return studio_of("admin")


def form(**changes: Any) -> dict[str, Any]:
    role = Role.objects.get(name="sales-manager")
    filled = {"name": "Nightly import", "active": "on", "roles": [role.pk], "caller_type": "user"}
    return {**filled, "platform_user": people.MAX_MANAGER, **changes}


@pytest.fixture
def make(studio: Client) -> Callable[..., str]:
    """The key that a page of the studio shows after it is made."""

    def key(**changes: Any) -> str:
        tokens.forget()
        page = studio.post(ADD, form(**changes))
        assert page.status_code == 200, page.content
        [secret] = set(KEY.findall(page.content.decode()))
        made: str = secret
        return made

    return key


def at(key: str, address: str = "127.0.0.1") -> Caller:
    return Caller(key, address=address)


def create(caller: Caller, name: str = "Contoso") -> Any:
    return caller.post(ACCOUNTS, {"name": name})


def exchange(key: str, *, address: str = "127.0.0.1", basic: bool = False, **more: str) -> Any:
    id, _, secret = key.partition("_")
    sent = {"grant_type": "client_credentials", **more}
    headers = {"authorization": basic_of(id, secret)} if basic else {}
    if not basic:
        sent = {"client_id": id, "client_secret": secret, **sent}
    return Caller(address=address).post("/api/token", urlencode(sent).encode(), content_type=FORM, **headers)


def basic_of(id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{id}:{secret}".encode()).decode()


def test_a_key_of_the_studio_calls_with_its_roles(make: Callable[..., str]) -> None:
    assert create(at(make())).status_code == 200
    assert create(at(make(name="No roles", roles=[]))).json()["code"] == "forbidden"


def test_a_key_without_a_record_is_a_service(make: Callable[..., str], studio: Client) -> None:
    service = make(name="Machine", caller_type="service", platform_user="")
    caller = tokens.authenticate(f"Bearer {service}")
    assert caller is not None
    assert (caller.type, caller.record, caller.profile) == ("service", None, None)
    page = studio.post(ADD, form(name="Nobody", platform_user=""))
    said = "Callers of this type have a record. Choose a record, or the caller type service."
    assert page.context["adminform"].form.errors["platform_user"] == [said]
    page = studio.post(ADD, form(name="Nobody", caller_type="contact", platform_user=""))
    assert page.context["adminform"].form.errors["record"] == [said]
    page = studio.post(ADD, form(name="Nobody", caller_type="service", record=people.MAX_MANAGER))
    assert "record" in page.context["adminform"].form.errors
    unchosen = studio.get(ADD).context["adminform"].form
    assert str(unchosen["caller_type"].value()) == "service"


def test_a_key_calls_as_its_record(make: Callable[..., str]) -> None:
    assert at(make()).get("/api/context").json()["user"]["fullName"] == "Max Manager"


def test_a_key_of_a_user_who_is_disabled_is_refused(make: Callable[..., str]) -> None:
    key = make()
    ApiKey.objects.update(record=people.GONE_GREGOR)
    refused = create(at(key))
    assert (refused.status_code, refused.json()["code"]) == (403, "no_platform_user")


def test_a_key_is_shown_once_and_not_kept(studio: Client, make: Callable[..., str]) -> None:
    page = studio.post(ADD, form())
    assert "no-store" in page["Cache-Control"]
    [key] = set(KEY.findall(page.content.decode()))
    assert "data-copy" in page.content.decode()
    prefix, _, secret = key.partition("_")
    row = ApiKey.objects.get()
    for path in (
        LIST,
        f"{LIST}{row.pk}/change/",
        f"{LIST}{row.pk}/history/",
        "/admin/",
        "/admin/audit/",
    ):
        shown = studio.get(path, follow=True)
        assert shown.status_code == 200, path
        assert secret not in shown.content.decode()
    assert prefix in studio.get(LIST).content.decode()
    create(at(key))
    kept = [
        *ApiKey.objects.values_list(), *LogEntry.objects.values_list(), *AuditEntry.objects.values_list(),
        *(session.get_decoded() for session in Session.objects.all()),
    ]  # fmt: skip
    assert secret not in str(kept)
    assert row.digest not in studio.get(f"{LIST}{row.pk}/change/").content.decode()


def test_keys_are_long_and_never_the_same(make: Callable[..., str]) -> None:
    first, second = make(), make(name="Another")
    assert {len(key.partition("_")[2]) * 4 for key in (first, second)} == {256}
    assert first.partition("_")[0] != second.partition("_")[0]
    assert first.partition("_")[2] != second.partition("_")[2]


def test_sending_the_form_again_makes_no_second_key(studio: Client, make: Callable[..., str]) -> None:
    make()
    again = studio.post(ADD, form())
    assert KEY.search(again.content.decode()) is None
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize(
    "changed",
    [
        lambda key: key[:-1] + ("0" if key[-1] != "0" else "1"),
        lambda key: key[:-1],
        lambda key: key + "0",
        lambda key: key.upper(),
        lambda key: key.replace("_", "."),
        lambda key: key.partition("_")[0] + "_",
        lambda key: "portico" + "a" * 16 + "_" + key.partition("_")[2],
        lambda key: key + ", Bearer " + key,
        lambda key: key + "\x00",
    ],
)
def test_another_key_is_refused(make: Callable[..., str], changed: Callable[[str], str]) -> None:
    answer = create(at(changed(make())))
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    assert answer["WWW-Authenticate"] == 'Bearer error="invalid_token"'


def test_a_wrong_key_and_an_unknown_one_are_answered_alike(make: Callable[..., str]) -> None:
    prefix, _, secret = make().partition("_")
    wrong = create(at(f"{prefix}_{'0' * 64}")).json()
    unknown = create(at(f"portico{'a' * 16}_{secret}")).json()
    assert wrong | {"requestId": ""} == unknown | {"requestId": ""}


def test_a_key_is_refused_on_open_endpoints_too_when_it_is_wrong(make: Callable[..., str]) -> None:
    key = make()
    assert at(key).get("/optionsets/priorities").status_code == 200
    assert at(key[:-2] + "zz").get("/optionsets/priorities").status_code == 401


def test_a_steady_key_costs_no_query(
    make: Callable[..., str], django_assert_num_queries: Callable[[int], Any]
) -> None:
    header = f"Bearer {make()}"
    tokens.authenticate(header, None, "127.0.0.1")
    with django_assert_num_queries(0):
        assert tokens.authenticate(header, None, "127.0.0.1") is not None


@pytest.mark.parametrize("how", ["form", "action", "delete", "roles"])
def test_a_change_of_a_key_counts_within_a_minute(
    studio: Client, make: Callable[..., str], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make()
    assert create(at(key)).status_code == 200
    row = ApiKey.objects.get()
    if how == "form":
        studio.post(f"{LIST}{row.pk}/change/", form(active=""))
    elif how == "roles":
        studio.post(f"{LIST}{row.pk}/change/", form(roles=[]))
    elif how == "action":
        studio.post(LIST, {"action": "revoke", "_selected_action": [row.pk]})
    else:
        studio.post(f"{LIST}{row.pk}/delete/", {"post": "yes"})
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert create(at(key)).status_code == (403 if how == "roles" else 401)


def test_an_expired_key_is_refused_on_its_second(
    make: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make()
    ends = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=30)
    ApiKey.objects.update(expires_at=ends)
    assert create(at(key)).status_code == 200
    monkeypatch.setattr(time, "time", lambda: ends.timestamp())
    assert "expired" in create(at(key)).json()["detail"]
    monkeypatch.undo()
    ApiKey.objects.update(expires_at=dt.datetime.now(dt.UTC))
    tokens.forget()
    assert "expired" in create(at(key)).json()["detail"]
    assert exchange(key).json()["error"] == "invalid_client"


def test_a_key_is_good_from_its_addresses_alone(make: Callable[..., str]) -> None:
    key = make(networks="192.0.2.0/24\n2001:db8:7::/48, 198.51.100.7")
    for address in ("192.0.2.9", "2001:db8:7:1::1", "198.51.100.7", "::ffff:192.0.2.9"):
        assert create(at(key, address)).status_code == 200, address
    for address in ("192.0.3.1", "2001:db8:8::1", "127.0.0.1"):
        refused = create(at(key, address))
        assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token"), address
    access = exchange(key, address="192.0.2.9").json()["access_token"]
    assert create(at(access, "192.0.2.9")).status_code == 200
    assert create(at(access, "192.0.3.1")).status_code == 401
    assert exchange(key, address="192.0.3.1").json()["error"] == "invalid_client"


@pytest.mark.parametrize("networks", ["192.0.2.0/33", "example.com", "192.0.2.1/24", "*", "1.2.3.4\n<b>"])
def test_addresses_that_are_none_are_refused_with_the_form(studio: Client, networks: str) -> None:
    page = studio.post(ADD, form(networks=networks))
    assert "networks" in page.context["adminform"].form.errors
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("basic", [True, False])
def test_a_key_is_exchanged_for_an_access_token(make: Callable[..., str], basic: bool) -> None:
    answer = exchange(make(), basic=basic)
    assert answer.status_code == 200, answer.content
    assert answer["Cache-Control"] == "no-store"
    body = answer.json()
    assert set(body) == {"access", "access_token", "token_type", "expires_in"}
    assert create(at(body["access_token"])).status_code == 200


def test_an_access_token_of_a_key_ends_with_it(make: Callable[..., str]) -> None:
    access = exchange(make()).json()["access_token"]
    ApiKey.objects.update(active=False)
    assert create(at(access)).status_code == 401
    ApiKey.objects.all().delete()
    tokens.forget()
    assert create(at(access)).status_code == 401


def test_json_will_do_for_a_client(make: Callable[..., str]) -> None:
    id, _, secret = make().partition("_")
    sent = {"grant_type": "client_credentials", "client_id": id, "client_secret": secret}
    assert Caller().post("/api/token", sent).status_code == 200


def test_a_basic_header_may_be_percent_encoded(make: Callable[..., str]) -> None:
    id, _, secret = make().partition("_")
    header = basic_of("%70" + quote(id[1:]), secret[:-1] + f"%{ord(secret[-1]):02x}")
    answer = Caller().post(
        "/api/token", b"grant_type=client_credentials", content_type=FORM, authorization=header
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "header",
    ["Basic", "Basic ", "Basic !!!", "basic YQ==", "Basic YTpi", "BASIC YTpiOmM=", "Basic " + "A" * 5000,
     "Basic /////w==", "Basic YQBiOmM=", "Basic YTpi, Basic YTpi", "Bearer x", ""],
    ids=lambda header: header[:20],
)  # fmt: skip
def test_a_client_that_proves_nothing_is_refused(header: str) -> None:
    answer = Caller().post(
        "/api/token", b"grant_type=client_credentials", content_type=FORM, authorization=header
    )
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert answer["Content-Type"] == "application/json"
    assert answer["WWW-Authenticate"].startswith("Basic realm=")
    assert answer.json()["code"] == "invalid_client"


def test_a_client_may_not_prove_itself_twice(make: Callable[..., str]) -> None:
    key = make()
    id, _, secret = key.partition("_")
    answer = exchange(key, basic=True, client_id=id, client_secret=secret)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert exchange(key, basic=True, client_id="somebody").json()["error"] == "invalid_request"
    assert exchange(key, basic=True, client_id=id, client_secret="").status_code == 200


def test_a_key_refreshes_nothing(make: Callable[..., str]) -> None:
    key = make()
    for token in (key, exchange(key).json()["access_token"]):
        assert Caller().post("/api/token/refresh", {"refresh": token}).status_code == 401


def test_wrong_secrets_are_counted_by_key_and_network(make: Callable[..., str], settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    key = make()
    wrong = key[:-64] + "0" * 64
    assert [exchange(wrong).status_code for _ in range(3)] == [401, 401, 429]
    assert exchange(key).json()["code"] == "locked_out"
    refused = create(at(key))
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
    assert int(refused["Retry-After"]) > 600
    # Another network is not kept out, however often it is tried from elsewhere.
    for number in range(20):
        create(at(wrong, f"198.51.100.{number}"))
    assert create(at(key, "192.0.2.7")).status_code == 200
    # People of the same network log in as ever.
    assert Caller().post("/api/token", {"username": "rep", "password": "demo"}).status_code == 200
    assert "key portico" in studio_of("admin").get("/admin/runtime/failedlogins/").content.decode()


def test_wrong_secrets_of_many_keys_lock_the_network_for_keys(
    settings: Any, make: Callable[..., str]
) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    key = make()
    for letter in "abcdef":
        create(at(f"portico{letter * 16}_{'0' * 64}", "192.0.2.1"))
    assert create(at(key, "192.0.2.1")).status_code == 429
    assert create(at(key, "192.0.2.2")).status_code == 200


def test_a_key_in_use_is_not_counted_against(make: Callable[..., str], settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    key = make()
    wrong = key[:-64] + "0" * 64
    for _ in range(4):
        ApiKey.objects.update(last_used_at=None)
        assert [create(at(wrong)).status_code for _ in range(2)] == [401, 401]
        tokens.forget()
        assert create(at(key)).status_code == 200
    assert not FailedLogins.objects.exclude(account="").exists()


def test_the_last_use_is_noted_now_and_then(make: Callable[..., str]) -> None:
    key = make()
    create(at(key))
    first = ApiKey.objects.get().last_used_at
    assert first is not None
    tokens.forget()
    create(at(key))
    assert ApiKey.objects.get().last_used_at == first
    long_ago = first - dt.timedelta(minutes=6)
    ApiKey.objects.update(last_used_at=long_ago)
    tokens.forget()
    create(at(key))
    again = ApiKey.objects.get().last_used_at
    assert again is not None
    assert again > first


def test_a_caller_with_a_key_has_a_limit_of_its_own(make: Callable[..., str], settings: Any) -> None:
    from runtime.http import limits

    limits._limiter.cache_clear()
    settings.PORTICO = {**settings.PORTICO, "CALLER_RATE": 2, "ADDRESS_RATE": 1}
    first, second = make(), make(name="Another")
    assert [at(first).get("/optionsets/priorities").status_code for _ in range(3)] == [200, 200, 429]
    assert at(second).get("/optionsets/priorities").status_code == 200


def test_a_resolver_of_the_application_is_not_asked_for_keys(make: Callable[..., str], settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": "tests.runtime.resolvers.nobody"}
    assert create(at(make())).status_code == 200


def test_no_log_line_holds_a_key(make: Callable[..., str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    key = make()
    create(at(key))
    create(at(key, "192.0.2.1"))
    wrong = key[:-64] + "0" * 64
    create(at(wrong))
    exchange(key)
    exchange(key, basic=True)
    exchange(wrong)
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert {line["reason"] for line in lines if line["event"] == "caller refused"} == {"wrong_key"}
    for secret in (key, key.partition("_")[2], "0" * 64, basic_of(*key.split("_"))):
        assert secret not in json.dumps(lines) + caplog.text


def test_an_export_holds_no_key(studio: Client, make: Callable[..., str]) -> None:
    key = make()
    exported = studio.post("/admin/studio/export/", {}).content + studio.get("/admin/studio/export/").content
    assert key.encode() not in exported
    assert key.partition("_")[0].encode() not in exported


def test_what_is_done_with_keys_is_audited(studio: Client, make: Callable[..., str]) -> None:
    make(networks="192.0.2.0/24")
    row = ApiKey.objects.get()
    studio.post(f"{LIST}{row.pk}/change/", form(active="on", networks="", roles=[]))
    studio.post(LIST, {"action": "revoke", "_selected_action": [row.pk]})
    studio.post(f"{LIST}{row.pk}/delete/", {"post": "yes"})
    noted = AuditEntry.objects.filter(account="admin", subject=f"API key: Nightly import ({row.prefix})")
    added, changed, revoked, deleted = noted.order_by("id")
    assert (added.action, changed.action, deleted.action) == ("add", "change", "delete")
    assert "addresses: +192.0.2.0/24" in added.detail
    assert "roles: −sales-manager" in changed.detail
    assert "addresses: −192.0.2.0/24" in changed.detail
    assert revoked.detail == "active: yes → no"


def test_a_page_that_was_opened_before_takes_no_name_back(studio: Client, make: Callable[..., str]) -> None:
    make()
    row = ApiKey.objects.get()
    address = f"{LIST}{row.pk}/change/"
    opened = {"_shown": studio.get(address).context["shown_state"]}
    assert studio.post(address, opened | form(name="Weekly import")).status_code == 302
    refused = studio.post(address, opened | form(rate="60"))
    assert "name: Nightly import → Weekly import" in refused.content.decode()
    row.refresh_from_db()
    assert (row.name, row.rate) == ("Weekly import", 0)


def test_keys_that_end_soon_are_on_the_dashboard(studio: Client, make: Callable[..., str]) -> None:
    make()
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(days=13)
    ApiKey.objects.update(expires_at=soon)
    said = f"The API key Nightly import expires on {soon:%Y-%m-%d}."
    assert said in studio.get("/admin/").content.decode()
    assert said not in studio_of("designer").get("/admin/").content.decode()
    ApiKey.objects.update(expires_at=soon + dt.timedelta(days=2))
    assert said[:30] not in studio.get("/admin/").content.decode()


@pytest.mark.parametrize("group", ["Viewer", "Designer", "Publisher"])
def test_only_administrators_see_keys(make: Callable[..., str], group: str) -> None:
    make()
    user = get_user_model().objects.create_user("vera", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    studio = studio_of("vera")
    row = ApiKey.objects.get()
    for path in (LIST, ADD, f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/delete/"):
        assert studio.get(path).status_code == 403
    assert studio.post(ADD, form(name="Mine")).status_code == 403
    assert LIST not in studio.get("/admin/").content.decode()


def test_who_may_only_look_makes_and_revokes_none(make: Callable[..., str]) -> None:
    make()
    user = get_user_model().objects.create_user("vera", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    studio = studio_of("vera")
    row = ApiKey.objects.get()
    assert studio.get(f"{LIST}{row.pk}/change/").status_code == 200
    assert studio.post(ADD, form(name="Mine")).status_code == 403
    assert studio.post(f"{LIST}{row.pk}/change/", form(active="")).status_code == 403
    studio.post(LIST, {"action": "revoke", "_selected_action": [row.pk]})
    assert ApiKey.objects.get().active


def test_administrators_that_there_were_may_keep_keys() -> None:
    held = Group.objects.get(name="Administrator").permissions.filter(codename__endswith="_apikey")
    assert {permission.codename for permission in held} == {
        "add_apikey", "change_apikey", "delete_apikey", "view_apikey"
    }  # fmt: skip
