"""Pipelines open and read proposals over HTTP; applications read what is proposed before it is live."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import requests
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from lxml import html

from designer.models import AuditEntry, Endpoint, Proposal
from runtime.models import ProposalKey
from tests.callers import Caller, account
from tests.designer.proposing import create_endpoint, document, live, member, newest, protect, step
from tests.servers import Site

pytestmark = pytest.mark.usefixtures("portico")

PATH = "/api/admin/proposals"
KEY = re.compile(r"porticoproposal[a-z2-7]{16}_[0-9a-f]{64}")
CREATE = "sales.accounts.create"


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    cache.clear()


def made_key(name: str = "Pipeline", **given: Any) -> str:
    """The key that the studio shows after it is made."""
    answer = member(f"admin of {name}", "Administrator").post(
        "/admin/runtime/proposalkey/add/", {"name": name, "active": "on", **given}
    )
    assert answer.status_code == 200, answer.context["adminform"].form.errors
    assert "no-store" in answer.headers["Cache-Control"]
    [key] = set(KEY.findall(answer.content.decode()))
    return str(key)


@pytest.fixture
def pipeline() -> Caller:
    return Caller(made_key())


def _titled(title: str) -> Any:
    return json.loads(document(lambda endpoints: endpoints[CREATE].update(title=title)))


def _opened(pipeline: Caller, title: str = "Proposed", **more: Any) -> Any:
    answer = pipeline.post(PATH, {"title": "A change", "document": _titled(title), **more})
    assert answer.status_code == 201, answer.content
    return answer.json()


def _summary(answer: Any) -> str:
    summary: str = answer.json()["paths"]["/api/sales/accounts"]["post"]["summary"]
    return summary


def _action(page: Any) -> str:
    """The address that a browser sends the form of “Try it” to."""
    document = html.document_fromstring(page.content.decode())
    forms: list[html.FormElement] = document.forms  # type: ignore[attr-defined]  # not in the stubs
    (form,) = (form for form in forms if "caller" in form.fields)
    return str(form.action)


def test_a_pipeline_opens_a_proposal_that_a_person_publishes(pipeline: Caller) -> None:
    protect()
    before = live()
    answer = pipeline.post(
        PATH, {"title": "A title", "description": "From main", "document": _titled("Proposed")}
    )
    proposal = newest()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{PATH}/{proposal.pk}"
    assert "no-store" in answer.headers["Cache-Control"]
    opened = answer.json()
    assert (opened["state"], opened["module"], opened["account"]) == (
        "open",
        "sales",
        "proposal key Pipeline",
    )
    assert opened["page"] == reverse("studio:proposal", args=[proposal.pk])
    assert live() == before
    read = pipeline.get(f"{PATH}/{proposal.pk}").json()
    assert read["review"]["effect"] == "behaviour" or read["review"]["effects"]
    assert read["review"]["obstacles"] == []
    assert "secret" not in read
    step(member("paul", "Publisher"), proposal, "publish")
    assert create_endpoint().title == "Proposed"
    closed = pipeline.get(f"{PATH}/{proposal.pk}").json()
    assert (closed["state"], closed["review"]) == ("published", None)
    noted = AuditEntry.objects.filter(account="proposal key Pipeline").values_list("action", "detail")
    assert list(noted) == [("proposal", "opened")]


def test_what_a_key_opens_somebody_who_made_no_key_approves(pipeline: Caller) -> None:
    protect(needs_approval=True)
    opened = _opened(pipeline)
    proposal = newest()
    paul = member("paul", "Publisher")
    step(paul, proposal, "publish")
    assert create_endpoint().title != "Proposed"
    assert pipeline.get(f"{PATH}/{opened['id']}").json()["review"]["needs_approval"] is True
    step(paul, proposal, "approve")
    step(paul, proposal, "publish")
    assert create_endpoint().title == "Proposed"


def test_a_copy_of_a_module_is_opened_and_its_document_replaced(pipeline: Caller) -> None:
    opened = pipeline.post(PATH, {"title": "A copy", "module": "sales"}).json()
    place = f"{PATH}/{opened['id']}/document"
    copied = pipeline.get(place).json()
    keyed = {(one["kind"], one.get("exposure")): one for one in copied["endpoints"]}
    keyed["create", "accounts"]["title"] = "Edited"
    answer = pipeline.request("PUT", place, copied)
    assert answer.status_code == 200, answer.content
    assert answer.json()["removes"] == []
    review = pipeline.get(f"{PATH}/{opened['id']}").json()["review"]
    assert [change["key"] for change in review["changes"]] == [CREATE]
    other = Caller(made_key("Another"))
    refused = other.request("PUT", place, copied)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert other.get(place).json() == pipeline.get(place).json()


def test_a_document_that_replaces_another_says_what_it_removes(pipeline: Caller) -> None:
    """A few items are enough to open a proposal. The same few, sent as its document, are all that stays."""
    few = {
        "format": 2,
        "endpoints": [one for one in _titled("Few")["endpoints"] if one.get("title") == "Few"],
    }
    opened = pipeline.post(PATH, {"title": "Few", "document": few}).json()
    assert [change["key"] for change in newest_changes(pipeline, opened)] == [CREATE]
    answer = pipeline.request("PUT", f"{PATH}/{opened['id']}/document", few).json()
    assert {"list": "modules", "key": "sales"} in answer["removes"]
    assert len(answer["removes"]) == len(newest_changes(pipeline, opened)) - 1


def newest_changes(pipeline: Caller, opened: Any) -> Any:
    return pipeline.get(f"{PATH}/{opened['id']}").json()["review"]["changes"]


@pytest.mark.parametrize(
    ("given", "pointer", "message"),
    [
        ({"title": "A\0"}, "/title", "Must not hold NUL characters."),
        ({"title": "A", "description": "\0"}, "/description", "Must not hold NUL characters."),
        ({"title": "  "}, "/title", "Must have 1 to 200 characters."),
        ({"title": "a" * 201}, "/title", "Must have 1 to 200 characters."),
        ({"title": 1}, "/title", "Must be a text."),
        ({"title": "A", "delete": [1]}, "/delete/0", "Must be a text."),
        ([], "", "Must be an object."),
    ],
)
def test_wrong_members_are_told_in_plain_words(
    pipeline: Caller, given: Any, pointer: str, message: str
) -> None:
    body = {"document": _titled("Proposed"), **given} if isinstance(given, dict) else given
    answer = pipeline.post(PATH, body)
    assert answer.status_code == 400, answer.content
    [error] = answer.json()["errors"]
    assert (error["pointer"], error["message"]) == (pointer, message)


def test_example_calls_are_made_when_asked_for(pipeline: Caller) -> None:
    call = {"name": "no name", "roles": ["sales-rep"], "status": 200, "body": {}}
    raw = json.loads(document(lambda endpoints: endpoints[CREATE].update(example_calls=[call])))
    opened = pipeline.post(PATH, {"title": "Calls", "document": raw}).json()
    place = f"{PATH}/{opened['id']}"
    assert pipeline.get(place).json()["review"]["calls"] == []
    [result] = pipeline.get(f"{place}?calls=true").json()["review"]["calls"]
    assert (result["endpoint"], result["passed"]) == (CREATE, False)


def test_proposals_are_listed_newest_first_by_state_and_page(
    pipeline: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [_opened(pipeline, f"Title {number}")["id"] for number in range(3)]
    Proposal.objects.filter(pk=ids[0]).update(state="withdrawn")
    listed = pipeline.get(PATH).json()
    assert [proposal["id"] for proposal in listed["proposals"]] == ids[::-1]
    assert listed["next"] is None
    assert [
        proposal["id"] for proposal in pipeline.get(f"{PATH}?state=withdrawn").json()["proposals"]
    ] == ids[:1]
    monkeypatch.setattr("runtime.proposals.proposal_views._PER_PAGE", 1)
    first = pipeline.get(f"{PATH}?state=open").json()
    second = pipeline.get(first["next"]).json()
    assert [proposal["id"] for page in (first, second) for proposal in page["proposals"]] == [ids[2], ids[1]]
    assert second["next"] is None
    wrong = pipeline.get(f"{PATH}?state=live&before=x&no=1")
    assert {error["parameter"] for error in wrong.json()["errors"]} == {"no"}
    wrong = pipeline.get(f"{PATH}?state=live&before=x")
    assert {error["parameter"] for error in wrong.json()["errors"]} == {"state", "before"}


@pytest.mark.parametrize(
    ("body", "status", "pointers"),
    [
        ({}, 400, {"/title"}),
        ({"title": "A", "nonsense": 1, "delete": [1]}, 400, {"/nonsense", "/delete/0"}),
        ({"title": "A"}, 400, {""}),
        ({"title": "A", "module": "sales", "document": {}}, 400, {""}),
        ({"title": "A", "module": "sales", "delete": ["sales"]}, 400, {"/delete"}),
        ({"title": "A", "module": "nowhere"}, 422, {"/module"}),
        ({"title": "A", "document": {"format": 2, "nonsense": []}}, 422, {"/document"}),
        ({"title": "A", "document": {"format": 2}}, 422, {"/document"}),
        ([], 400, {""}),
    ],
)
def test_all_that_is_wrong_is_named_and_nothing_is_opened(
    pipeline: Caller, body: Any, status: int, pointers: set[str]
) -> None:
    answer = pipeline.post(PATH, body)
    assert answer.status_code == status, answer.content
    assert {error["pointer"] for error in answer.json()["errors"]} == pointers
    assert not Proposal.objects.exists()


def test_bodies_that_cannot_be_read(pipeline: Caller) -> None:
    assert pipeline.post(PATH, b'{"title": "A", "title": "B"}').json()["code"] == "malformed_body"
    assert pipeline.post(PATH, b"{").json()["code"] == "malformed_body"
    assert pipeline.post(PATH, b"title=A", content_type="text/plain").status_code == 415
    large = {"title": "A", "description": "d" * 3_000_000, "document": _titled("Large")}
    assert pipeline.post(PATH, large).status_code == 201
    huge = pipeline.post(PATH, b" " * (32 * 1024 * 1024 + 1))
    assert (huge.status_code, huge.json()["code"]) == (413, "too_large")


def test_only_proposal_keys_open_and_they_open_nothing_else(pipeline: Caller) -> None:
    for nobody in (Caller(), account("rep"), Caller("portico" + "a" * 16 + "_" + "0" * 64)):
        answer = nobody.get(PATH)
        assert (answer.status_code, answer.json()["code"]) == (401, "authentication_required")
    wrong = Caller("porticoproposal" + "a" * 16 + "_" + "0" * 64)
    assert (wrong.get(PATH).status_code, wrong.get(PATH).json()["code"]) == (401, "invalid_token")
    assert pipeline.post("/api/sales/accounts", {"name": "Contoso"}).json()["code"] == "invalid_token"
    assert pipeline.get("/api/context").status_code == 401
    for method in ("PUT", "PATCH", "DELETE"):
        assert pipeline.request(method, PATH).status_code == 405
    for missing in ("9999999", "x", "-1", "1" * 30):
        assert pipeline.get(f"{PATH}/{missing}").status_code == 404
        assert pipeline.get(f"{PATH}/{missing}/document").status_code == 404
    assert pipeline.get(f"{PATH}/1/other").status_code == 404


def test_a_key_is_good_while_it_is_active_in_its_time_and_from_its_place(pipeline: Caller) -> None:
    assert pipeline.get(PATH).status_code == 200
    key = ProposalKey.objects.get()
    assert key.last_used_at is not None
    client = member("anna", "Administrator")
    data = {"name": key.name, "networks": "192.0.2.0/24", "active": "on"}
    client.post(f"/admin/runtime/proposalkey/{key.pk}/change/", data)
    assert pipeline.get(PATH).status_code == 401
    elsewhere = Caller(pipeline.token, address="192.0.2.7")
    assert elsewhere.get(PATH).status_code == 200
    client.post(
        "/admin/runtime/proposalkey/", {"action": "revoke", "_selected_action": [key.pk]}, follow=True
    )
    assert elsewhere.get(PATH).status_code == 401
    noted = AuditEntry.objects.filter(account="anna").values_list("subject", flat=True)
    assert set(noted) == {f"proposal key: {key}"}


def test_wrong_keys_are_counted_as_failed_logins(pipeline: Caller) -> None:
    wrong = Caller(str(pipeline.token)[:-1] + ("0" if not str(pipeline.token).endswith("0") else "1"))
    statuses = [wrong.get(PATH).status_code for _ in range(40)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


def test_an_application_reads_what_is_proposed_before_it_is_live(pipeline: Caller) -> None:
    secret = _opened(pipeline, "Proposed")["secret"]
    manager = account("rep")
    live_tag = manager.get("/api/openapi.json").headers["ETag"]
    proposed = manager.get("/api/openapi.json", portico_proposal=secret)
    assert proposed.status_code == 200
    assert _summary(proposed) == "Proposed"
    assert proposed.headers["Cache-Control"] == "private, no-store"
    assert proposed.headers["ETag"] != live_tag
    assert "Portico-Proposal" in proposed.headers["Vary"]
    assert _summary(manager.get("/api/openapi.json")) != "Proposed"
    schema = manager.get("/api/schema/entities/sales.accounts", portico_proposal=secret)
    assert schema.json()["operations"]["create"]["path"] == "/api/sales/accounts"
    assert (
        "/api/sales/accounts"
        not in Caller().get("/api/openapi.json", portico_proposal=secret).json()["paths"]
    )
    assert manager.get("/api/schema/modules", portico_proposal=secret).status_code == 200


def test_a_new_endpoint_for_a_new_role_is_described_before_it_is_there(pipeline: Caller) -> None:
    raw = json.loads(document(lambda endpoints: None))
    made = next(one for one in raw["endpoints"] if one["kind"] == "read" and one["exposure"] == "accounts")
    raw["entities"].append({"module": "sales", "segment": "firms", "entity": "account"})
    raw["endpoints"].append({**made, "exposure": "firms", "example_calls": []})
    secret = pipeline.post(PATH, {"title": "Firms", "document": raw}).json()["secret"]
    manager = account("rep")
    path = "/api/sales/firms/{id}"
    assert path in manager.get("/api/openapi.json", portico_proposal=secret).json()["paths"]
    assert path in manager.get("/api/openapi.json?version=3.0", portico_proposal=secret).json()["paths"]
    assert "/api/context" in manager.get("/api/openapi.json", portico_proposal=secret).json()["paths"]
    assert path not in manager.get("/api/openapi.json").json()["paths"]
    named = manager.get("/api/schema/entities/sales.firms", portico_proposal=secret)
    assert named.status_code == 200
    assert manager.get("/api/schema/entities/sales.firms").status_code == 404


def test_what_is_changed_live_shows_in_what_is_proposed(pipeline: Caller) -> None:
    secret = _opened(pipeline, "Proposed")["secret"]
    manager = account("rep")
    assert _summary(manager.get("/api/openapi.json", portico_proposal=secret)) == "Proposed"
    Endpoint.objects.filter(kind="read", entity__segment="accounts").update(title="Read live")
    seen = manager.get("/api/openapi.json", portico_proposal=secret).json()["paths"]
    assert seen["/api/sales/accounts/{id}"]["get"]["summary"] == "Read live"
    Endpoint.objects.filter(pk=create_endpoint().pk).update(title="Live, too")
    assert _summary(manager.get("/api/openapi.json", portico_proposal=secret)) == "Proposed"


def test_any_other_header_is_404(pipeline: Caller) -> None:
    opened = _opened(pipeline, "Proposed")
    secret = opened["secret"]
    id, _, rest = secret.partition(".")
    manager = account("rep")
    for wrong in ("", "1", id, f"{id}.", f"{id}.{'0' * 64}", f"{int(id) + 1}.{rest}", f" {secret}x", "é.1"):
        answer = manager.get("/api/schema", portico_proposal=wrong)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), wrong
        assert answer["Cache-Control"] == "private, no-store"
        assert "Portico-Proposal" in answer["Vary"]
    Proposal.objects.filter(pk=opened["id"]).update(state="withdrawn")
    assert manager.get("/api/schema", portico_proposal=secret).status_code == 404
    # What is called is live, whatever the header says.
    assert (
        manager.post("/api/sales/accounts", {"name": "Contoso"}, portico_proposal=secret).status_code == 200
    )


def test_the_studio_makes_a_header_and_a_new_one_ends_the_old(pipeline: Caller) -> None:
    opened = _opened(pipeline, "Proposed")
    nora = member("nora", "Designer")
    address = reverse("studio:proposal", args=[opened["id"]])
    page = nora.post(address, {"secret": "1"})
    assert "no-store" in page.headers["Cache-Control"]
    [shown] = re.findall(r"Portico-Proposal: (\d+\.[0-9a-f]{64})", page.content.decode())
    assert shown not in nora.get(address).content.decode()
    manager = account("rep")
    assert manager.get("/api/schema", portico_proposal=shown).status_code == 200
    assert manager.get("/api/schema", portico_proposal=opened["secret"]).status_code == 404
    viewer = member("vera", "Viewer")
    assert viewer.post(address, {"secret": "1"}).status_code == 403
    assert manager.get("/api/schema", portico_proposal=shown).status_code == 200


def test_the_studio_shows_and_tries_what_is_proposed(pipeline: Caller) -> None:
    opened = _opened(pipeline, "Proposed")
    nora = member("nora", "Designer")
    asked = f"?proposal={opened['id']}&role=sales-rep"
    text = nora.get(reverse("studio:view_as") + asked).content.decode()
    assert "Proposed" in text
    assert _summary(nora.get(reverse("studio:view_as_document") + asked)) == "Proposed"
    schema = nora.get(reverse("studio:view_as_schema") + asked).json()
    assert any(entity["name"] == "sales.accounts" for entity in schema["entities"])
    live_schema = nora.get(reverse("studio:view_as_schema") + "?role=sales-rep").json()
    assert live_schema["revision"] == schema["revision"]
    assert nora.get(reverse("studio:view_as") + "?proposal=999").status_code == 404
    assert nora.get(reverse("studio:view_as") + "?proposal=x").status_code == 404
    proposal = nora.get(reverse("studio:proposal", args=[opened["id"]])).content.decode()
    address = reverse("studio:try_proposed", args=[opened["id"]]) + f"?endpoint={CREATE}"
    assert address in proposal.replace("&amp;", "&")
    form = nora.get(address)
    assert form.status_code == 200
    assert [mode for mode, _ in form.context["form"].fields["mode"].choices] == ["dry"]
    given = {"caller": "token", "roles": ["sales-rep"], "mode": "dry", "body__name": "N"}
    tried = nora.post(_action(form), given)
    assert tried.context["outcome"] is not None, tried.context["form"].errors
    assert [call.operation for call in tried.context["outcome"].calls if call.sent] == []
    assert nora.get(reverse("studio:try_proposed", args=[opened["id"]])).status_code == 404
    assert member("vera", "Viewer").get(address).status_code == 403


def test_who_may_call_for_real_reads_as_proposed(pipeline: Caller) -> None:
    raw = json.loads(document(lambda endpoints: None))
    made = next(one for one in raw["endpoints"] if one["kind"] == "multi-query")
    made["name"] = "renamed"
    opened = pipeline.post(PATH, {"title": "Renamed", "document": raw}).json()
    client = Client()
    client.force_login(
        User.objects.get(username="admin"), backend="django.contrib.auth.backends.ModelBackend"
    )
    key = next(
        change["key"]
        for change in pipeline.get(f"{PATH}/{opened['id']}").json()["review"]["changes"]
        if change["key"].endswith(".renamed")
    )
    address = reverse("studio:try_proposed", args=[opened["id"]]) + f"?endpoint={key}"
    form = client.get(address)
    assert [mode for mode, _ in form.context["form"].fields["mode"].choices] == ["dry", "real"]
    given = {"caller": "token", "roles": made["access"].get("roles", []), "mode": "real"}
    tried = client.post(_action(form), given)
    assert tried.context["outcome"].status == 200, tried.context["outcome"].body


def test_without_the_setting_there_is_nothing(site: Site) -> None:
    server = site.start(PROPOSALS_API="0")
    answer = requests.get(server.url + PATH, timeout=20)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
