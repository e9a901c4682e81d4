"""What surrounds the studio's pages: dashboard, tree, palette, usage, and metadata that drifts."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crmbox.platform import EmbeddedPlatform
from crmclient.errors import Unavailable
from crmclient.metadata import Attribute
from designer.access_control.groups import VIEWER
from designer.history.recording import record_outside
from designer.loading import latest
from designer.models import (
    AuditEntry,
    Endpoint,
    EndpointCalls,
    EndpointRole,
    ExposedEntity,
    Input,
    Module,
    RecordedItem,
    Role,
    RowRuleEntry,
    UserProperty,
)
from designer.overview import forget, overview
from designer.readiness import State
from designer.studio.breakable_paths import breakable
from runtime.serving.usage import Usage
from tests.callers import Caller
from tests.designer.counting import queries
from tests.designer.rows import endpoint
from tests.designer.studio import change_url, filled, page, send
from tests.designer.two_people import while_it_waits

DASHBOARD = "/admin/"
# Measured, with room for a few: more means that a page has begun to ask row by row.
MOST_QUERIES = {
    "admin:index": 14,
    "studio:versions": 15,
    "studio:releases": 11,
    "studio:matrix": 10,
    "studio:translations": 10,
    "studio:usage": 11,
    "studio:export": 10,
    "studio:audit": 11,
    "studio:palette": 10,
}


def _text(client: Client, url: str = DASHBOARD) -> str:
    text: str = page(client, url).content.decode()
    return text


@pytest.fixture
def admin(portico: None, django_user_model: Any) -> Client:
    client = Client()
    account = django_user_model.objects.get(username="admin")
    client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _make_many(count: int = 8) -> None:
    for at in range(count):
        endpoint(f"many-{at}", title=str(at))


@pytest.mark.parametrize("name", MOST_QUERIES)
def test_a_page_costs_the_same_queries_whatever_there_is(admin: Client, name: str) -> None:
    record_outside()
    before = queries(admin, reverse(name))
    _make_many()
    record_outside()
    assert queries(admin, reverse(name)) <= before + 1
    assert before <= MOST_QUERIES[name]


def test_the_dashboard_says_what_state_everything_is_in(dora: Client) -> None:
    text = _text(dora)
    assert "POST /api<wbr>/sales<wbr>/leads</code></a>: Anyone may write through this endpoint" in text
    Input.objects.filter(endpoint__kind="create", endpoint__entity__segment="accounts").delete()
    assert overview().counts[State.BLOCKED] == 1
    assert "which is not defined" in _text(dora)


def _figures(client: Client) -> dict[str, int]:
    """The numbers at the head of the dashboard, by what they count."""
    figures = re.findall(r"<dt>(?:<span[^>]*>)?([^<]+)(?:</span>)?</dt><dd>(\d+)</dd>", _text(client))
    return {name: int(number) for name, number in figures}


def test_the_dashboard_counts_states_calls_and_errors_of_the_last_day(dora: Client) -> None:
    before = _figures(dora)
    assert before == {**dict.fromkeys(before, 0), "Ready": Endpoint.objects.count()}
    Endpoint.objects.filter(kind="delete").update(enabled=False)
    Input.objects.filter(endpoint__kind="create", endpoint__entity__segment="accounts").delete()
    now = timezone.now()
    for hours, failed in ((1, 2), (30, 40)):
        at = now - dt.timedelta(hours=hours)
        EndpointCalls.objects.create(
            endpoint="sales.accounts.read", hour=at, calls=5 + failed, failed=failed, last_at=at
        )
    drafts = Endpoint.objects.filter(enabled=False).count()
    assert _figures(dora) == {
        "Ready": before["Ready"] - drafts - 1,
        "Degraded": 0,
        "Blocked": 1,
        "Draft": drafts,
        "Calls, last day": 7,
        "Errors (5xx)": 2,
    }


def test_the_dashboard_shows_what_was_changed_last(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    send(dora, change_url(row), filled(page(dora, change_url(row))) | {"title": "Another title"})
    panel = _text(dora).partition("Recent changes")[2].partition("</section>")[0]
    assert "designer" in panel
    assert "Another title" in panel


@pytest.mark.parametrize(
    ("model", "offered"),
    [
        ("endpoint", "studio:expose"),
        ("exposedentity", "studio:expose"),
        ("module", "admin:designer_module_add"),
        ("role", "admin:designer_role_add"),
        ("userproperty", "admin:designer_userproperty_add"),
        ("optionset", "admin:designer_optionset_add"),
    ],
)
def test_an_empty_list_says_what_it_is_for_and_offers_the_next_step(
    dora: Client, model: str, offered: str
) -> None:
    url = reverse(f"admin:designer_{model}_changelist")
    searched = _text(dora, f"{url}?q=zzzz").partition("studio-empty")[2]
    assert "Nothing matches" in searched
    for model_class in (Endpoint, ExposedEntity, Module, Role, UserProperty):
        model_class.objects.all().delete()
    shown = _text(dora, url).partition("studio-empty")[2]
    assert " yet." in shown
    assert reverse(offered) in shown


def test_a_title_that_says_what_it_does_is_not_said_twice(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    for title, shown in (("Create: Contact", "Create: Contact"), ("A contact", "Create: A contact")):
        row.title = title
        assert str(row) == shown


def test_an_empty_studio_says_what_to_do_first(dora: Client) -> None:
    Endpoint.objects.all().delete()
    ExposedEntity.objects.all().delete()
    Module.objects.all().delete()
    assert reverse("admin:designer_module_add") in _text(dora)


def test_the_tree_shows_modules_entities_and_endpoints_with_their_state(dora: Client) -> None:
    text = _text(dora)
    assert "Local option set: industries" in text
    assert "Processes" in text
    Endpoint.objects.filter(kind="delete").update(enabled=False)
    assert "studio-sign-draft" in _text(dora)


def test_a_large_module_shows_the_endpoints_of_the_entity_at_hand_only(dora: Client) -> None:
    sales = Module.objects.get(segment="sales")
    exposed = ExposedEntity.objects.create(module=sales, entity="account", segment="bulk")
    Endpoint.objects.bulk_create(
        Endpoint(kind="action", module=sales, entity=exposed, name=f"act-{at}") for at in range(60)
    )
    assert "Action: act-7" not in _text(dora)
    row = Endpoint.objects.get(name="act-7")
    assert "Action: act-8" in _text(dora, reverse("admin:designer_endpoint_change", args=[row.pk]))


def _found(client: Client, words: str) -> list[dict[str, str]]:
    answer = page(client, reverse("studio:palette") + f"?q={words}")
    entries: list[dict[str, str]] = json.loads(answer.content)["entries"]
    return entries


def test_the_palette_finds_endpoints_entities_roles_and_pages(dora: Client) -> None:
    assert _found(dora, "accounts+update")[0]["title"] == "PATCH, PUT /api/sales/accounts/{id}"
    assert _found(dora, "matrix")[0]["link"] == reverse("studio:matrix")
    assert any("sales-rep" in entry["title"] for entry in _found(dora, "sales-rep"))
    assert any("sales/leads" in entry["title"] for entry in _found(dora, "lead"))
    assert _found(dora, "nothing-like-it") == []
    assert all(entry["title"] != "Studio accounts" for entry in _found(dora, "accounts"))


def test_calls_are_counted_by_endpoint_and_outcome(dora: Client, rita: Caller, monkeypatch: Any) -> None:
    usage = Usage()
    monkeypatch.setattr("runtime.serving.dispatch.usage", usage)
    rita.post("/api/sales/accounts", {"name": "A"})
    rita.post("/api/sales/accounts", {"odd": "A"})
    rita.get("/api/sales/nothing")
    usage.flush()
    rita.post("/api/sales/accounts", {"name": "B"})
    usage.flush()
    row = EndpointCalls.objects.get()
    assert (row.endpoint, row.calls, row.refused, row.failed) == ("sales.accounts.create", 3, 1, 0)
    assert re.search(r"POST /api<wbr>/sales<wbr>/accounts</code></a></th><td[^>]*>3<", _text(dora))
    text = _text(dora, reverse("studio:usage"))
    assert f"{row.last_at:%Y-%m-%d %H:%M}" in text
    assert "never" in text


def test_counts_that_could_not_be_written_are_kept(portico: None, monkeypatch: Any) -> None:
    usage = Usage()
    usage.count("a", 500)

    def fail(*args: Any) -> None:
        raise DatabaseError

    with monkeypatch.context() as broken:
        broken.setattr(Usage, "_add", fail)
        with pytest.raises(DatabaseError):
            usage.flush()
    usage.count("a", 200)
    usage.flush()
    row = EndpointCalls.objects.get()
    assert (row.calls, row.failed) == (2, 1)


@pytest.fixture
def shorter_names(portico: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the platform, names of accounts may be 10 characters long from now on."""
    record_outside()
    attributes = EmbeddedPlatform.attributes

    def changed(self: EmbeddedPlatform, entity: str) -> dict[str, Attribute]:
        by_name = dict(attributes(self, entity))
        if entity == "account":
            by_name["name"] = replace(by_name["name"], max_length=10)
        return by_name

    monkeypatch.setattr(EmbeddedPlatform, "attributes", changed)
    forget()


def test_metadata_that_changes_under_an_endpoint_degrades_it_until_it_is_accepted(
    dora: Client, shorter_names: None
) -> None:
    assert overview().counts[State.DEGRADED] >= 1
    text = _text(dora)
    assert "characters when this was saved, and holds 10 now" in text
    out = io.StringIO()
    call_command("checkconfig", "--json", stdout=out)
    report = json.loads(out.getvalue())
    assert report["states"]["degraded"] >= 1
    assert "metadata-drift" in {finding["rule"] for finding in report["findings"]}
    dora.post(reverse("studio:accept_metadata"))
    assert overview().counts.get(State.DEGRADED, 0) == 0


def test_metadata_is_accepted_for_one_endpoint_on_its_page(dora: Client, shorter_names: None) -> None:
    before = overview()
    degraded = before.counts[State.DEGRADED]
    row = next(id for id, state in before.states.items() if state is State.DEGRADED)
    url = reverse("admin:designer_endpoint_change", args=[row])
    assert "holds 10 now" in _text(dora, url)
    assert dora.post(reverse("studio:accept_metadata"), {"endpoint": row}).headers["Location"] == url
    assert overview().counts.get(State.DEGRADED, 0) == degraded - 1
    assert "holds 10 now" not in _text(dora, url)


def test_metadata_is_accepted_while_somebody_else_saves_or_deletes(dora: Client, shorter_names: None) -> None:
    first, second = [id for id, state in overview().states.items() if state is State.DEGRADED][:2]
    deletion = reverse("admin:designer_endpoint_delete", args=[first])
    with while_it_waits(lambda: dora.post(deletion, {"post": "yes"}), may_raise=True):
        assert dora.post(reverse("studio:accept_metadata")).status_code == 302
    assert first not in overview().states
    assert overview().counts.get(State.DEGRADED, 0) == 0
    assert RecordedItem.objects.get(collection="endpoints", key=latest().endpoints[second].definition.key)


def test_metadata_that_is_always_up_to_date_is_not_offered_to_be_refreshed(dora: Client) -> None:
    said = _text(dora, reverse("studio:platform"))
    assert "always up to date" in said
    assert "<button" not in said


def test_who_opens_the_address_of_the_platforms_state_sees_the_dashboard(dora: Client) -> None:
    """The state is a part of pages: by itself, it has neither a sidebar nor a style."""
    opened = dora.get(reverse("studio:platform"), headers={"Accept": "text/html,application/xml;q=0.9"})
    assert (opened.status_code, opened.headers["Location"]) == (302, f"{DASHBOARD}#platform")
    assert 'id="platform"' in _text(dora)


def test_the_dashboard_says_how_many_more_changes_a_version_has(dora: Client) -> None:
    form = page(dora, f"{reverse('studio:expose')}?entity=contact").context["form"]
    data = {bound.html_name: bound.value() for bound in form}
    sent = {name: value for name, value in data.items() if value not in (None, False)}
    assert dora.post(f"{reverse('studio:expose')}?entity=contact", sent).status_code == 302
    panel = _text(dora).partition("Recent changes")[2].partition("</li>")[0]
    assert "… and 3 more" in panel


def test_the_page_at_hand_is_marked_once_in_the_tree(dora: Client) -> None:
    row = Endpoint.objects.get(kind="create", entity__segment="accounts")
    for address in (change_url(row), reverse("admin:designer_endpoint_changelist")):
        [marked] = re.findall(r'<a href="([^"]*)" class="active"', _text(dora, address))
        assert marked == address


def test_the_endpoints_of_an_entity_lead_to_its_row_rule(dora: Client) -> None:
    exposed = ExposedEntity.objects.get(module__segment="sales", segment="accounts")
    address = reverse("admin:designer_exposedentity_change", args=[exposed.pk])
    listed = reverse("admin:designer_endpoint_changelist")
    link = f'<a href="{address}">Open the entity and its row rule</a>'
    assert link in _text(dora, f"{listed}?entity__id__exact={exposed.pk}")
    assert "Open the entity and its row rule" not in _text(dora, listed)
    assert "Open the entity and its row rule" not in _text(dora, f"{listed}?entity__id__exact={10**9}")


def test_metadata_is_looked_at_again_by_those_who_may(dora: Client) -> None:
    url = reverse("studio:refresh_metadata")
    assert "nothing is different" in dora.post(url).content.decode()
    assert AuditEntry.objects.latest("id").action == AuditEntry.Action.REFRESH
    vera = User.objects.create_user("vera", is_staff=True)
    vera.groups.add(Group.objects.get(name=VIEWER))
    dora.force_login(vera, backend="django.contrib.auth.backends.ModelBackend")
    assert dora.post(url).status_code == 403


def test_a_platform_that_is_away_leaves_every_page_open(dora: Client, monkeypatch: Any) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise Unavailable("no answer")

    for name in ("entities", "attributes", "option_set", "option_sets", "relationships", "who"):
        monkeypatch.setattr(EmbeddedPlatform, name, fail)
    forget()
    for name in ("admin:index", "studio:versions", "studio:matrix", "studio:export"):
        page(dora, reverse(name))
    assert "cannot be used at the moment" in _text(dora, reverse("studio:platform"))


def test_the_overview_checks_again_only_what_an_edit_may_have_changed(portico: None) -> None:
    """Its findings are those of a check of everything, after every kind of edit."""
    edits = (
        lambda: Endpoint.objects.filter(kind="read").update(title="Other"),
        lambda: Endpoint.objects.filter(kind="create").update(
            segment="same", module=Module.objects.get(segment="sales")
        ),
        lambda: UserProperty.objects.all().delete(),
        lambda: EndpointRole.objects.all().delete(),
        lambda: Endpoint.objects.filter(kind="update").delete(),
        lambda: ExposedEntity.objects.update(title="Other", description="Other"),
        lambda: ExposedEntity.objects.filter(segment="accounts").update(entity="contact"),
        lambda: RowRuleEntry.objects.all().delete(),
    )
    for edit in edits:
        overview()
        edit()
        seen = overview().findings
        forget()
        assert seen == overview().findings


@pytest.mark.django_db(transaction=True)
def test_the_title_of_an_entity_is_saved_without_judging_its_endpoints_again() -> None:
    module = Module.objects.create(segment="shop")
    exposed = ExposedEntity.objects.create(module=module, segment="things", entity="account")
    row = Endpoint.objects.create(kind="delete", module=module, entity=exposed, enabled=True)
    before = overview()
    ExposedEntity.objects.update(title="Other", description="Other")
    after = overview()
    assert after.configuration is not before.configuration
    assert before.of(row.pk)
    assert after.of(row.pk) is before.of(row.pk)
    ExposedEntity.objects.update(entity="contact")
    assert overview().of(row.pk) is not after.of(row.pk)


def test_the_palette_forgives_a_slip_of_the_finger(dora: Client) -> None:
    assert _found(dora, "permision+matrx")[0]["link"] == reverse("studio:matrix")
    titles = {entry["title"] for entry in _found(dora, "acounts+updte")}
    assert "PATCH, PUT /api/sales/accounts/{id}" in titles


def test_the_palette_makes_what_is_asked_for(dora: Client) -> None:
    assert _found(dora, "new+role")[0]["link"] == reverse("admin:designer_role_add")
    query = _found(dora, "new+single+query")[0]["link"]
    assert page(dora, query).context["adminform"].form.initial["kind"] == "single-query"


def test_only_what_an_account_may_make_is_offered(portico: None) -> None:
    vera = Client()
    account = User.objects.create_user("vera", is_staff=True)
    account.groups.add(Group.objects.get(name=VIEWER))
    vera.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    assert _found(vera, "new") == []
    assert "studio-add" not in _text(vera)


def test_the_tree_comes_before_the_tools_and_adds_where_one_is(dora: Client) -> None:
    tree = _text(dora).partition('id="nav-sidebar-apps"')[2]
    assert tree.index(">Sales<") < tree.index(">Versions<")
    sales, exposed = Module.objects.get(segment="sales"), ExposedEntity.objects.get(segment="leads")
    add = reverse("admin:designer_endpoint_add")
    for place, here, elsewhere in (
        (f"?module={sales.pk}", "multi-query", "create"),
        (f"?entity={exposed.pk}", "create", "multi-query"),
    ):
        assert f'href="{add}{place}"' in tree
        form = page(dora, add + place).context["adminform"].form
        offered = {name for name, _label in form.fields["kind"].choices}
        assert here in offered
        assert elsewhere not in offered


@pytest.mark.parametrize("model", ["group", "user"])
def test_the_way_to_every_page_begins_at_the_studio(portico: None, model: str) -> None:
    client, admin = Client(), User.objects.get(username="admin")
    client.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    row = admin if model == "user" else Group.objects.get(name=VIEWER)
    text = page(client, reverse(f"admin:auth_{model}_change", args=[row.pk])).content.decode()
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
    assert heading is not None
    first = re.search(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', heading[1])
    assert first is not None
    assert (first[1], first[2]) == ("/admin/", "Studio")


def test_a_page_that_adds_something_says_what(dora: Client) -> None:
    heading = re.search(r"<h1.*?</h1>", _text(dora, reverse("admin:designer_role_add")), re.DOTALL)
    assert heading is not None
    assert "Add role" in heading[0]


def test_a_path_is_broken_before_its_slashes() -> None:
    assert breakable("/api/sales/{id}") == "/api<wbr>/sales<wbr>/{id}"
    assert breakable("GET /a<b>/c") == "GET /a&lt;b&gt;<wbr>/c"
    assert breakable("Sales") == "Sales"


def test_the_tree_tells_two_endpoints_of_one_kind_apart(dora: Client) -> None:
    exposed = ExposedEntity.objects.get(segment="accounts")
    Endpoint.objects.create(kind="create", entity=exposed, segment="companies", enabled=False)
    leaves = re.findall(r'class="studio-leaf".*?</span> ([^<]*)</span>', _text(dora), re.DOTALL)
    assert "Create: companies" in leaves
    assert "Create" in leaves


def test_the_page_of_an_accounts_password_is_named_for_what_it_does(admin_client: Client) -> None:
    account = User.objects.create_user("somebody", is_staff=True)
    heading = admin_client.get(reverse("admin:auth_user_password_change", args=[account.pk]))
    named = re.search(r"<h1.*?</h1>", heading.content.decode(), re.DOTALL)
    assert named is not None
    assert "Change password" in named[0]
    assert "Add studio account" not in named[0]
    added = admin_client.get(reverse("admin:auth_user_add")).content.decode()
    assert "Add studio account" in added
    assert "Save the account first. Then choose its groups" in added
