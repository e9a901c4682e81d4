"""Who may do what in the studio, two-factor login, lock-out, and the audit log of it all."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice
from lxml import html as markup

from designer.models import AuditEntry, Endpoint, Module, Role
from tests.callers import account
from tests.designer.studio import change_url, errors, filled, page, send, send_and_let_in

PASSWORD = "a long one of its own"


def _member(group: str) -> Client:
    user = User.objects.create_user(f"a-{group.lower()}", password=PASSWORD, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _login(name: str, password: str = PASSWORD, code: str = "") -> tuple[Client, Any]:
    client = Client()
    data = {"username": name, "password": password, "code": code, "next": "/admin/"}
    return client, client.post(reverse("admin:login"), data)


def _create() -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


PAGES = {
    "versions": {"Viewer", "Designer", "Publisher", "Administrator"},
    "releases": {"Viewer", "Designer", "Publisher", "Administrator"},
    "matrix": {"Viewer", "Designer", "Publisher", "Administrator"},
    "translations": {"Viewer", "Designer", "Publisher", "Administrator"},
    "usage": {"Viewer", "Designer", "Publisher", "Administrator"},
    "export": {"Viewer", "Designer", "Publisher", "Administrator"},
    "new_release": {"Publisher", "Administrator"},
    "import": {"Publisher", "Administrator"},
    "audit": {"Administrator"},
}


@pytest.mark.parametrize("group", ["Viewer", "Designer", "Publisher", "Administrator"])
def test_each_group_opens_its_pages_and_no_other(portico: None, group: str) -> None:
    client = _member(group)
    opened = {name for name in PAGES if client.get(reverse(f"studio:{name}")).status_code == 200}
    assert opened == {name for name, groups in PAGES.items() if group in groups}
    sidebar = client.get("/admin/").content.decode()
    assert (reverse("studio:import") in sidebar) == (group in PAGES["import"])
    accounts = client.get(reverse("admin:auth_user_changelist")).status_code
    assert (accounts == 200) == (group == "Administrator")


def test_an_account_made_in_the_studio_may_log_in_there(portico: None) -> None:
    administrator = _member("Administrator")
    data = {"username": "nora", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    assert administrator.post(reverse("admin:auth_user_add"), data).status_code == 302
    User.objects.get(username="nora").groups.add(Group.objects.get(name="Viewer"))
    client, answer = _login("nora")
    assert answer.status_code == 302
    assert client.get("/admin/").status_code == 200


def test_deleting_a_group_says_what_goes_by_name(portico: None) -> None:
    """What only joins a group to its rights and members is neither listed nor counted: these stay."""
    group = Group.objects.get(name="Viewer")
    answer = _member("Administrator").get(reverse("admin:auth_group_delete", args=[group.pk]))
    assert " object (" not in answer.content.decode()
    assert group.permissions.count() > 0
    assert dict(answer.context["model_count"]) == {"groups": 1}


@pytest.mark.parametrize(("group", "status"), [("Viewer", 403), ("Designer", 302), ("Publisher", 302)])
def test_a_viewer_saves_nothing_and_a_designer_may(portico: None, group: str, status: int) -> None:
    module = Module.objects.get(segment="sales")
    data = {"segment": "sales", "title": "Changed", "description": ""}
    assert send(_member(group), change_url(module), data).status_code == status


@pytest.mark.parametrize("url", ["studio:restore_version", "studio:restore_release"])
def test_a_designer_restores_nothing(portico: None, url: str) -> None:
    assert _member("Designer").post(reverse(url, args=[1])).status_code == 403


def test_who_may_call_what_writes_is_for_a_publisher(portico: None) -> None:
    url = change_url(_create())
    for group, accepted in (("Designer", False), ("Publisher", True)):
        client = _member(group)
        data = filled(page(client, url)) | {"callers": [Role.objects.get(name="support").pk]}
        answer = send_and_let_in(client, url, data)
        assert (answer.status_code == 302) == accepted
        if not accepted:
            assert "only a publisher may change who calls it" in " ".join(errors(answer))
    assert [role.name for role in _create().roles.all()] == ["support"]


def test_a_designer_may_change_who_reads(portico: None) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts")
    client = _member("Designer")
    data = filled(page(client, change_url(row))) | {"callers": [Role.objects.get(name="support").pk]}
    assert send(client, change_url(row), data).status_code == 302


def test_a_designer_switches_a_writing_draft_on_for_callers_with_a_token_only(portico: None) -> None:
    row = _create()
    Endpoint.objects.filter(pk=row.pk).update(enabled=False)
    client = _member("Designer")
    data = filled(page(client, change_url(row))) | {"enabled": "on"}
    open_to_all = {name: value for name, value in data.items() if name != "authentication_required"}
    assert send(client, change_url(row), open_to_all | {"callers": []}).status_code == 200
    assert send(client, change_url(row), data).status_code == 302


def _codes(user: str) -> str:
    device = TOTPDevice.objects.get(user__username=user)
    totp = TOTP(device.bin_key)
    totp.time = time.time()
    return f"{totp.token():06d}"


def test_two_factor_login_asks_for_a_code_once_it_is_set_up(portico: None) -> None:
    client = _member("Designer")
    url = reverse("studio:two_factor")
    client.post(url, {"step": "begin"})
    assert "data:image/svg+xml" in page(client, url).content.decode()
    assert _login("a-designer")[1].status_code == 302
    assert client.post(url, {"step": "confirm", "code": "1"}).status_code == 422
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    client.post(url, {"step": "confirm", "code": _codes("a-designer")})
    assert "Write the code" in _login("a-designer")[1].content.decode()
    assert "not the code" in _login("a-designer", code="000000")[1].content.decode()
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None, last_t=-1)
    assert _login("a-designer", code=_codes("a-designer"))[1].status_code == 302
    # A code is good for one login.
    assert _login("a-designer", code=_codes("a-designer"))[1].status_code == 200


def test_an_administrator_switches_two_factor_login_off_for_who_lost_the_phone(portico: None) -> None:
    _member("Designer")
    lost = User.objects.get(username="a-designer")
    TOTPDevice.objects.create(user=lost, confirmed=True)
    data = {"action": "end_two_factor", "_selected_action": [lost.pk]}
    assert _member("Administrator").post(reverse("admin:auth_user_changelist"), data).status_code == 302
    assert not TOTPDevice.objects.exists()
    assert AuditEntry.objects.filter(action="two-factor", account="a-administrator").exists()


def test_too_many_failed_logins_lock_the_name_out_and_are_in_the_audit_log(
    portico: None, settings: Any
) -> None:
    _member("Viewer")
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(3):
        _login("a-viewer", "wrong")
    assert _login("a-viewer")[1].status_code == 429
    failed = AuditEntry.objects.filter(action="login-failed", account="a-viewer")
    assert failed.count() >= 3
    assert failed[0].address == "127.0.0.1"


def test_what_is_done_in_the_studio_is_in_the_audit_log_without_what_was_typed(dora: Client) -> None:
    module = Module.objects.get(segment="sales")
    data = filled(page(dora, change_url(module))) | {"title": "Top secret"}
    send(dora, change_url(module), data)
    entry = AuditEntry.objects.get(action="change")
    assert (entry.account, entry.subject) == ("designer", "module: Top secret")
    assert "Top secret" not in entry.detail
    text = page(_member("Administrator"), reverse("studio:audit") + "?account=designer").content.decode()
    assert "Changed" in text


def test_the_history_of_an_account_is_what_the_audit_log_has_about_it(portico: None) -> None:
    administrator = _member("Administrator")
    nora, berta = (User.objects.create_user(name, is_staff=True) for name in ("nora", "berta"))
    for member in (nora, berta):
        url = reverse("admin:auth_user_change", args=[member.pk])
        administrator.post(url, {**filled(page(administrator, url)), "first_name": "Changed"})

    answer = administrator.get(reverse("admin:auth_user_history", args=[nora.pk]), follow=True)

    assert answer.redirect_chain == [(reverse("studio:audit") + "?about=studio+account%3A+nora", 302)]
    assert [entry.subject for entry in answer.context["page"]] == ["studio account: nora"]
    assert 'name="about" value="studio account: nora"' in answer.content.decode()


def test_who_may_not_read_the_audit_log_finds_nothing_of_it_in_a_history(portico: None) -> None:
    [row] = Endpoint.objects.all()[:1]
    publisher = _member("Publisher")
    nora = User.objects.create_user("nora", is_staff=True)

    assert publisher.get(reverse("admin:auth_user_history", args=[nora.pk])).status_code == 403
    assert publisher.get(reverse("admin:designer_endpoint_history", args=[row.pk])).status_code == 302
    assert publisher.get(reverse("studio:audit") + "?about=nora").status_code == 403


def test_the_api_writes_nothing_into_the_audit_log_of_the_studio(portico: None) -> None:
    before = AuditEntry.objects.count()
    account("rep")
    assert AuditEntry.objects.count() == before


def test_the_page_of_a_group_offers_permissions_in_the_studios_words(portico: None) -> None:
    """And keeps those that it does not offer, such as those of tables without a page."""
    administrator, group = _member("Administrator"), Group.objects.get(name="Administrator")
    url = reverse("admin:auth_group_change", args=[group.pk])
    shown = administrator.get(url)
    document: Any = markup.document_fromstring(shown.content.decode())
    text = " ".join(document.text_content().split())
    for words in ("Endpoints May view May add May change May delete", "Can try endpoints and run queries"):
        assert words in text
    assert "Can add" not in text
    assert "content type" not in text
    before = set(group.permissions.values_list("codename", flat=True))
    assert "add_permission" in before
    ticked = document.xpath("//input[@name='permissions'][@checked]")
    taken = str(Permission.objects.get(codename="delete_endpoint").pk)
    assert taken in [box.get("value") for box in ticked]
    left = [box.get("value") for box in ticked if box.get("value") != taken]
    assert administrator.post(url, {"name": group.name, "permissions": left}).status_code == 302
    assert before - set(group.permissions.values_list("codename", flat=True)) == {"delete_endpoint"}
    administrator.cookies["django_language"] = "de"
    assert "Darf ansehen" in administrator.get(url).content.decode()


def test_the_pages_of_studio_accounts_call_them_so(portico: None) -> None:
    administrator, dora = _member("Administrator"), User.objects.get(username="designer")
    pages = [
        reverse("admin:auth_user_changelist"),
        reverse("admin:auth_user_add"),
        *(reverse(f"admin:auth_user_{name}", args=[dora.pk]) for name in ("change", "delete")),
    ]
    for url in pages:
        shown: Any = markup.document_fromstring(administrator.get(url).content.decode())
        heading = " ".join([shown.findtext(".//title"), *(one.text_content() for one in shown.xpath("//h1"))])
        text = " ".join(shown.text_content().split())
        assert "Studio accounts" in text, url
        assert not re.search(r"\busers?\b", heading, re.IGNORECASE), heading
    answer = administrator.post(pages[2], filled(administrator.get(pages[2])), follow=True)
    assert "The studio account “" in answer.content.decode()


def test_the_audit_log_says_in_words_what_a_group_may_do_now(portico: None) -> None:
    admin = User.objects.get(username="admin")
    client = Client()
    client.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    client.cookies["django_language"] = "de"
    url = reverse("admin:auth_group_add")
    given = Permission.objects.filter(codename__in=["change_endpoint", "add_relatedcolumn", "restore"])
    data = filled(page(client, url)) | {"name": "Helpers", "permissions": [one.pk for one in given]}
    assert send(client, url, data).status_code == 302
    noted = AuditEntry.objects.latest("id").detail
    assert "+can restore versions and releases" in noted
    assert "+may change endpoints" in noted
    assert "+may add columns of user properties" in noted
