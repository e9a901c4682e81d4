"""The studio's page of API accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.test import Client

from crmbox.demo import people
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import Unavailable
from designer.models import Role
from designer.platform import get_platform
from runtime.callers.failed_logins import FailedLogins
from runtime.models import ApiAccount, ApiKey
from tests.callers import Caller, account

pytestmark = pytest.mark.usefixtures("portico")

LIST = "/admin/runtime/apiaccount/"
ADD = f"{LIST}add/"
PASSWORD = "a long and winding road"


@pytest.fixture
def studio() -> Client:
    client = Client()
    admin = get_user_model().objects.get(username="admin")
    client.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page_of(username: str) -> str:
    return f"{LIST}{ApiAccount.objects.get(user__username=username).pk}/change/"


def form(username: str = "petra", password: str = PASSWORD, **changes: Any) -> dict[str, Any]:
    return {
        "username": username,
        "password": password,
        "active": "on",
        "caller_type": "user",
        "platform_user": "",
        **changes,
    }


def errors(answer: Any) -> dict[str, list[str]]:
    assert answer.status_code == 200
    return dict(answer.context["adminform"].form.errors)


def test_a_page_that_was_opened_before_gives_nothing_back(studio: Client) -> None:
    """Two administrators on one page: the second one does not undo what the first one has done."""
    manager, rep = (Role.objects.get(name=name) for name in ("sales-manager", "sales-rep"))
    studio.post(ADD, form(roles=[manager.pk, rep.pk]))
    address = page_of("petra")

    def opened() -> dict[str, Any]:
        shown = re.search(r'name="_shown" value="(.+?)"', studio.get(address).content.decode())
        return {"_shown": shown[1]} if shown else {}

    both = opened()
    without_manager = form(password="", roles=[rep.pk])
    assert studio.post(address, both | without_manager).status_code == 302
    stale = form(password="", roles=[manager.pk, rep.pk], rate="60")
    refused = studio.post(address, both | stale)
    assert "roles: −sales-manager." in errors(refused)["__all__"][0]
    row = ApiAccount.objects.get(user__username="petra")
    assert ([role.name for role in row.roles.all()], row.rate) == (["sales-rep"], 0)
    # What was typed is still there, and what somebody sends who has read that counts.
    page = refused.content.decode()
    assert 'value="60"' in page
    again = re.search(r'name="_shown" value="(.+?)"', page)
    assert again
    assert studio.post(address, {"_shown": again[1]} | stale).status_code == 302
    row.refresh_from_db()
    assert (row.roles.count(), row.rate) == (2, 60)


def test_an_account_page_that_was_opened_before_takes_no_address_back(studio: Client) -> None:
    account = get_user_model().objects.get(username="designer")
    address = f"/admin/auth/user/{account.pk}/change/"
    shown = studio.get(address).context
    fields = shown["adminform"].form
    data = {name: fields[name].value() for name in fields.fields if fields[name].value() not in (None, False)}
    data |= {"_shown": shown["shown_state"]}
    get_user_model().objects.filter(pk=account.pk).update(email="dora@new.example", last_name="New")
    refused = studio.post(address, data).content.decode()
    assert "→ dora@new.example" in refused
    account.refresh_from_db()
    assert (account.email, account.last_name) == ("dora@new.example", "New")


@pytest.mark.parametrize("model", ["auth/user", "auth/group", "runtime/apikey"])
def test_pages_of_rights_tell_what_they_were_opened_with(studio: Client, model: str) -> None:
    made = {
        "auth/user": get_user_model().objects.get(username="admin"),
        "auth/group": Group.objects.get(name="Designer"),
        "runtime/apikey": ApiKey(name="Nightly", caller_type_id="service"),
    }[model]
    if isinstance(made, ApiKey):
        made.make()
        made.save()
    answer = studio.get(f"/admin/{model}/{made.pk}/change/")
    assert 'name="_shown"' in answer.content.decode()


def test_an_account_made_in_the_studio_gets_tokens_with_its_roles(studio: Client) -> None:
    role = Role.objects.get(name="sales-rep")
    answer = studio.post(ADD, form(roles=[role.pk], platform_user=people.RITA_REP))
    assert answer.status_code == 302
    petra = account("petra", PASSWORD)
    assert petra.get("/api/context").json()["user"]["fullName"] == "Rita Rep"
    assert petra.post("/api/sales/accounts", {"name": "Contoso"}).status_code == 200


def test_an_account_made_in_the_studio_opens_no_studio(studio: Client) -> None:
    studio.post(ADD, form())
    user = get_user_model().objects.get(username="petra")
    assert not user.is_staff
    visitor = Client()
    visitor.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    assert visitor.get("/admin/").status_code == 302


def test_accounts_of_the_api_and_of_the_studio_are_listed_apart(studio: Client) -> None:
    listed = studio.get("/admin/auth/user/").context["cl"].queryset.values_list("username", flat=True)
    assert set(listed) == {"designer", "admin"}
    shown = studio.get(LIST).context["cl"].queryset.values_list("user__username", flat=True)
    assert set(shown) == {"rep", "manager", "agent", "customer", "customer2"}


def test_platform_users_are_chosen_by_name(studio: Client) -> None:
    page = studio.get(ADD).content.decode()
    assert f'value="{people.RITA_REP}"' in page
    assert "Rita Rep (rita.rep@contoso.example)" in page
    assert re.search(r"Gregor Gone [^<]*disabled", page)


def test_a_user_that_the_platform_does_not_have_cannot_be_chosen(studio: Client) -> None:
    assert errors(studio.post(ADD, form(platform_user="11111111-1111-1111-1111-111111111111"))).keys() == {
        "platform_user"
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "rep"}, "username"),
        ({"username": "designer"}, "username"),
        ({"username": "two words"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"password": ""}, "password"),
        ({"password": "short"}, "password"),
        ({"password": "password1234"}, "password"),
    ],
    ids=str,
)
def test_a_wrong_field_is_named_and_nothing_typed_is_lost(
    studio: Client, changes: dict[str, str], field: str
) -> None:
    before = get_user_model().objects.count()
    answer = studio.post(ADD, form(**changes) | {"platform_user": people.AYA_AGENT})
    assert errors(answer).keys() == {field}
    assert f'value="{people.AYA_AGENT}" selected' in answer.content.decode()
    assert get_user_model().objects.count() == before


def test_a_new_password_ends_what_the_old_one_began(studio: Client) -> None:
    begun = Caller().post("/api/token", {"username": "rep", "password": "demo"}).json()
    studio.post(page_of("rep"), form("rep", platform_user=people.RITA_REP))
    assert Caller().post("/api/token/refresh", {"refresh": begun["refresh"]}).status_code == 401
    assert Caller().post("/api/token", {"username": "rep", "password": "demo"}).status_code == 401
    account("rep", PASSWORD)


def test_an_empty_password_keeps_the_present_one(studio: Client) -> None:
    begun = Caller().post("/api/token", {"username": "rep", "password": "demo"}).json()
    studio.post(page_of("rep"), form("rep2", password="", platform_user=people.MAX_MANAGER))
    assert Caller().post("/api/token/refresh", {"refresh": begun["refresh"]}).status_code == 200
    assert account("rep2").get("/api/context").json()["user"]["fullName"] == "Max Manager"


def test_a_closed_account_gets_no_tokens(studio: Client) -> None:
    changed = form("rep", password="")
    del changed["active"]
    studio.post(page_of("rep"), changed)
    assert Caller().post("/api/token", {"username": "rep", "password": "demo"}).status_code == 401


def test_deleting_an_account_deletes_its_user(studio: Client) -> None:
    studio.post(page_of("rep").replace("change", "delete"), {"post": "yes"})
    assert not get_user_model().objects.filter(username="rep").exists()
    chosen = list(ApiAccount.objects.values_list("pk", flat=True))
    studio.post(LIST, {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
    assert not get_user_model().objects.filter(username__in=("manager", "agent")).exists()


def test_tokens_can_be_revoked(studio: Client) -> None:
    begun = Caller().post("/api/token", {"username": "rep", "password": "demo"}).json()
    chosen = ApiAccount.objects.get(user__username="rep").pk
    studio.post(LIST, {"action": "revoke_tokens", "_selected_action": [chosen]})
    assert Caller().post("/api/token/refresh", {"refresh": begun["refresh"]}).status_code == 401


def test_a_lock_out_can_be_lifted(studio: Client, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        Caller().post("/api/token", {"username": "rep", "password": "wrong"})
    assert Caller().post("/api/token", {"username": "rep", "password": "demo"}).status_code == 429
    chosen = ApiAccount.objects.get(user__username="rep").pk
    studio.post(LIST, {"action": "lift_lock_out", "_selected_action": [chosen]})
    assert not FailedLogins.objects.filter(account="rep").exists()
    account("rep")


def test_the_list_names_roles(studio: Client) -> None:
    page = studio.get(LIST).content.decode()
    assert "sales-manager" in page
    assert "agent" in page


def test_the_designer_does_not_change_accounts(dora: Client) -> None:
    assert dora.get(LIST).status_code == 403
    assert dora.post(ADD, form()).status_code == 403


def test_who_may_only_look_sees_an_account_without_its_password() -> None:
    viewer = get_user_model().objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_apiaccount"))
    client = Client()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(page_of("rep"))
    assert page.status_code == 200
    assert "sales-rep" in page.content.decode()
    assert 'name="password"' not in page.content.decode()
    assert client.post(page_of("rep"), form("rep")).status_code == 403


class _Unreachable:
    conventions = EmbeddedPlatform().conventions
    local_revision_sql = None

    def __getattr__(self, name: str) -> Any:
        def refuse(*args: object, **kwargs: object) -> None:
            raise Unavailable("not reachable")

        return refuse


@pytest.fixture
def unreachable(settings: Any) -> Iterator[None]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}._Unreachable"}
    get_platform.cache_clear()
    yield
    get_platform.cache_clear()


def test_while_the_platform_is_away_the_present_choice_is_kept(studio: Client, unreachable: None) -> None:
    page = studio.get(page_of("rep"))
    assert page.status_code == 200
    for words in ("not reachable", "Until then, you can only keep the present choice."):
        assert words in page.content.decode()
    answer = studio.post(page_of("rep"), form("rep", password="", platform_user=people.RITA_REP))
    assert answer.status_code == 302
    assert str(ApiAccount.objects.get(user__username="rep").record) == people.RITA_REP
