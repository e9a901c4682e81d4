"""Every action and every form of the studio: its permission, and its entry in the audit log.

Actions are found in the admin's registry and pages in the URL conf, so that a new one is among them. One that
takes a form must be named in `SENT`, with what makes it do something.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from crmbox.demo.people import RITA_REP
from designer.documents.document_writer import export, to_bytes
from designer.loading import load
from designer.models import (
    AuditEntry,
    CallerType,
    Endpoint,
    EnvironmentValue,
    ExposedEntity,
    Issuer,
    Module,
    OptionSet,
    Proposal,
    Release,
    Role,
    UserProperty,
    Version,
)
from designer.proposals.new_proposals import open_copy
from designer.studio.audited_pages import Audited
from runtime.callers.issuers.registration import Registration
from runtime.callers.own_tokens import issue
from runtime.callers.refusal_counts import RefusalCount, refusal_counts
from runtime.models import ApiAccount, ApiKey, FailedLogins, ProposalKey
from tests.designer.pages import ARGUMENT, OUTSIDE, routes
from tests.designer.rows import endpoint
from tests.designer.studio import confirmed, filled, page
from tests.runtime.queries import a_query

PASSWORD = "a long one of its own"
# Another module than that of the query has a row rule for them.
CASES = '<fetch><entity name="incident"><attribute name="title"/></entity></fetch>'
NAMED = '<filter><condition attribute="name" operator="eq" value="Zest"/></filter>'
# What is about a request and not about what it does.
_BESIDE = ("django_session", "django_admin_log", "designer_auditentry", "axes_")
# What everybody may change, since it is their own.
OWN = {"studio:two_factor", "studio:own_password", "admin:password_change", "studio:set_language"}
_OTHER = {"username": "else", "name": "else", "segment": "else"}
# Pages that the admin makes of every model.
_OF_MODELS = ("_add", "_change", "_delete", "_history", "_changelist")


class World:
    """The demo, with something of each kind that an action can be about."""

    def __init__(self) -> None:
        self.administrator = _member("Administrator")
        # All that there is to be looked at.
        self.viewer = _member("Viewer")
        looking = Permission.objects.filter(codename__startswith="view_")
        User.objects.get(username="a-viewer").user_permissions.set(looking)
        self.lost = User.objects.create_user("lost", password=PASSWORD, is_staff=True)
        TOTPDevice.objects.create(user=self.lost, confirmed=True)
        api = User.objects.create_user("program", password=PASSWORD)
        self.account = ApiAccount.objects.create(user=api)
        issue(api)
        for key in (ApiKey(name="spare"), ProposalKey(name="spare")):
            key.make()
            key.save()
        for user in (self.lost, api):
            now = dt.datetime.now(dt.UTC)
            FailedLogins.objects.create(account=user.username, failures=9, since=now, last_at=now)
        endpoint("spare", enabled=False)
        ExposedEntity.objects.create(
            module=Module.objects.create(segment="zeal"), segment="zest", entity="account"
        )
        Module.objects.create(segment="zeta")
        Role.objects.create(name="zealot")
        UserProperty.objects.create(name="zest", kind="custom", expression="1")
        CallerType.objects.create(name="zealot")
        EnvironmentValue.objects.create(name="ZEST", type="String", text="zest")
        Issuer.objects.create(name="Zest", issuer="https://zest.example", audiences=["zest"])
        Registration.objects.create(issuer="zest", subject="z", entity="contact", record=uuid.uuid4())
        now = dt.datetime.now(dt.UTC)
        # What others have counted is written when somebody looks.
        refusal_counts.flush()
        RefusalCount.objects.create(issuer="zest", reason="audience", day=now.date(), last_at=now)
        a_query("multi", CASES, name="past_rules")
        Group.objects.create(name="Zealots")
        open_copy("sales", "zest", "Other titles")
        OptionSet.objects.create(name="zest", enabled=False)
        example = {"name": "one", "anonymous": True, "status": 401}
        Endpoint.objects.filter(pk=_of("create").pk).update(example_calls=[example])
        proposed = page(self.administrator, reverse("studio:new_release")).context["form"]
        self.release = {bound.html_name: "" if bound.value() is None else bound.value() for bound in proposed}
        self.administrator.post(reverse("studio:new_release"), self.release)
        self.administrator.post(reverse("studio:matrix"), {"cell": f"{_of('create').pk}:sales-manager"})

    def row(self, model: Any) -> Any:
        """The last one that was made: nothing needs it."""
        rows = model._default_manager.order_by("-pk")
        if model is User:
            rows = rows.filter(username="lost")
        elif model is Module:
            rows = rows.filter(entities=None, endpoints=None)
        return rows.first()

    def path(self, name: str, path: str) -> str:
        """The address about something that there is."""
        if ARGUMENT.search(path) is None:
            return path
        pk = self._about(name).pk
        if name.endswith("_of_role"):
            return ARGUMENT.sub("zealot", ARGUMENT.sub(str(pk), path, count=1))
        return ARGUMENT.sub(str(pk), path)

    def _about(self, name: str) -> Any:
        if name.startswith("studio:"):
            if "propos" in name:
                return Proposal.objects.get()
            if "translations" in name:
                return Module.objects.get(segment="sales") if "module" in name else _of("create")
            # The last version is what there is: going back to it would do nothing.
            return Release.objects.get() if "release" in name else Version.objects.order_by("-pk")[1]
        if name == "admin:designer_endpoint_acknowledge":
            return Endpoint.objects.get(name="past_rules")
        if name.startswith("admin:designer_endpoint_example-call"):
            return _of("create")
        if name in ("admin:designer_endpoint_try", "admin:designer_endpoint_check"):
            return _of("create")
        if name == "admin:designer_endpoint_run":
            return Endpoint.objects.get(kind="multi-query", name="pipeline")
        if name.startswith("admin:designer_optionset_") and name.endswith(("try", "check", "run")):
            return OptionSet.objects.get(name="priorities")
        models = {f"admin:{model._meta.app_label}_{model._meta.model_name}_": model for model in _registry()}
        return self.row(next(model for prefix, model in models.items() if name.startswith(prefix)))


def _member(group: str) -> Client:
    user = User.objects.create_user(f"a-{group.lower()}", password=PASSWORD, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    return _studio(user.username)


def _studio(name: str) -> Client:
    client = Client()
    user = User.objects.get(username=name)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _registry() -> Mapping[Any, Any]:
    return admin.site._registry


def _of(kind: str) -> Endpoint:
    return Endpoint.objects.get(kind=kind, entity__segment="accounts")


def _document(world: World) -> dict[str, Any]:
    document = json.loads(to_bytes(export(load())))
    document["modules"][0]["title"] = "Imported"
    raw = json.dumps(document).encode()

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("c.json", raw)

    planned = world.administrator.post(reverse("studio:import"), {"document": file()})
    return {"document": file(), "digest": planned.context["trial"].digest}


def _undo(world: World) -> dict[str, Any]:
    """The click in the matrix."""
    return {"version": Version.objects.latest("pk").pk}


def _removal(world: World) -> dict[str, Any]:
    """An attribute left out wherever it is used, with the answer to the question."""
    asked = world.administrator.post(
        f"{reverse('studio:attribute')}{_ABOUT['studio:attribute']}", {"do": "remove"}
    )
    return {"do": "remove", "confirmed": asked.context["digest"]}


def _nothing(world: World) -> dict[str, Any]:
    return {}


def _try(world: World) -> dict[str, Any]:
    asked = page(world.administrator, reverse("admin:designer_endpoint_try", args=[_of("create").pk]))
    sent = {"caller": "token", "roles": ["sales-rep"], "user": RITA_REP, "mode": "real", "body__name": "A"}
    return sent | {"_call": asked.context["token"]}


def _row_rule(*role: str) -> Callable[[World], dict[str, Any]]:
    """Return what sends an entry for callers of the role, or for everyone."""
    name = "admin:designer_exposedentity_row_rule" + "_of_role" * len(role)

    def sent(world: World) -> dict[str, Any]:
        asked = page(world.administrator, reverse(name, args=[world.row(ExposedEntity).pk, *role]))
        return filled(asked) | {"row_rule-0-filter": NAMED}

    return sent


# What each page is sent, by the name of its address.
SENT: dict[str, Callable[[World], dict[str, Any]]] = {
    "studio:set_language": lambda world: {"language": "de"},
    "studio:own_password": lambda world: {
        "old_password": PASSWORD,
        "new_password1": "another long one",
        "new_password2": "another long one",
    },
    "studio:restore_version": _nothing,
    "studio:undo": _undo,
    "studio:new_release": lambda world: world.release | {"minor": 7},
    "studio:restore_release": _nothing,
    "studio:expose": lambda world: {
        "module": "partners",
        "segment": "contacts",
        "operations": ["read"],
        "attributes": ["lastname"],
        "caller_types": ["user"],
        "enabled": "on",
    },
    "studio:import": _document,
    "studio:new_proposal": lambda world: {"title": "Other titles", "module": "sales"},
    "studio:proposal": lambda world: {"withdraw": "1"},
    "studio:try_proposed": lambda world: {
        "caller": "token",
        "roles": ["sales-rep"],
        "user": RITA_REP,
        "mode": "dry",
        "body__name": "A",
    },
    "studio:protection": lambda world: {"group-sales": "protected"},
    "studio:new_query": lambda world: {
        "query": '<fetch><entity name="account"><attribute name="name"/></entity></fetch>',
        "kind": "multi-query",
        "module": "sales",
        "name": "zest",
        "caller_types": ["user"],
        "enabled": "on",
    },
    "studio:query_words": lambda world: {"query": '<fetch><entity name="account"/></fetch>'},
    "studio:translations_of": lambda world: {"title": "zest"},
    "studio:translations_of_module": lambda world: {"title": "zest"},
    "studio:matrix": lambda world: {"cell": f"{_of('update').pk}:sales-manager"},
    "admin:designer_endpoint_acknowledge": lambda world: {
        "entity": "incident",
        "reason-incident": "Counts only",
    },
    "admin:designer_optionset_acknowledge": _nothing,
    "admin:designer_endpoint_example-calls": lambda world: {"_run": "1"},
    "admin:designer_endpoint_example-call": lambda world: {"_remove": "1"},
    "admin:designer_optionset_example-calls": lambda world: {"_run": "1"},
    "admin:designer_optionset_example-call": _nothing,
    "admin:designer_issuer_fetch": lambda world: {"issuer": "https://zest.invalid"},
    "admin:designer_exposedentity_row_rule": _row_rule(),
    "admin:designer_exposedentity_row_rule_of_role": _row_rule("zealot"),
    "studio:two_factor": lambda world: {"step": "begin"},
    "studio:explain_token": lambda world: {"token": "no.token.atall"},
    "studio:caller_rights": lambda world: {"token": "no.token.atall"},
    "studio:attribute": _removal,
    "studio:refresh_metadata": _nothing,
    "studio:check_platform": _nothing,
    "studio:accept_metadata": _nothing,
    "admin:search": _nothing,
    "admin:index": _nothing,
    "admin:autocomplete": _nothing,
    "admin:jsi18n": _nothing,
    "admin:password_change_done": _nothing,
    "admin:auth_user_password_change": lambda world: {
        "usable_password": "true",
        "password1": "another long one",
        "password2": "another long one",
    },
    "admin:designer_endpoint_check": _nothing,
    "admin:designer_endpoint_try": _try,
    "admin:designer_endpoint_run": lambda world: {"run": "1", "user": RITA_REP},
    "admin:designer_optionset_check": _nothing,
    "admin:designer_optionset_try": _try,
    "admin:designer_optionset_run": _nothing,
    "admin:designer_userproperty_example": lambda world: {"_example-user": RITA_REP},
    "admin:designer_userproperty_example_new": lambda world: {"_example-user": RITA_REP},
}
SENT["admin:password_change"] = SENT["studio:own_password"]
# What a form asks of its address.
_ABOUT = {
    "studio:expose": "?entity=contact",
    "studio:attribute": "?entity=account&attribute=telephone1",
    "studio:try_proposed": "?endpoint=sales.accounts.create",
    "admin:designer_endpoint_example-call": "?name=one",
}
# What shows something, and neither changes nor calls anything.
SHOWN = {
    *("admin:search", "admin:index", "admin:autocomplete", "admin:jsi18n", "admin:password_change_done"),
    *("admin:designer_endpoint_check", "admin:designer_optionset_check", "admin:designer_optionset_run"),
    *("studio:set_language", "studio:explain_token", "studio:query_words"),
    # An issuer's own public documents.
    "admin:designer_issuer_fetch",
    # Option sets share the page of endpoints, and reach no entity.
    "admin:designer_optionset_acknowledge",
    # And there is no example call of one.
    "admin:designer_optionset_example-call",
}
# What is noted though it changes nothing here: the platform is asked, or nothing has been degraded.
ASKED = {
    *("admin:designer_endpoint_run", "studio:accept_metadata", "studio:refresh_metadata"),
    "studio:check_platform",
    *("admin:designer_userproperty_example", "admin:designer_userproperty_example_new"),
    *("admin:designer_endpoint_example-calls", "admin:designer_optionset_example-calls"),
    # Who callers are: what they may do is told to who asks by name.
    "studio:caller_rights",
    # Dry, as every write that is only proposed.
    "studio:try_proposed",
}


def _state() -> dict[str, str]:
    """A digest of each table, but for what only says that somebody was here."""
    digests = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if not table.startswith(_BESIDE):
                cursor.execute(f'SELECT * FROM "{table}"')
                rows = sorted(map(repr, cursor.fetchall()))
                digests[table] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return digests


@contextmanager
def _taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _changed(before: dict[str, str]) -> set[str]:
    now = _state()
    return {table for table in before | now if before.get(table) != now.get(table)}


def _forms(world: World) -> Iterator[tuple[str, str]]:
    """The name and address of every page that takes a form, but for those of models."""
    for route in routes():
        if route.name in {*OUTSIDE, "admin:view_on_site"} or "?P<" in route.path:
            continue  # the last leads to where a row is shown, and nothing here is
        if route.name.endswith(_OF_MODELS) and not route.name.endswith("password_change"):
            continue
        path = world.path(route.name, route.path)
        with _taken_back():
            # A new password ends a session, and what is taken back takes a session along.
            takes_form = _studio("a-administrator").post(path).status_code != 405
        if takes_form:
            assert route.name in SENT, f"{route.name} takes a form: say here what it is sent."
            yield route.name, path + _ABOUT.get(route.name, "")


def _actions() -> Iterator[tuple[Any, str, str]]:
    """The model, name and list of every action of the registry."""
    for model, pages in _registry().items():
        listed = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        if pages.actions is None:
            # Django offers no action there, not even its own.
            continue
        for _function, name, _description in pages._get_base_actions():
            yield model, name, listed


@pytest.fixture
def world(portico: None) -> World:
    return World()


def test_who_may_only_look_does_nothing_by_any_action(world: World) -> None:
    actions = list(_actions())
    assert {"revoke_tokens", "lift_lock_out", "end_two_factor", "delete_selected"} <= {
        name for _, name, _ in actions
    }
    before = _state()
    for model, name, listed in actions:
        data = {"action": name, "_selected_action": [world.row(model).pk], "post": "yes"}
        world.viewer.post(listed, data)
        assert _changed(before) == set(), (model, name)


def test_what_an_action_does_is_in_the_audit_log(world: World) -> None:
    before = _state()
    for model, name, listed in _actions():
        row = world.row(model)
        data = {"action": name, "_selected_action": [row.pk], "post": "yes"}
        with _taken_back():
            last = AuditEntry.objects.order_by("id").last()
            world.administrator.post(listed, data)
            made = AuditEntry.objects.filter(id__gt=last.pk if last else 0, account="a-administrator")
            cleared = name == "lift_lock_out" and not FailedLogins.objects.filter(account=str(row)).exists()
            assert _changed(before) or cleared, f"{name} of {model} did nothing here"
            assert [entry for entry in made if entry.subject], (model, name)
    assert _changed(before) == set()


def test_every_page_of_a_model_is_audited() -> None:
    assert [model for model, pages in _registry().items() if not isinstance(pages, Audited)] == []


def test_who_may_only_look_changes_nothing_by_any_form(world: World) -> None:
    forms = [(name, path) for name, path in _forms(world) if name not in OWN]
    assert len(forms) > 15
    before = _state()
    for name, path in forms:
        sent = SENT[name](world)
        world.viewer.post(path, sent)
        assert _changed(before) == set(), name


def test_who_may_only_look_changes_no_row_by_its_own_pages(world: World) -> None:
    before = _state()
    for model in _registry():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pk = world.row(model).pk
        for url in (reverse(f"{name}_add"), reverse(f"{name}_change", args=[pk])):
            world.viewer.post(url, _filled(world, url) | _OTHER)
        world.viewer.post(reverse(f"{name}_delete", args=[pk]), {"post": "yes"})
        assert _changed(before) == set(), name


# What everybody who is in may open: it is about themselves, or holds nothing.
_OPEN = OWN | {
    *("admin:index", "admin:jsi18n", "admin:password_change_done", "admin:search", "studio:palette"),
    "admin:app_list",
}


def test_who_has_no_permission_opens_no_page(world: World) -> None:
    User.objects.create_user("nobody", password=PASSWORD, is_staff=True)
    client = _studio("nobody")
    opened = []
    for route in routes():
        if route.name in {*OUTSIDE, *_OPEN, "admin:view_on_site"} or "?P<" in route.path:
            continue
        answer = client.get(world.path(route.name, route.path) + _ABOUT.get(route.name, ""))
        # A row that one may not see is not there: the list says so.
        if answer.status_code not in (302, 403, 404, 405):
            opened.append((route.name, answer.status_code))
    assert opened == []


def test_what_a_form_does_is_in_the_audit_log(world: World) -> None:
    wrong = []
    for name, path in list(_forms(world)):
        sent = SENT[name](world)
        with _taken_back():
            client, before = _studio("a-administrator"), _state()
            last = AuditEntry.objects.order_by("id").last()
            answer = confirmed(client, path, sent)
            made = AuditEntry.objects.filter(id__gt=last.pk if last else 0, account="a-administrator")
            done = (bool(_changed(before)), made.exists())
            if done != (name not in SHOWN | ASKED, name not in SHOWN):
                wrong.append((name, done, answer))
    assert wrong == []


def _filled(world: World, url: str) -> dict[str, Any]:
    answer = world.administrator.get(url)
    data: dict[str, Any] = {}
    if answer.status_code == 403:
        # Nobody makes or changes such a row by hand.
        return data
    form = answer.context["adminform"].form
    for bound in form:
        value = bound.value()
        if value not in (None, False):
            data[bound.html_name] = "on" if value is True else value
    for inline in answer.context["inline_admin_formsets"]:
        for bound in inline.formset.management_form:
            data[bound.html_name] = bound.value()
    return data


def test_the_log_says_what_was_before_and_what_is_after(world: World) -> None:
    listed = reverse("admin:runtime_apiaccount_changelist")
    chosen = {"_selected_action": [world.account.pk]}
    world.administrator.post(listed, {"action": "revoke_tokens", **chosen})
    assert _last() == ("revoke", "program", "refresh tokens: 1 → 0")
    world.administrator.post(listed, {"action": "lift_lock_out", **chosen})
    assert _last() == ("lift", "program", "failed logins: 1 → 0")
    listed = reverse("admin:auth_user_changelist")
    world.administrator.post(listed, {"action": "end_two_factor", "_selected_action": [world.lost.pk]})
    assert _last() == ("two-factor", "lost", "on → off")
    url = reverse("admin:runtime_apiaccount_change", args=[world.account.pk])
    data = _filled(world, url) | {"roles": [Role.objects.get(name="support").pk]}
    del data["active"]
    assert world.administrator.post(url, data).status_code == 302
    action, subject, detail = _last()
    assert (action, subject) == ("change", "API account: program")
    assert detail.endswith("active: yes → no; roles: +support")
    url = reverse("admin:auth_user_change", args=[world.lost.pk])
    data = _filled(world, url) | {
        "groups": [Group.objects.get(name="Publisher").pk],
        "is_superuser": "on",
    }
    assert world.administrator.post(url, data).status_code == 302
    assert _last()[2].endswith("superuser: no → yes; groups: +Publisher")
    url = reverse("admin:auth_user_delete", args=[world.lost.pk])
    world.administrator.post(url, {"post": "yes"})
    assert "groups: −Publisher" in _last()[2]
    assert PASSWORD not in "".join(AuditEntry.objects.values_list("detail", flat=True))


def _last() -> tuple[str, str, str]:
    entry = AuditEntry.objects.latest("id")
    return entry.action, entry.subject, entry.detail


def test_a_module_is_not_made_by_exposing_without_the_right_to_add_one(portico: None) -> None:
    client = _member("Designer")
    Group.objects.get(name="Designer").permissions.remove(Permission.objects.get(codename="add_module"))
    url = reverse("studio:expose") + "?entity=contact"
    data = SENT["studio:expose"](None)  # type: ignore[arg-type]  # it needs nothing of the world
    assert client.post(url, data).status_code == 422
    assert not Module.objects.filter(segment="partners").exists()
    assert client.post(url, data | {"module": "sales"}).status_code == 302
