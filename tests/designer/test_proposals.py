"""What is protected changes only by a proposal: published in one step, taken back in one."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from lxml import html

from designer.definitions import EndpointDefinition
from designer.models import (
    AuditEntry,
    Endpoint,
    ExposedEntity,
    Issuer,
    Module,
    OptionSet,
    Precondition,
    Proposal,
    Protection,
    Role,
    UserProperty,
    Version,
)
from designer.proposals.contents import Contents
from designer.readiness import Checker
from tests.callers import Caller
from tests.designer.commands import refused, run
from tests.designer.proposing import (
    create_endpoint,
    document,
    live,
    member,
    newest,
    protect,
    save,
    step,
    upload,
)
from tests.designer.studio import add_url, change_url, filled, page
from tests.designer.two_people import while_it_waits

KEY = "sales.accounts.create"
CALL = {"name": "a new account", "roles": ["sales-rep"], "status": 200, "body": {"name": "Example"}}


@pytest.fixture
def nora(portico: None) -> Client:
    """A designer."""
    return member("nora", "Designer")


@pytest.fixture
def paul(portico: None) -> Client:
    """A publisher."""
    return member("paul", "Publisher")


def _titled(title: str) -> bytes:
    return document(lambda endpoints: endpoints[KEY].update(title=title))


def _opened(client: Client, raw: bytes, title: str = "Change") -> Proposal:
    answer = client.post(reverse("studio:new_proposal"), {"title": title, "document": upload(raw)})
    assert answer.status_code == 302, answer.context["problems"]
    return newest()


def _problems(answer: Any) -> str:
    return " ".join(str(problem) for problem in answer.context.get("problems") or ())


def test_a_save_of_what_is_served_is_refused_and_becomes_a_proposal(nora: Client, paul: Client) -> None:
    protect()
    before = live()
    shown = save(nora, create_endpoint(), title="Proposed")
    assert shown.status_code == 200
    assert "Edit as a proposal" in shown.content.decode()
    assert live() == before
    proposed = save(nora, create_endpoint(), title="Proposed", _propose="1", _why="A better title")
    proposal = newest()
    assert proposed.headers["Location"] == reverse("studio:proposal", args=[proposal.pk])
    assert (proposal.title, proposal.module, proposal.state) == ("A better title", "sales", "open")
    assert live() == before
    text = page(nora, reverse("studio:proposal", args=[proposal.pk])).content.decode()
    assert "Proposed" in text
    step(paul, proposal, "publish")
    assert create_endpoint().title == "Proposed"
    proposal.refresh_from_db()
    version = Version.objects.latest("pk")
    assert (proposal.state, proposal.version) == ("published", version.pk)
    assert (version.origin, version.account) == ("proposal", "paul")
    step(paul, proposal, "go_back")
    assert live() == before
    proposal.refresh_from_db()
    assert proposal.state == "gone-back"
    noted = AuditEntry.objects.filter(action="proposal").order_by("pk").values_list("account", "detail")
    assert list(noted) == [("nora", "opened"), ("paul", "published"), ("paul", "taken back")]


def test_a_title_is_without_what_not_every_database_can_store(nora: Client, paul: Client) -> None:
    protect()
    save(nora, create_endpoint(), title="Proposed", _propose="1", _why="A better\0 title")
    assert newest().title == "A better title"
    sent = {"document": upload(_titled("Imported")), "_propose": "1", "_why": "From\0 a file"}
    assert paul.post(reverse("studio:import"), sent).status_code == 302
    assert newest().title == "From a file"


def test_a_second_save_is_added_to_the_proposal(nora: Client, paul: Client) -> None:
    protect()
    save(nora, create_endpoint(), title="Proposed", _propose="1")
    proposal = newest()
    read = Endpoint.objects.get(kind="read", entity=create_endpoint().entity)
    save(nora, read, description="Also", _propose="1", _proposal=str(proposal.pk))
    assert Proposal.objects.count() == 1
    step(paul, proposal, "publish")
    read.refresh_from_db()
    assert (create_endpoint().title, read.description) == ("Proposed", "Also")


def test_disabling_and_narrowing_are_live_at_once_and_drafts_are_free(paul: Client) -> None:
    protect()
    manager = Role.objects.get(name="sales-manager")
    assert save(paul, create_endpoint(), callers=[manager.pk]).status_code == 302
    assert [role.name for role in create_endpoint().roles.all()] == ["sales-manager"]
    assert save(paul, create_endpoint(), enabled=None).status_code == 302
    assert save(paul, create_endpoint(), title="A draft").status_code == 302
    assert save(paul, create_endpoint(), enabled="on").status_code == 200
    assert not create_endpoint().enabled


def test_other_modules_stay_free(paul: Client) -> None:
    protect("service")
    assert save(paul, create_endpoint(), title="Live at once").status_code == 302
    assert create_endpoint().title == "Live at once"


def test_protecting_everything_covers_roles_and_option_sets(paul: Client) -> None:
    protect("")
    role = Role.objects.get(name="sales-rep")
    assert save(paul, role, title="Other").status_code == 200
    options = OptionSet.objects.all()[0]
    assert save(paul, options, description="Other").status_code == 200
    role.refresh_from_db()
    assert role.title != "Other"


def test_a_role_that_a_protected_module_names_keeps_its_name(paul: Client) -> None:
    protect()
    save(paul, Role.objects.get(name="sales-rep"), name="seller")
    assert Role.objects.filter(name="sales-rep").exists()


def test_a_renamed_module_stays_protected(nora: Client, paul: Client) -> None:
    protect(needs_approval=True)
    save(nora, Module.objects.get(segment="sales"), segment="orders", _propose="1")
    proposal = newest()
    pia = member("pia", "Publisher")
    step(pia, proposal, "approve")
    assert not _problems(step(paul, proposal, "publish"))
    row = Endpoint.objects.get(kind="create", entity__segment="accounts", entity__module__segment="orders")
    assert save(paul, row, title="Live at once").status_code == 200
    row.refresh_from_db()
    assert row.title != "Live at once"
    assert Protection.objects.get(group="orders").needs_approval
    # Whatever comes to the old path is what it was protected for, too.
    assert Protection.objects.get(group="sales").needs_approval
    entry = AuditEntry.objects.get(action="protection")
    assert (entry.account, entry.subject, entry.detail) == ("paul", "orders", "free → approved")


def test_somebody_else_has_to_approve_where_the_protection_says_so(portico: None) -> None:
    protect(needs_approval=True)
    paul, pia = member("paul", "Publisher"), member("pia", "Publisher")
    before = live()
    proposal = _opened(paul, _titled("Proposed"))
    assert "approve" in _problems(step(paul, proposal, "publish"))
    assert "Somebody other" in _problems(step(paul, proposal, "approve"))
    assert live() == before
    step(pia, proposal, "approve")
    # What was approved is that document and no other.
    step(paul, proposal, "replace", document=upload(_titled("Something else")))
    proposal.refresh_from_db()
    assert (proposal.state, proposal.approved_by) == ("open", "")
    step(paul, proposal, "publish")
    assert live() == before
    step(pia, proposal, "approve")
    step(paul, proposal, "publish")
    assert create_endpoint().title == "Something else"


def test_nobody_approves_what_they_have_edited_before_others(portico: None) -> None:
    protect(needs_approval=True)
    nora, paul, pia = member("nora", "Designer"), member("paul", "Publisher"), member("pia", "Publisher")
    proposal = _opened(nora, _titled("First"))
    step(paul, proposal, "replace", document=upload(_titled("Edited by Paul")))
    step(nora, proposal, "undo_edit")
    assert "Somebody other" in _problems(step(paul, proposal, "approve"))
    step(nora, proposal, "undo_edit")
    read = Endpoint.objects.get(kind="read", entity=create_endpoint().entity)
    save(nora, read, description="Edited by Nora", _propose="1", _proposal=str(proposal.pk))
    assert "Somebody other" in _problems(step(paul, proposal, "approve"))
    shown = page(paul, reverse("studio:proposal", args=[proposal.pk])).content.decode()
    assert 'name="approve"' not in shown
    proposal.refresh_from_db()
    assert proposal.state == "open"
    step(pia, proposal, "approve")
    step(paul, proposal, "publish")
    assert create_endpoint().title == "Edited by Paul"


def test_an_author_with_a_new_name_approves_nothing_of_their_own(portico: None) -> None:
    protect(needs_approval=True)
    nora, paul = member("nora", "Designer"), member("paul", "Publisher")
    root = User.objects.create_superuser("root")
    ada = Client()
    ada.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    proposal = _opened(nora, _titled("First"))
    step(paul, proposal, "replace", document=upload(_titled("Edited by Paul")))
    address = reverse("admin:auth_user_change", args=[User.objects.get(username="paul").pk])
    assert ada.post(address, filled(page(ada, address)) | {"username": "pablo"}).status_code == 302
    assert "Somebody other" in _problems(step(paul, proposal, "approve"))
    # Nor does somebody who gets the old name.
    assert "Somebody other" in _problems(step(member("paul", "Publisher"), proposal, "approve"))
    step(member("pia", "Publisher"), proposal, "approve")
    proposal.refresh_from_db()
    assert proposal.approved_by == "pia"


def test_what_a_protected_module_uses_is_approved_by_somebody_else_too(portico: None) -> None:
    protect(needs_approval=True)
    used = UserProperty.objects.create(name="used", attribute="fullname")
    unused = UserProperty.objects.create(name="unused", attribute="fullname")
    create_endpoint().bindings.create(attribute="description", source="user", value="used")
    paul, pia = member("paul", "Publisher"), member("pia", "Publisher")

    def proposed(row: UserProperty) -> Proposal:
        data = json.loads(live())
        changed = next(item for item in data["user_properties"] if item["name"] == row.name)
        changed["attribute"] = "internalemailaddress"
        return _opened(paul, json.dumps(data).encode())

    proposal = proposed(used)
    assert "Somebody other than the author must approve" in _problems(step(paul, proposal, "publish"))
    used.refresh_from_db()
    assert used.attribute == "fullname"
    step(pia, proposal, "approve")
    step(paul, proposal, "publish")
    # Nothing that is protected answers by the other one.
    step(paul, proposed(unused), "publish")
    for row in used, unused:
        row.refresh_from_db()
        assert row.attribute == "internalemailaddress"


@pytest.mark.parametrize("name", ["approve", "publish"])
def test_a_decision_is_about_what_its_page_has_shown(portico: None, name: str) -> None:
    protect()
    nora, pia = member("nora", "Publisher"), member("pia", "Publisher")
    proposal = _opened(nora, _titled("Read by somebody"))
    before = live()
    shown = page(pia, reverse("studio:proposal", args=[proposal.pk])).content.decode()
    value = re.search(rf'name="{name}" value="(.*?)"', shown)
    assert value
    step(nora, proposal, "replace", document=upload(_titled("Read by nobody")))
    refusal = step(pia, proposal, name, **{name: value[1]})
    assert _problems(refusal) == "The proposal has changed meanwhile. Look at it, then try again."
    proposal.refresh_from_db()
    assert (proposal.state, live()) == ("open", before)
    # The page that says so shows what is proposed now.
    assert "Read by nobody" in refusal.content.decode()
    step(pia, proposal, name)
    proposal.refresh_from_db()
    assert proposal.state == {"approve": "approved", "publish": "published"}[name]


def test_who_may_open_approve_and_publish(portico: None) -> None:
    protect()
    vera, nora = member("vera", "Viewer"), member("nora", "Designer")
    assert vera.get(reverse("studio:new_proposal")).status_code == 403
    proposal = _opened(nora, _titled("Proposed"))
    before = live()
    page(vera, reverse("studio:proposal", args=[proposal.pk]))
    for name in ("publish", "approve"):
        assert step(nora, proposal, name).status_code == 403
    for name in ("publish", "approve", "withdraw", "rebase", "replace"):
        assert step(vera, proposal, name).status_code == 403
    for client in (vera, nora, member("paul", "Publisher")):
        assert client.get(reverse("studio:protection")).status_code == 403
    assert live() == before
    step(nora, proposal, "withdraw")
    proposal.refresh_from_db()
    assert proposal.state == "withdrawn"


def test_an_administrator_protects_and_the_log_says_so(portico: None) -> None:
    ada = member("ada", "Administrator")
    page(ada, reverse("studio:protection"))
    ada.post(reverse("studio:protection"), {"group-sales": "approved", "group-": "free"})
    assert list(Protection.objects.values_list("group", "needs_approval")) == [("sales", True)]
    entry = AuditEntry.objects.get(action="protection")
    assert (entry.account, entry.subject, entry.detail) == ("ada", "sales", "free → approved")
    ada.post(reverse("studio:protection"), {"group-sales": "free"})
    assert not Protection.objects.exists()


def test_two_administrators_at_one_time_keep_what_the_other_protects(portico: None) -> None:
    ada, otto = member("ada", "Administrator"), member("otto", "Administrator")
    address = reverse("studio:protection")

    def fields(client: Client) -> dict[str, str]:
        (form,) = (
            form
            for form in html.document_fromstring(page(client, address).content).forms  # type: ignore[attr-defined]
            if "group-sales" in form.fields
        )
        return {name: value for name, value in form.form_values() if name != "csrfmiddlewaretoken"}

    opened_by_otto = fields(otto)
    ada.post(address, fields(ada) | {"group-sales": "approved"})
    otto.post(address, opened_by_otto | {"group-service": "protected"})
    levels = Protection.objects.values_list("group", "needs_approval")
    assert dict(levels) == {"sales": True, "service": False}
    refused = otto.post(address, opened_by_otto | {"group-sales": "protected", "group-service": "free"})
    assert dict(levels.all()) == {"sales": True, "service": False}
    assert "“Protected, and somebody else has to approve” now" in _problems(refused)
    # What was chosen is still there, and counts when it is sent again.
    assert 'value="protected" selected' in refused.content.decode()
    otto.post(address, fields(otto) | {"group-sales": "protected"})
    assert dict(levels.all()) == {"sales": False, "service": False}


def test_a_failing_example_call_holds_it_back_and_says_why(nora: Client, paul: Client) -> None:
    protect()
    wrong = {**CALL, "status": 409}
    proposal = _opened(
        nora, document(lambda endpoints: endpoints[KEY].update(title="Proposed", example_calls=[wrong]))
    )
    before = live()
    assert "a new account" in _problems(step(paul, proposal, "publish"))
    assert live() == before
    shown = page(paul, reverse("studio:proposal", args=[proposal.pk]) + "?calls=1").content.decode()
    assert "The status is 200, but 409 was expected." in shown
    right = document(lambda endpoints: endpoints[KEY].update(title="Proposed", example_calls=[CALL]))
    step(nora, proposal, "replace", document=upload(right))
    step(paul, proposal, "publish")
    assert create_endpoint().title == "Proposed"


def test_a_blocking_finding_holds_it_back(nora: Client, paul: Client) -> None:
    protect()
    bound = {"attribute": "gone", "source": "constant", "value": "x"}
    proposal = _opened(nora, document(lambda endpoints: endpoints[KEY]["bindings"].append(bound)))
    before = live()
    shown = page(nora, reverse("studio:proposal", args=[proposal.pk])).content.decode()
    assert shown.count("has no “gone”") == 1
    assert "gone" in _problems(step(paul, proposal, "publish"))
    assert live() == before


def test_what_has_changed_live_since_is_merged(nora: Client, paul: Client) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    assert save(paul, create_endpoint(), description="Written since").status_code == 302
    protect()
    step(paul, proposal, "publish")
    row = create_endpoint()
    assert (row.title, row.description) == ("Proposed", "Written since")


def test_a_change_of_the_same_field_is_told_and_nothing_overwritten(nora: Client, paul: Client) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    assert save(paul, create_endpoint(), title="Theirs").status_code == 302
    protect()
    assert "changed in the same place" in _problems(step(paul, proposal, "publish"))
    assert "in the same place" in _problems(step(nora, proposal, "rebase"))
    assert create_endpoint().title == "Theirs"
    step(nora, proposal, "replace", document=upload(_titled("Both agree")))
    step(paul, proposal, "publish")
    assert create_endpoint().title == "Both agree"


@pytest.mark.parametrize("module", ["sales", ""], ids=["of a module", "of everything"])
def test_what_an_edited_document_lacks_goes_when_it_is_published(
    nora: Client, paul: Client, module: str
) -> None:
    assert nora.post(reverse("studio:new_proposal"), {"title": "A copy", "module": module}).status_code == 302
    proposal = newest()
    downloaded = json.loads(nora.get(reverse("studio:proposal_document", args=[proposal.pk])).content)
    kept = [
        one for one in downloaded["endpoints"] if (one["kind"], one.get("exposure")) != ("create", "accounts")
    ]
    assert len(kept) == len(downloaded["endpoints"]) - 1
    step(nora, proposal, "replace", document=upload(json.dumps({**downloaded, "endpoints": kept}).encode()))
    proposal.refresh_from_db()
    assert [change.key for change in Contents.of(proposal).changes] == [KEY]
    endpoints = Endpoint.objects.count()
    step(paul, proposal, "publish")
    assert Endpoint.objects.count() == endpoints - 1


def test_the_message_says_what_an_uploaded_document_removes(nora: Client) -> None:
    assert nora.post(reverse("studio:new_proposal"), {"title": "A copy", "module": ""}).status_code == 302
    few = json.loads(_titled("Few"))
    few["endpoints"] = [one for one in few["endpoints"] if one.get("title") == "Few"]
    answer = step(nora, newest(), "replace", document=upload(json.dumps(few).encode()))
    assert "It removes 32 items: endpoint option-set.priorities, " in answer.content.decode()


def test_what_an_author_may_not_see_stays_when_the_downloaded_document_is_uploaded(
    nora: Client, paul: Client
) -> None:
    """A designer's file has no issuers, and the designer has not removed any."""
    Issuer.objects.create(name="Company", issuer="https://login.example.com")
    assert nora.post(reverse("studio:new_proposal"), {"title": "A copy", "module": ""}).status_code == 302
    proposal = newest()
    downloaded = json.loads(nora.get(reverse("studio:proposal_document", args=[proposal.pk])).content)
    assert "issuers" not in downloaded
    (endpoint,) = (
        one for one in downloaded["endpoints"] if (one["kind"], one.get("exposure")) == ("create", "accounts")
    )
    endpoint["title"] = "Edited"
    step(nora, proposal, "replace", document=upload(json.dumps(downloaded).encode()))
    proposal.refresh_from_db()
    assert [change.key for change in Contents.of(proposal).changes] == [KEY]
    step(paul, proposal, "publish")
    assert (create_endpoint().title, Issuer.objects.count()) == ("Edited", 1)


def test_an_upload_decides_nothing_about_what_its_author_may_not_see(nora: Client) -> None:
    """An issuer was changed live since, too: first an administrator has to look at both."""
    ada = member("ada", "Administrator")
    Issuer.objects.create(name="Company", issuer="https://login.example.com", audiences=["portico"])
    proposed = json.loads(live())
    proposed["issuers"][0]["description"] = "Mine"
    sent = {"title": "Both", "document": upload(json.dumps(proposed).encode())}
    assert ada.post(reverse("studio:new_proposal"), sent).status_code == 302
    proposal = newest()
    Issuer.objects.update(audiences=["theirs"])
    address = reverse("studio:proposal", args=[proposal.pk])
    [conflict] = page(ada, address).context["review"].publishing_obstacles
    assert "changed in the same place: issuer Company" in conflict

    downloaded = json.loads(nora.get(reverse("studio:proposal_document", args=[proposal.pk])).content)
    downloaded["endpoints"][0]["title"] = "Edited"
    refused = step(nora, proposal, "replace", document=upload(json.dumps(downloaded).encode()))

    unseen = "Something that you may not see prevents this: issuer. Ask an administrator."
    assert unseen in refused.content.decode()
    assert page(ada, address).context["review"].publishing_obstacles == [conflict]
    proposed["issuers"][0]["audiences"] = ["theirs"]
    step(ada, proposal, "replace", document=upload(json.dumps(proposed).encode()))
    step(nora, proposal, "replace", document=upload(json.dumps(downloaded).encode()))
    changed = {change.collection.field for change in Contents.of(newest()).changes}
    assert changed == {"endpoints", "issuers"}


def test_a_file_of_everything_counts_as_a_whole_each_time_it_is_uploaded(nora: Client) -> None:
    assert nora.post(reverse("studio:new_proposal"), {"title": "A copy", "module": ""}).status_code == 302
    proposal = newest()
    file = json.loads(_titled("Proposed"))
    step(nora, proposal, "replace", document=upload(json.dumps(file).encode()))
    file["endpoints"] = [one for one in file["endpoints"] if one.get("name") != "my-profile"]
    step(nora, proposal, "replace", document=upload(json.dumps(file).encode()))
    proposal.refresh_from_db()
    assert Contents.of(proposal).removed == [("endpoints", "portal.single-query.my-profile")]


def test_a_document_that_settles_a_conflict_keeps_what_was_published_since_elsewhere(
    nora: Client, paul: Client
) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    downloaded = json.loads(nora.get(reverse("studio:proposal_document", args=[proposal.pk])).content)
    assert save(paul, create_endpoint(), title="Theirs").status_code == 302
    other = Endpoint.objects.get(kind="update", entity=create_endpoint().entity)
    assert save(paul, other, title="Theirs, too").status_code == 302
    (endpoint,) = (
        one for one in downloaded["endpoints"] if (one["kind"], one.get("exposure")) == ("create", "accounts")
    )
    endpoint["title"] = "Both agree"
    step(nora, proposal, "replace", document=upload(json.dumps(downloaded).encode()))
    step(paul, proposal, "publish")
    other.refresh_from_db()
    assert (create_endpoint().title, other.title) == ("Both agree", "Theirs, too")


@pytest.fixture
def titles_by_name(nora: Client, paul: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two endpoints have a value of the environment as their titles, `{"env": "TITLE"}`."""

    def named(endpoints: dict[str, dict[str, Any]]) -> None:
        endpoints["sales.leads.create"]["title"] = {"env": "TITLE"}
        endpoints["sales.accounts.update"]["title"] = {"env": "TITLE"}

    monkeypatch.setenv("PORTICO_VALUE_TITLE", "From here")
    step(paul, _opened(nora, document(named)), "publish")


@pytest.mark.usefixtures("titles_by_name")
def test_publishing_a_few_items_leaves_the_names_of_values_elsewhere(nora: Client, paul: Client) -> None:
    before = run("exportconfig")
    assert before.count('"env": "TITLE"') == 2
    few = json.loads(before)
    few["endpoints"] = [
        one for one in few["endpoints"] if (one["kind"], one.get("exposure")) == ("update", "accounts")
    ]
    few["endpoints"][0]["description"] = "Proposed"
    proposal = _opened(nora, json.dumps(few).encode())
    downloaded = nora.get(reverse("studio:proposal_document", args=[proposal.pk])).content.decode()
    assert downloaded.count('"env": "TITLE"') == 2
    step(paul, proposal, "publish")
    assert run("exportconfig").count('"env": "TITLE"') == 2


@pytest.mark.usefixtures("titles_by_name")
def test_a_value_that_was_changed_live_keeps_its_name(
    nora: Client, paul: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = run("exportconfig")
    older = json.loads(text)
    (update,) = (
        one for one in older["endpoints"] if (one["kind"], one.get("exposure")) == ("update", "accounts")
    )
    update["description"] = "Proposed"
    proposal = _opened(nora, json.dumps(older).encode())
    monkeypatch.setenv("PORTICO_VALUE_TITLE", "From there")
    step(paul, _opened(nora, text.encode()), "publish")
    step(paul, proposal, "publish")
    row = Endpoint.objects.get(kind="update", entity=create_endpoint().entity)
    assert (row.title, row.description) == ("From there", "Proposed")
    assert run("exportconfig").count('"env": "TITLE"') == 2


def test_an_edited_document_takes_back_nothing_that_was_published_since(nora: Client, paul: Client) -> None:
    assert (
        nora.post(reverse("studio:new_proposal"), {"title": "A copy", "module": "sales"}).status_code == 302
    )
    proposal = newest()
    downloaded = json.loads(nora.get(reverse("studio:proposal_document", args=[proposal.pk])).content)
    (update,) = (
        one for one in downloaded["endpoints"] if one["kind"] == "update" and one["exposure"] == "accounts"
    )
    update["title"] = "Edited"
    assert save(paul, create_endpoint(), title="Published since").status_code == 302
    step(nora, proposal, "replace", document=upload(json.dumps(downloaded).encode()))
    proposal.refresh_from_db()
    assert [change.key for change in Contents.of(proposal).changes] == ["sales.accounts.update"]
    step(paul, proposal, "publish")
    titles = Endpoint.objects.filter(entity__segment="accounts", entity__module__segment="sales")
    assert dict(titles.filter(kind__in=["create", "update"]).values_list("kind", "title")) == {
        "create": "Published since",
        "update": "Edited",
    }


def test_access_that_was_narrowed_live_is_taken_over_only_when_somebody_says_so(
    nora: Client, paul: Client
) -> None:
    protect()
    proposal = _opened(nora, _titled("Proposed"))
    manager = Role.objects.get(name="sales-manager")
    assert save(paul, create_endpoint(), callers=[manager.pk]).status_code == 302
    assert "who may call" in _problems(step(paul, proposal, "publish"))
    step(nora, proposal, "rebase")
    step(paul, proposal, "publish")
    row = create_endpoint()
    assert (row.title, [role.name for role in row.roles.all()]) == ("Proposed", ["sales-manager"])


def test_access_that_both_changed_is_a_conflict(nora: Client, paul: Client) -> None:
    protect()
    proposal = _opened(nora, document(lambda endpoints: endpoints[KEY].update(access={"roles": ["support"]})))
    manager = Role.objects.get(name="sales-manager")
    assert save(paul, create_endpoint(), callers=[manager.pk]).status_code == 302
    assert "same place" in _problems(step(paul, proposal, "publish"))
    assert "same place" in _problems(step(nora, proposal, "rebase"))
    assert [role.name for role in create_endpoint().roles.all()] == ["sales-manager"]


def test_publishing_is_one_version(nora: Client, paul: Client) -> None:
    protect()

    def change(endpoints: dict[str, dict[str, Any]]) -> None:
        for key, endpoint in endpoints.items():
            if key.startswith("sales."):
                endpoint["description"] = "Changed together"

    proposal = _opened(nora, document(change))
    versions = Version.objects.count()
    step(paul, proposal, "publish")
    assert Version.objects.count() == versions + 1
    assert Version.objects.latest("pk").changes.count() > 3


def _undone(client: Client, answer: Any) -> Any:
    """Press *Undo* in the message of `answer`."""
    button = r'class="studio-undo" method="post" action="([^"]+)">.*?name="(\w+)" value="(\w+)">Undo<'
    ((address, name, value),) = re.findall(button, answer.content.decode(), re.DOTALL)
    return client.post(address, {name: value}, follow=True)


def test_the_message_after_publishing_goes_back(nora: Client, paul: Client) -> None:
    protect()
    before = live()
    proposal = _opened(nora, _titled("Proposed"))
    published = step(paul, proposal, "publish")
    assert live() != before
    taken_back = _undone(paul, published)
    assert live() == before
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.GONE_BACK
    # Once more it is a change of what is protected.
    assert "changes only by a proposal" in _undone(paul, taken_back).content.decode()
    assert live() == before


def test_going_back_is_undone_where_nothing_is_protected(nora: Client, paul: Client) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    step(paul, proposal, "publish")
    published = live()
    taken_back = step(paul, proposal, "go_back")
    assert live() != published
    _undone(paul, taken_back)
    assert live() == published


def test_a_row_of_the_module_that_is_new_comes_and_goes_with_it(nora: Client, paul: Client) -> None:
    protect()
    data = json.loads(live())
    data["entities"].append({"module": "sales", "segment": "people", "entity": "contact"})
    data["endpoints"].append(
        {
            "kind": "read", "module": "sales", "exposure": "people",
            "columns": [{"attribute": "fullname"}], "access": {"roles": ["sales-rep"]},
        }
    )  # fmt: skip
    before = live()
    proposal = _opened(nora, json.dumps(data).encode())
    assert proposal.module == "sales"
    step(paul, proposal, "publish")
    assert ExposedEntity.objects.filter(segment="people").exists()
    step(paul, proposal, "go_back")
    assert live() == before


def test_the_commands(portico: None, tmp_path: Path) -> None:
    protect()
    before = live()
    file = tmp_path / "change.json"
    file.write_bytes(_titled("By a pipeline"))
    said = refused("importconfig", file, code=4)
    assert "Nothing that is live was changed." in said
    assert "is protected" in said
    report = json.loads(refused("importconfig", file, "--json", code=4).partition("Nothing that")[0])
    assert (report["result"], report["proposal"]["module"]) == ("proposed", "sales")
    assert live() == before
    number = report["proposal"]["id"]
    assert f"{number} open" in run("listproposals")
    assert json.loads(run("listproposals", "--json"))[0]["id"] == number
    assert "This was a dry run" in run("publishproposal", number, "--dry-run")
    assert live() == before
    again = json.loads(run("openproposal", file, "--json"))["id"]
    assert json.loads(run("publishproposal", number, "--json"))["result"] == "published"
    assert create_endpoint().title == "By a pipeline"
    # What is live already is refused by a dry run, too.
    for dry in (["--dry-run"], []):
        assert "already has everything that is proposed" in refused("publishproposal", again, *dry)
    assert "Taken back" in run("publishproposal", number, "--go-back")
    assert live() == before
    opened = json.loads(run("openproposal", file, "--title", "Again", "--json"))
    assert "Withdrawn" in run("withdrawproposal", opened["id"])
    assert "closed" in refused("withdrawproposal", opened["id"])
    assert "closed" in refused("publishproposal", opened["id"])
    assert "There is no proposal 999999" in refused("publishproposal", 999999)


def test_a_folder_is_opened_and_its_manifest_says_what_goes(portico: None, tmp_path: Path) -> None:
    protect()
    run("exportconfig", "--folder", tmp_path / "c")
    assert "nothing to propose" in refused("openproposal", tmp_path / "c")
    written = next((tmp_path / "c").rglob("*create.yaml"))
    written.write_text(written.read_text().replace("title:", "title: Of a folder #", 1))
    assert "Opened proposal" in run("openproposal", tmp_path / "c")


def test_what_is_downloaded_is_the_document(nora: Client) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    raw = page(nora, reverse("studio:proposal_document", args=[proposal.pk])).content
    assert json.loads(raw) == json.loads(proposal.document)


def test_who_protects_nothing_pays_nothing(paul: Client) -> None:
    """Whether anything is protected is known from what has been loaded anyway."""

    def asked() -> list[str]:
        data = filled(page(paul, change_url(create_endpoint())))
        with CaptureQueriesContext(connection) as queries:
            answer = paul.post(change_url(create_endpoint()), data | {"title": f"Title {next(numbers)}"})
        assert answer.status_code == 302
        return [query["sql"] for query in queries.captured_queries]

    numbers = count()
    asked()
    usual = asked()
    # Where all is loaded, they come with the revision, in its query.
    assert not [sql for sql in usual if '"designer_proposal"' in sql or '"designer_protection"' in sql]
    protect("service")
    asked()
    assert len(asked()) <= len(usual)


def test_callers_see_one_or_the_other(nora: Client, paul: Client, rita: Caller) -> None:
    protect()
    small = document(lambda endpoints: endpoints[KEY]["inputs"][0].update(max_length=3))
    assert rita.post("/api/sales/accounts", {"name": "Longer"}).status_code == 200
    proposal = _opened(nora, small)
    assert rita.post("/api/sales/accounts", {"name": "Longer"}).status_code == 200
    step(paul, proposal, "publish")
    assert rita.post("/api/sales/accounts", {"name": "Longer"}).status_code == 400
    step(paul, proposal, "go_back")
    assert rita.post("/api/sales/accounts", {"name": "Longer"}).status_code == 200


@pytest.mark.parametrize("kind", ["role", "module"])
def test_a_save_is_not_taken_for_what_is_publishedwhile_it_waits(
    nora: Client, paul: Client, kind: str
) -> None:
    protect()
    proposal = _opened(paul, _titled("Proposed"))
    free = Module.objects.get(segment="service")
    address = add_url("role") if kind == "role" else change_url(free)
    sent = filled(page(nora, address)) | {"name": "guest", "title": "Saved"}
    with while_it_waits(lambda: step(paul, proposal, "publish")):
        answer = nora.post(address, sent)
    assert answer.status_code == 302, answer.content.decode()
    assert create_endpoint().title == "Proposed"
    assert (Role.objects.filter(name="guest").exists(), Module.objects.get(pk=free.pk).title == "Saved") == (
        kind == "role",
        kind == "module",
    )


def test_who_never_comes_to_go_back_is_told_to_try_again(nora: Client, paul: Client) -> None:
    protect()
    proposal = _opened(nora, _titled("Proposed"))
    step(paul, proposal, "publish")
    busy, titles = False, count()

    def on_query(execute: Any, sql: str, *rest: Any) -> Any:
        """Somebody else is quicker each time."""
        nonlocal busy
        if not busy and "designer_recordedrevision" in sql and sql.startswith("SELECT"):
            busy = True
            Module.objects.filter(segment="service").update(title=f"Service {next(titles)}")
            busy = False
        return execute(sql, *rest)

    with connection.execute_wrapper(on_query):
        refused = step(paul, proposal, "go_back")
    assert "Others change the configuration at the same time. Nothing was changed; try again." in _problems(
        refused
    )
    assert create_endpoint().title == "Proposed"


@pytest.mark.parametrize(
    ("key", "list_name", "member", "names"),
    [
        ("sales.accounts.read", "columns", "name", ("title", "label")),
        (KEY, "preconditions", "expression", ("inputs.revenue > 1.0", "inputs.revenue > 2.0")),
    ],
)
def test_two_names_for_one_part_are_told(
    nora: Client, paul: Client, key: str, list_name: str, member: str, names: tuple[str, str]
) -> None:
    """Both keys are new: merged key by key, the answer would have two columns, or two conditions hold."""

    def renamed(name: str) -> bytes:
        def rename(endpoints: dict[str, dict[str, Any]]) -> None:
            endpoints[key][list_name][-1][member] = name

        return document(rename)

    Precondition.objects.create(
        endpoint=create_endpoint(), expression="inputs.revenue > 0.0", message="Too little."
    )
    protect()
    first, second = (_opened(nora, renamed(name)) for name in names)
    step(paul, first, "publish")
    published = live()
    assert "changed in the same place" in _problems(step(paul, second, "publish"))
    assert live() == published


def test_two_paths_for_one_endpoint_are_told(nora: Client, paul: Client) -> None:
    def moved(name: str) -> Proposal:
        assert (
            nora.post(reverse("studio:new_proposal"), {"title": name, "module": "portal"}).status_code == 302
        )
        proposal = newest()
        address = reverse("studio:proposal_document", args=[proposal.pk])
        module = json.loads(nora.get(address).content)
        (query,) = (one for one in module["endpoints"] if one.get("name") == "articles")
        query["name"] = name
        step(nora, proposal, "replace", document=upload(json.dumps(module).encode()))
        return proposal

    protect("portal")
    first, second = moved("news"), moved("answers")
    step(paul, first, "publish")
    published = live()
    assert "changed in the same place" in _problems(step(paul, second, "publish"))
    assert live() == published


def test_the_page_of_a_proposal_looks_into_what_it_changes_alone(
    nora: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration may have thousands of other endpoints."""
    proposal = _opened(nora, _titled("Other"))
    url = reverse("studio:proposal", args=[proposal.pk])
    page(nora, url)
    looked_into, checked = set(), set()

    def to_json(self: EndpointDefinition) -> Any:
        looked_into.add(self.key)
        return original(self)

    def endpoint(self: Checker, id: int) -> Any:
        checked.add(id)
        return original_check(self, id)

    original, original_check = EndpointDefinition.to_json, Checker.endpoint
    monkeypatch.setattr(EndpointDefinition, "to_json", to_json)
    monkeypatch.setattr(Checker, "endpoint", endpoint)
    shown = page(nora, url).content.decode()
    assert "Other" in shown
    assert looked_into == {KEY}
    # What it would lead to was judged for the page before, and nothing has changed since.
    assert checked == set()
    assert Contents.of(proposal).document is Contents.of(newest()).document


def test_findings_follow_what_is_edited_in_a_proposal(nora: Client) -> None:
    """They are kept from one page to the next, and not from one document to the next."""
    proposal = _opened(nora, _titled("Other"))
    url = reverse("studio:proposal", args=[proposal.pk])
    assert not page(nora, url).context["review"].refusals

    def breaks(endpoints: dict[str, dict[str, Any]]) -> None:
        endpoints[KEY]["inputs"][0]["type"] = "Integer"

    step(nora, proposal, "replace", document=upload(document(breaks)))
    assert page(nora, url).context["review"].refusals
    step(nora, proposal, "replace", document=upload(_titled("Other")))
    assert not page(nora, url).context["review"].refusals


def test_an_edit_brings_no_earlier_secret_of_readers_back(nora: Client, paul: Client) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    early = _new_secret(nora, proposal)
    assert save(paul, create_endpoint(), description="Written since").status_code == 302
    protect()
    given: list[str] = []
    with while_it_waits(lambda: given.append(_new_secret(nora, proposal)), may_raise=True):
        step(nora, proposal, "rebase")
    reader = Caller()
    assert reader.get("/api/openapi.json", portico_proposal=given[0]).status_code == 200
    assert reader.get("/api/openapi.json", portico_proposal=early).status_code != 200


def _new_secret(client: Client, proposal: Proposal) -> str:
    answer = client.post(reverse("studio:proposal", args=[proposal.pk]), {"secret": "1"})
    secret: str = answer.context["secret"]
    return secret


def test_taking_over_twice_leaves_the_way_back_of_the_first_time(nora: Client, paul: Client) -> None:
    proposal = _opened(nora, _titled("Proposed"))
    assert save(paul, create_endpoint(), description="Written since").status_code == 302
    protect(needs_approval=True)
    step(nora, proposal, "rebase")
    step(paul, proposal, "approve")
    taken_over = Proposal.objects.get(pk=proposal.pk)
    assert "nothing to take over" in _problems(step(nora, proposal, "rebase"))
    again = Proposal.objects.get(pk=proposal.pk)
    assert (again.earlier, again.state) == (taken_over.earlier, "approved")
