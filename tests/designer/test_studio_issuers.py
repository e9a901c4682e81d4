"""Issuers in the studio: the form, what it finds, who may, and *Explain a token*."""

from __future__ import annotations

import html
import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from crmbox.demo.people import RITA_REP
from crmclient.query.ast import Column, Query
from designer.documents.document_writer import export, to_bytes
from designer.documents.protection import EVERYTHING
from designer.history.recording import Author
from designer.history.write_access import WriteAccessRefused
from designer.imports.document_import import import_document
from designer.loading import latest
from designer.models import (
    AuditEntry,
    Endpoint,
    Issuer,
    ItemChange,
    Proposal,
    Protection,
    Release,
    Role,
    RoleRule,
    Version,
)
from designer.platform import get_platform
from designer.proposals.contents import Contents
from tests.callers import Caller
from tests.designer.pages import ARGUMENT, routes
from tests.designer.proposing import protect, step
from tests.designer.studio import add_row, add_url, change_url, errors, filled, page, send
from tests.runtime import forge
from tests.runtime.issuers import AUDIENCE, KEY, OTHER_KEY, Provider, grants, issuer_row

EXPLAIN = "/admin/explain-token/"
FETCH = "/admin/designer/issuer/fetch/"


def member(group: str) -> Client:
    user = get_user_model().objects.create_user(f"one-{group.lower()}", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def root(portico: None) -> Client:
    return member("Administrator")


@pytest.fixture
def provider(portico: None, settings: Settings) -> Iterator[Provider]:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    server = Provider()
    yield server
    server.stop()


def typed(root: Client, provider: Provider, **changes: Any) -> dict[str, Any]:
    data = filled(page(root, add_url("issuer")))
    return {**data, "name": "Customers", "issuer": provider.address, "audiences": AUDIENCE, **changes}


def test_a_required_value_with_a_comma_stays_one(root: Client, provider: Provider) -> None:
    required = [{"claim": "groups", "values": ["CN=Portal,OU=Apps"]}]
    row = issuer_row(provider, required_claims=required)
    data = filled(page(root, change_url(row))) | {"description": "Changed"}
    answer = send(root, change_url(row), data)
    assert answer.status_code == 302, errors(answer)
    changed = Issuer.objects.get(pk=row.pk)
    assert (changed.required_claims, changed.description) == (required, "Changed")


def test_an_issuer_is_set_up_on_its_page(root: Client, provider: Provider) -> None:
    data = typed(
        root,
        provider,
        required_claims="tid = t1, t2\nazp",
        readable_claims="realm.level",
        roles=["support"],
    )
    add_row(data, "role_rules", claim="roles", shape="any", grants="Sales = sales-rep\nLead = sales-manager")
    answer = send(root, add_url("issuer"), data)
    assert answer.status_code == 302, errors(answer)
    [made] = latest().issuers
    assert made.to_json() == {
        "name": "Customers",
        "issuer": provider.address,
        "audiences": [AUDIENCE],
        "required_claims": [{"claim": "tid", "values": ["t1", "t2"]}, {"claim": "azp"}],
        "roles": ["support"],
        "role_rules": [
            {
                "claim": "roles",
                "grants": [
                    {"value": "Sales", "role": "sales-rep"},
                    {"value": "Lead", "role": "sales-manager"},
                ],
            }
        ],
        "readable_claims": ["realm.level"],
    }
    again = page(root, change_url(Issuer.objects.get()))
    assert "tid = t1, t2\nazp" in html.unescape(again.content.decode())
    change = ItemChange.objects.get(collection="issuers")
    assert (change.key, change.before) == ("Customers", None)
    assert AuditEntry.objects.filter(subject="issuer: Customers").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"audiences": ""}, "at least one audience"),
        ({"issuer": "ftp://provider"}, "https address"),
        ({"issuer": "https://a.example/{tenantid}"}, "at least one tenant"),
        ({"tenants": "t1"}, "Remove the tenants"),
        ({"issuer": "portico"}, "own issuer"),
        ({"key_source": "jwks"}, "address of the key set"),
        ({"key_source": "pem", "key_pem": "x"}, "PEM form"),
        ({"required_claims": "a..b = 1"}, "not a path"),
        ({"record_claim": "sub", "record_attribute": "nothing"}, "no attribute “nothing”"),
        ({"record_claim": "email", "record_attribute": "internalemailaddress"}, "anybody's e-mail address"),
        ({"caller_type": "service", "record_claim": "sub"}, "have no record"),
        ({"record_claim": "sub", "record_missing": "register"}, "Choose the endpoint"),
        ({"roles_expression": "claims."}, "The expression"),
        ({"registration_inputs": "no pair"}, "with a = between"),
    ],
    ids=str,
)
def test_what_cannot_work_is_said_at_the_form(
    root: Client, provider: Provider, changes: dict[str, Any], says: str
) -> None:
    answer = send(root, add_url("issuer"), typed(root, provider, **changes))
    assert any(says in message for message in errors(answer)), errors(answer)
    assert not Issuer.objects.exists()


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda pem: f"Our key:\n{pem}", "Remove all text before"),
        (lambda pem: pem[: len(pem) // 2], "incomplete or damaged"),
        (lambda pem: pem.replace("M", "A"), "incomplete or damaged"),
        (lambda pem: pem.replace("PUBLIC KEY", "CERTIFICATE"), "This is a certificate."),
        (lambda pem: json.dumps({"keys": [{"kty": "RSA", "n": "AQAB"}]}), "PEM form"),
        (lambda pem: pem * 80, "at most 30000 characters"),
        (lambda pem: "-----BEGIN A-----" * 100_000, "at most 30000 characters"),
    ],
    ids=["text around", "truncated", "damaged", "certificate", "key set", "many", "huge"],
)
def test_what_is_wrong_with_public_keys_is_said_at_their_field(
    root: Client, provider: Provider, made: Callable[[str], str], says: str
) -> None:
    sent = typed(root, provider, key_source="pem", key_pem=made(forge.pem(KEY)))
    at_field = send(root, add_url("issuer"), sent).context["adminform"].form.errors["key_pem"]
    assert len(at_field) == 1
    assert says in at_field[0]
    assert not Issuer.objects.exists()


@pytest.mark.parametrize("source", ["pem", "discovery"])
@pytest.mark.parametrize("part", [slice(None), slice(0, 400)], ids=["whole", "truncated"])
def test_a_private_key_is_neither_saved_nor_shown_nor_logged(
    root: Client, provider: Provider, caplog: pytest.LogCaptureFixture, source: str, part: slice
) -> None:
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    secret = KEY.private_bytes(*form).decode()[part]
    sent = typed(root, provider, key_source=source, key_pem=secret, algorithms=["RS256", "PS256"])
    with caplog.at_level(logging.DEBUG):
        answer = send(root, add_url("issuer"), sent)
    shown = answer.context["adminform"].form
    assert "This is a private key." in shown.errors["key_pem"][0]
    assert shown["algorithms"].value() == ["RS256", "PS256"]
    line = secret.splitlines()[1]
    assert line not in answer.content.decode()
    assert line not in caplog.text
    assert not Issuer.objects.exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"caller_type": "contact"}, "Callers of this issuer have no record."),
        ({"caller_type": "contact", "record_claim": "sub", "record_missing": "continue"}, "a record go on."),
        ({"caller_type": "contact", "record_claim": "sub"}, ""),
        ({"caller_type": "service"}, ""),
    ],
    ids=str,
)
def test_callers_who_may_have_no_record_are_a_warning(
    root: Client, provider: Provider, changes: dict[str, Any], says: str
) -> None:
    row = issuer_row(provider, **changes)
    shown = html.unescape(page(root, change_url(row)).content.decode())
    assert ("find nothing for them" in shown) == bool(says)
    assert says in shown
    # A type that no endpoint admits reads nothing anyway.
    Endpoint.objects.update(caller_types=["user"])
    assert "find nothing for them" not in html.unescape(page(root, change_url(row)).content.decode())


def test_the_dashboard_names_an_issuer_in_the_readers_language(root: Client, provider: Provider) -> None:
    row = issuer_row(provider, {"claim": "groups", "grants": grants(Sales="no-such-role")})
    assert f"issuer {row.name}" in page(root, reverse("admin:index")).content.decode()
    root.cookies["django_language"] = "de"
    shown = html.unescape(page(root, reverse("admin:index")).content.decode())
    assert f"Aussteller {row.name}" in shown
    assert f"issuer {row.name}" not in shown


def test_keys_that_cannot_be_read_are_a_warning(root: Client, provider: Provider) -> None:
    provider.status = 500
    answer = root.post(add_url("issuer"), typed(root, provider), follow=True)
    assert "The keys cannot be read now" in html.unescape(answer.content.decode())
    shown = html.unescape(page(root, change_url(Issuer.objects.get())).content.decode())
    assert "The keys could not be read when this was last saved" in shown
    assert "status 500" in shown


def test_an_issuer_that_the_environment_has_too_is_a_finding(
    root: Client, provider: Provider, settings: Settings
) -> None:
    entry = {"audience": AUDIENCE, "public_key": forge.pem(KEY)}
    settings.PORTICO = {**settings.PORTICO, "ISSUERS": {provider.address: entry}}
    row = issuer_row(provider)
    assert "The setting ISSUERS has" in html.unescape(page(root, change_url(row)).content.decode())
    listed = html.unescape(page(root, "/admin/designer/issuer/").content.decode())
    assert "From the setting ISSUERS" in listed


def test_fetch_fills_the_form_and_says_what_it_found(root: Client, provider: Provider) -> None:
    answer = root.post(FETCH, {"issuer": provider.address}).json()
    assert answer["fields"] == {"key_source": "discovery", "algorithms": ["RS256", "ES256"]}
    assert f"Keys: 1 at {provider.said_keys}" in answer["found"]
    provider.status = 404
    assert "404" in root.post(FETCH, {"issuer": provider.address}).json()["problem"]


def test_fetch_says_in_words_why_there_is_no_answer(
    root: Client, provider: Provider, settings: Settings
) -> None:
    provider.stop()
    problem = root.post(FETCH, {"issuer": provider.address}).json()["problem"]
    assert problem.endswith("does not answer: it refuses the connection.")
    problem = root.post(FETCH, {"issuer": "https://nowhere.invalid"}).json()["problem"]
    assert problem.endswith("does not answer: there is no host of that name.")
    # Nothing can be connected to the address of everybody. Which error says so depends on the machine's
    # routes.
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["255.255.255.255"]}
    problem = root.post(FETCH, {"issuer": "http://255.255.255.255"}).json()["problem"]
    assert re.search(r"does not answer: there is no connection to it \(E[A-Z]+\)\.$", problem), problem


def test_fetch_says_when_the_connection_is_broken_off(root: Client, provider: Provider) -> None:
    provider.broken = 2
    problem = root.post(FETCH, {"issuer": provider.address}).json()["problem"]
    assert problem.endswith("does not answer: it breaks the connection off."), problem


def test_fetch_says_that_an_address_has_to_be_https(
    root: Client, provider: Provider, settings: Settings
) -> None:
    settings.DEVELOPMENT = False
    problem = root.post(FETCH, {"issuer": provider.address}).json()["problem"]
    assert problem.endswith("is not asked. Write an absolute https address without a user name or password.")
    assert provider.asked == []


def test_fetch_does_not_look_into_the_own_network(root: Client, provider: Provider) -> None:
    address = provider.address.replace("127.0.0.1", "localhost")
    answer = root.post(FETCH, {"issuer": address}).json()
    assert "private network" in answer["problem"]
    assert provider.asked == []


@pytest.mark.parametrize("group", ["Viewer", "Designer", "Publisher"])
def test_issuers_are_the_administrators(provider: Provider, group: str) -> None:
    row = issuer_row(provider)
    someone = member(group)
    for path in ("/admin/designer/issuer/", change_url(row), add_url("issuer"), EXPLAIN):
        assert someone.get(path).status_code == 403, path
    assert someone.post(FETCH, {"issuer": provider.address}).status_code == 403
    assert someone.post(EXPLAIN, {"token": provider.token()}).status_code == 403
    assert "/admin/designer/issuer/" not in someone.get("/admin/").content.decode()
    assert provider.asked == []


def test_an_import_of_issuers_needs_an_administrator(provider: Provider) -> None:
    issuer_row(provider, {"claim": "roles", "grants": grants(Sales="sales-rep")}, record_claim="")
    raw = to_bytes(export(latest()))
    document = json.loads(raw)
    [issuer] = document["issuers"]
    assert issuer["name"] == "provider"
    issuer["audiences"] = ["somebody-else"]
    changed = json.dumps(document).encode()
    with pytest.raises(WriteAccessRefused, match="Only an administrator may change issuers"):
        import_document(changed, (), Author("dora", may_change_write_access=True))
    import_document(changed, (), Author("root", may_change_write_access=True, may_administer=True))
    assert Issuer.objects.get().audiences == ["somebody-else"]
    assert RoleRule.objects.get().claim == "roles"
    import_document(raw, (), Author("root", may_change_write_access=True, may_administer=True))
    assert to_bytes(export(latest())) == raw


def test_what_others_read_of_the_configuration_is_without_issuers(root: Client, provider: Provider) -> None:
    assert send(root, add_url("issuer"), typed(root, provider)).status_code == 302
    release = filled_release(root)
    version = ItemChange.objects.get(collection="issuers").version
    viewer = member("Viewer")
    pages = (
        *("/admin/export/document/", "/admin/versions/", f"/admin/versions/{version.pk}/"),
        *(f"/admin/releases/{release}/", f"/admin/releases/{release}/document/"),
        "/admin/versions/?list=issuers&key=Customers",
    )
    Issuer.objects.update(name="Clients")
    # The dashboard has findings and changes of issuers for those who may see them.
    assert "Customers" in root.get("/admin/").content.decode()
    Issuer.objects.update(roles=["nobody-has-this"])
    assert "issuer Clients" in root.get("/admin/").content.decode()
    for path in ("/admin/", *pages):
        answer = viewer.get(path)
        assert answer.status_code == 200, path
        if "key=" not in path:
            assert not re.search("Customers|Clients", answer.content.decode()), path
    assert "added" not in viewer.get(pages[-1]).content.decode()
    assert "Customers" in root.get(f"/admin/versions/{version.pk}/").content.decode()
    assert "Customers" in root.get(f"/admin/releases/{release}/document/").content.decode()


def test_plans_and_drafts_of_who_may_not_see_issuers_are_without_them(
    root: Client, provider: Provider
) -> None:
    issuer_row(provider)
    filled_release(root)
    Issuer.objects.update(audiences=["meanwhile"])
    publisher = member("Publisher")
    draft = "/admin/releases/new/"
    assert AUDIENCE in root.get(draft).content.decode()
    without = json.loads(to_bytes(export(latest())))
    issuer = without.pop("issuers")[0]
    others = [issuer | {"audiences": ["somebody-else"]}]

    def plan(client: Client, issuers: Any = (), **data: str) -> str:
        document = without | ({"issuers": issuers} if issuers else {})
        sent = SimpleUploadedFile("c.json", json.dumps(document).encode())
        answer = client.post("/admin/import/", {"document": sent, **data})
        assert answer.status_code == 200, answer.context["problems"]
        return answer.content.decode()

    removed = {"remove-context": "context"}
    assert "meanwhile" in plan(root, others)
    assert "issuer provider" in plan(root, **removed)
    shown = (publisher.get(draft).content.decode(), plan(publisher, others), plan(publisher, **removed))
    for text in shown:
        assert not re.search(f"issuer provider|{AUDIENCE}|meanwhile", text)
    # Only issuers are left out of what the page counts.
    assert "context: 1 item" in plan(root)
    assert "context:" not in plan(publisher)


def test_nobody_decides_about_what_their_page_of_a_proposal_does_not_show(
    root: Client, provider: Provider
) -> None:
    row = issuer_row(provider)
    without = json.loads(to_bytes(export(latest())))
    issuer = without["issuers"][0]
    title = without["endpoints"][0] | {"title": "Edited"}
    proposed = without | {
        "issuers": [issuer | {"audiences": ["somebody-else"]}],
        "endpoints": [title, *without["endpoints"][1:]],
    }
    sent = SimpleUploadedFile("c.json", json.dumps(proposed).encode())
    assert root.post("/admin/proposals/new/", {"title": "Both", "document": sent}).status_code == 302
    proposal = Proposal.objects.get()
    publisher, address = member("Publisher"), reverse("studio:proposal", args=[proposal.pk])
    hidden = re.compile(f"issuer provider|{AUDIENCE}|somebody-else|meanwhile")
    unseen = "The proposal also changes something that you may not see: issuer."
    for audiences in ([AUDIENCE], ["meanwhile"]):
        Issuer.objects.filter(pk=row.pk).update(audiences=audiences)
        shown = page(publisher, address).content.decode()
        assert unseen in shown
        assert "Edited" in shown
        assert not hidden.search(shown)
        assert not re.search('name="(approve|publish)"', shown)
        for name in ("approve", "publish", "rebase"):
            refused = step(publisher, proposal, name)
            assert unseen in refused.content.decode(), name
            assert not hidden.search(refused.content.decode())
        proposal.refresh_from_db()
        assert (proposal.state, Issuer.objects.get().audiences) == ("open", audiences)
    assert "meanwhile" in page(root, address).content.decode()
    Issuer.objects.filter(pk=row.pk).update(audiences=[AUDIENCE])
    step(root, proposal, "publish")
    assert Issuer.objects.get().audiences == ["somebody-else"]
    assert unseen in step(publisher, proposal, "go_back").content.decode()
    assert Issuer.objects.get().audiences == ["somebody-else"]
    assert not re.search('name="go_back"', page(publisher, address).content.decode())


def test_nobody_takes_an_edit_of_issuers_out_of_a_proposal_who_may_not_see_issuers(
    root: Client, provider: Provider
) -> None:
    issuer_row(provider)
    designer = member("Designer")
    document = json.loads(to_bytes(export(latest())))
    titled = document | {"endpoints": [document["endpoints"][0] | {"title": "A"}, *document["endpoints"][1:]]}
    others = titled | {"issuers": [document["issuers"][0] | {"audiences": ["somebody-else"]}]}

    def uploaded(content: dict[str, Any]) -> SimpleUploadedFile:
        return SimpleUploadedFile("c.json", json.dumps(content).encode())

    designer.post("/admin/proposals/new/", {"title": "Both", "document": uploaded(titled)})
    proposal = Proposal.objects.get()
    step(root, proposal, "replace", document=uploaded(others))
    edited = Proposal.objects.get().document
    for name, sent in (("undo_edit", {}), ("leave_out", {"later-issuers:provider": "keep"})):
        refused = step(designer, proposal, name, **sent)
        assert "something that you may not see: issuer." in refused.content.decode(), name
        assert Proposal.objects.get().document == edited, name
    # An edit of what the designer sees is the designer's to undo, and to make again.
    again = json.loads(edited)
    del again["issuers"]
    again["endpoints"][0]["title"] = "B"
    step(designer, proposal, "replace", document=uploaded(again))
    for expected in ("A", "B"):
        step(designer, proposal, "undo_edit")
        stored = json.loads(Proposal.objects.get().document)
        assert stored["endpoints"][0]["title"] == expected
        assert stored["issuers"][0]["audiences"] == ["somebody-else"]
    step(root, proposal, "undo_edit")
    step(root, proposal, "leave_out", **{"later-issuers:provider": "keep"})
    assert json.loads(Proposal.objects.get().document)["issuers"] == document["issuers"]


@pytest.mark.parametrize("protected", [False, True], ids=["free", "protected"])
def test_no_address_names_an_issuer_to_who_may_not_see_issuers(
    root: Client, provider: Provider, protected: bool
) -> None:
    """Whatever administrators have done with it, and whichever way back somebody else tries."""
    row = issuer_row(provider, name="Sesame")
    filled_release(root)
    for text in ("One", "Two"):
        data = filled(page(root, change_url(row))) | {"description": text}
        assert send(root, change_url(row), data).status_code == 302
    first, _ = ItemChange.objects.filter(collection="issuers").order_by("-pk")[:2][::-1]
    restored = {"change": first.pk, "to": "after"}
    assert root.post(f"/admin/versions/{first.version_id}/restore/", restored).status_code == 302
    undone = {"version": Version.objects.latest("pk").pk}
    assert root.post("/admin/versions/undo/", undone).status_code == 302
    protect(EVERYTHING)
    data = filled(page(root, change_url(row))) | {"description": "Whose?", "_propose": "1"}
    assert send(root, change_url(row), data).status_code == 302
    proposal = Proposal.objects.get()
    if not protected:
        Protection.objects.all().delete()

    publisher = member("Publisher")
    ids = {
        "issuer": [row.pk],
        "versions": list(Version.objects.values_list("pk", flat=True)),
        "releases": list(Release.objects.values_list("pk", flat=True)),
        "proposals": [proposal.pk],
    }
    shown = set()
    for route in routes():
        kind = next((kind for kind in ids if f"/{kind}/<" in route.path), None)
        is_plain = not ARGUMENT.search(route.path) and "?P<" not in route.path and "logout" not in route.path
        for id in ids[kind] if kind else [""] if is_plain else []:
            address = ARGUMENT.sub(str(id), route.path)
            assert "Sesame" not in _text_of(publisher.get(address, follow=True)), address
            shown.add(kind)
    assert shown == {None, *ids}
    ways = [
        *((f"/admin/versions/{id}/restore/", {}) for id in ids["versions"]),
        *(("/admin/versions/undo/", {"version": str(id)}) for id in ids["versions"]),
        *((f"/admin/releases/{id}/restore/", {}) for id in ids["releases"]),
    ]
    before_ways = Issuer.objects.values().get()
    for address, sent in ways:
        for way in ({}, {"_propose": "1"}):
            assert "Sesame" not in _text_of(publisher.post(address, {**sent, **way}, follow=True)), address
    assert Issuer.objects.values().get() == before_ways


def _text_of(answer: Any) -> str:
    return b"".join(answer).decode()


def test_an_import_removes_nothing_that_its_account_may_not_see(root: Client, provider: Provider) -> None:
    issuer_row(provider)
    Role.objects.create(name="unused")
    document = json.loads(to_bytes(export(latest())))
    del document["issuers"]
    document["roles"] = [role for role in document["roles"] if role["name"] != "unused"]

    def sent(client: Client, **data: str) -> Any:
        file = SimpleUploadedFile("c.json", json.dumps(document).encode())
        return client.post("/admin/import/", {"document": file, "remove-context": "context", **data})

    publisher = member("Publisher")
    assert sent(publisher, _propose="1", _why="Without").status_code == 302
    removed = Contents.of(Proposal.objects.get()).removed
    assert ("roles", "unused") in removed
    assert not any(field == "issuers" for field, _ in removed)
    shown = sent(publisher)
    assert sent(publisher, digest=shown.context["trial"].digest).status_code == 302
    assert not Role.objects.filter(name="unused").exists()
    assert Issuer.objects.count() == 1
    # Whoever sees them means it.
    shown = sent(root)
    assert sent(root, digest=shown.context["trial"].digest).status_code == 302
    assert not Issuer.objects.exists()


def test_the_changelog_that_is_proposed_tells_nobody_of_issuers(root: Client, provider: Provider) -> None:
    filled_release(root)
    issuer_row(provider)
    Role.objects.create(name="added")
    draft = page(root, "/admin/releases/new/")
    assert "issuer provider" in draft.content.decode()
    proposed = {field.name: field.value() or "" for field in draft.context["form"]}
    assert root.post("/admin/releases/new/", proposed).status_code == 302
    made = Release.objects.exclude(major=1, minor=0).get()
    shown = member("Viewer").get(f"/admin/releases/{made.pk}/").content.decode()
    assert "role added" in shown
    assert not re.search(f"provider|{AUDIENCE}", made.changelog + shown)


def filled_release(root: Client) -> int:
    root.post("/admin/releases/new/", {"major": 1, "minor": 0, "name": "One", "changelog": ""})
    return int(Release.objects.get(major=1).pk)


def explained(client: Client, token: str) -> dict[str, tuple[str, str, str]]:
    """Result, expected and found of each step of the page, by its title."""
    answer = client.post(EXPLAIN, {"token": token})
    assert answer.status_code == 200
    text = answer.content.decode()
    assert token not in text
    cell = r"<t[dh][^>]*>(.*?)</t[dh]>"
    steps = {}
    for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)[1:]:
        parts = re.findall(cell, row, re.DOTALL)
        cells = [html.unescape(re.sub(r"<[^>]+>", "", part)).strip() for part in parts]
        steps[cells[1]] = (cells[0], cells[2], cells[3])
    return steps


def test_a_good_token_passes_each_step(root: Client, provider: Provider) -> None:
    user = get_platform().query(Query("systemuser", (Column("systemuserid"),))).rows[0]["systemuserid"]
    issuer_row(
        provider,
        {"claim": "roles", "grants": grants(Sales="sales-rep")},
        record_claim="crm",
        record_missing="continue",
    )
    steps = explained(root, provider.token(roles=["Sales"], crm=str(user)))
    assert {result for result, _, _ in steps.values()} == {"✔ passed"}
    assert steps["Roles by “roles”"][2] == "Sales → sales-rep"
    assert steps["Roles"][2] == "sales-rep"
    assert "fullName" in steps["User properties"][2] or "fullname" in steps["User properties"][2]


def test_a_bad_token_shows_each_step_that_fails(root: Client, provider: Provider) -> None:
    row = issuer_row(provider, required_claims=[{"claim": "tid", "values": ["t1"]}], record_claim="oid")
    steps = explained(
        root, provider.token(key=OTHER_KEY, aud="other", exp=int(time.time()) - 600, tid="t2", oid="x")
    )
    failed = [title for title, (result, _, _) in steps.items() if result == "✖ failed"]
    assert failed == ["Signature", "Audience", "Not expired", "Required claims", "Record"]
    assert steps["Audience"][1:] == (f"one of: {AUDIENCE}", "other")
    assert re.search(r", 6\d\d s ago by this clock", steps["Not expired"][2])
    page_text = root.post(EXPLAIN, {"token": provider.token(aud="other")}).content.decode()
    assert f'href="{change_url(row)}#id_audiences"' in page_text


@pytest.mark.parametrize(
    ("make", "failed"),
    [
        (lambda signer: "no token", ["Form"]),
        (lambda signer: signer.token(iss="https://elsewhere.example"), ["Issuer"]),
        (lambda signer: signer.token(kid="k9"), ["Key", "Signature"]),
        (lambda signer: signer.token(groups=[], hasgroups=True), ["Groups"]),
        (lambda signer: signer.token(_claim_names={"groups": "src1"}), ["Groups"]),
        (lambda signer: signer.token(exp=10**400), ["Not expired"]),
        (lambda signer: signer.token(iat=10**400), ["Valid already"]),
    ],
    ids=["no token", "unknown issuer", "unknown key", "too many groups", "groups elsewhere", "end", "start"],
)
def test_explaining_names_the_step(root: Client, provider: Provider, make: Any, failed: list[str]) -> None:
    issuer_row(provider)
    steps = explained(root, make(provider))
    assert [title for title, (result, _, _) in steps.items() if result == "✖ failed"] == failed


CONTACTS = {
    "caller_type": "contact",
    "record_claim": "email",
    "record_attribute": "emailaddress1",
    "record_verified": "email_verified",
}


def failures(client: Client, token: str) -> dict[str, tuple[str, str]]:
    """What was found by each step that failed, and the field that its setting links to."""
    text = client.post(EXPLAIN, {"token": token}).content.decode()
    failed = {}
    for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)[1:]:
        if "✖" in row:
            *_rest, title, _expected, explanation, setting = re.findall(
                r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL
            )
            link = re.search(r'href="([^"]+)"', setting)
            failed[title] = (html.unescape(explanation), link[1].rpartition("/")[2] if link else "")
    return failed


def new_contact(mail: str) -> str:
    return get_platform().create("contact", {"lastname": "Twin", "emailaddress1": mail}).id


@pytest.mark.parametrize(
    ("user", "found"),
    [(RITA_REP, "is disabled on the platform"), (str(uuid.uuid4()), "does not exist on the platform")],
    ids=["disabled", "gone"],
)
def test_a_token_of_a_user_whom_requests_refuse_is_not_accepted(
    root: Client, provider: Provider, user: str, found: str
) -> None:
    issuer_row(provider, record_claim="oid", record_missing="continue")
    get_platform().update("systemuser", RITA_REP, {"isdisabled": True})
    token = provider.token(oid=user)
    refused = Caller(token).get("/api/context")
    assert (refused.status_code, refused.json()["code"]) == (403, "no_platform_user")
    assert failures(root, token) == {"Record": (f"The user {user} {found}.", "#id_record_claim")}
    assert explained(root, token)["User properties"][0] == "– not looked at"
    assert "The token is refused" in root.post(EXPLAIN, {"token": token}).content.decode()


@pytest.mark.parametrize("claim", ["", "oid"])
def test_a_token_of_an_unknown_caller_type_is_not_accepted(
    root: Client, provider: Provider, claim: str
) -> None:
    issuer_row(provider, caller_type="former", record_claim=claim)
    token = provider.token(oid="x")
    assert Caller(token).get("/api/context").status_code in (401, 403)
    assert failures(root, token) == {"Caller type": ("There is no caller type “former”.", "#id_caller_type")}
    assert "The token is refused" in root.post(EXPLAIN, {"token": token}).content.decode()


def test_two_records_are_named_whether_or_not_they_are_active(root: Client, provider: Provider) -> None:
    issuer_row(provider, **CONTACTS)
    ids = [new_contact("twin@contoso.example") for _ in range(2)]
    for id in ids:
        get_platform().update("contact", id, {"statecode": 1})
    token = provider.token(email="twin@contoso.example", email_verified=True)
    [(title, (explanation, setting))] = failures(root, token).items()
    assert (title, setting) == ("Record", "#id_record_attribute")
    assert explanation.startswith("2 records: ")
    assert all(id in explanation for id in ids)


@pytest.mark.parametrize(
    ("claims", "says", "setting"),
    [
        ({}, "The token has no claim “email”. It has: iat.", "#id_record_claim"),
        ({"email": "a@b.example"}, "The token has no claim “email_verified”", "#id_record_verified"),
        (
            {"email": "a@b.example", "email_verified": False},
            "“email_verified” does not say that it is verified",
            "#id_record_verified",
        ),
        ({"email": "a@b.example", "email_verified": True}, "no such record", "#id_record_missing"),
    ],
)
def test_a_record_that_is_not_found_names_the_setting_to_change(
    root: Client, provider: Provider, claims: dict[str, Any], says: str, setting: str
) -> None:
    issuer_row(provider, **CONTACTS)
    token = provider.token(**claims)
    [(title, (explanation, link))] = failures(root, token).items()
    assert (title, link) == ("Record", setting)
    assert says in explanation
    # There is nobody whose properties could be shown.
    assert explained(root, token)["User properties"][0] == "– not looked at"


def test_role_rules_that_find_nothing_are_said_of_a_token_that_is_accepted(
    root: Client, provider: Provider
) -> None:
    row = issuer_row(provider, {"claim": "realm_access.roles", "grants": grants(Sales="sales-rep")})
    token = provider.token(groups=["Sales"])
    steps = explained(root, token)
    assert steps["Roles by “realm_access.roles”"][2] == (
        "no role: The token has no claim “realm_access.roles”. It has: groups, iat."
    )
    assert failures(root, token) == {
        "Roles": ("no role: endpoints that ask for a role refuse this caller (403)", "#id_role_rules-0-claim")
    }
    assert "✔ The token is accepted" in root.post(EXPLAIN, {"token": token}).content.decode()
    RoleRule.objects.filter(issuer=row).update(claim="groups", shape="commas")
    steps = explained(root, token)
    assert "another shape" in steps["Roles by “groups”"][2]
    RoleRule.objects.filter(issuer=row).update(shape="array")
    assert failures(root, token) == {}


def test_an_issuer_that_is_nearly_known_is_named(root: Client, provider: Provider) -> None:
    row = issuer_row(provider)
    other = provider.token(iss=f"{provider.address}/")
    assert failures(root, other)["Issuer"] == (
        f"{provider.address}/: only the final / differs from {provider.address}",
        "#id_issuer",
    )
    row.enabled = False
    row.save()
    assert failures(root, provider.token())["Issuer"] == (
        f"{provider.address}: the issuer “provider” is disabled",
        "#id_enabled",
    )
    elsewhere = root.post(
        EXPLAIN, {"token": provider.token(iss="https://elsewhere.example")}
    ).content.decode()
    assert '<a href="/admin/designer/issuer/">' in elsewhere


@pytest.mark.parametrize("before", ["Bearer ", "Authorization: Bearer ", "authorization:bearer\n", "\n "])
def test_a_token_is_pasted_with_what_stands_before_it(root: Client, provider: Provider, before: str) -> None:
    issuer_row(provider)
    text = root.post(EXPLAIN, {"token": before + provider.token()}).content.decode()
    assert "✔ The token is accepted" in text


def test_an_opaque_token_is_called_one(root: Client) -> None:
    assert "an opaque token" in failures(root, "A" * 43)["Form"][0]


def test_a_token_of_the_service_itself_is_explained_too(root: Client) -> None:
    steps = explained(root, forge.signed(forge.claims(exp=1)))
    assert steps["A token of this service"][0] == "✖ failed"
    assert steps["A token of this service"][2] == "The token has expired."


def test_the_token_is_neither_kept_nor_logged(
    root: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    issuer_row(provider)
    caplog.set_level(logging.DEBUG)
    marked = provider.token(sub="marked", email="marked@contoso.example")
    answer = root.post(EXPLAIN, {"token": marked})
    assert "no-store" in answer["Cache-Control"]
    said = json.dumps([record.__dict__ for record in caplog.records], default=str)
    assert marked not in said
    assert "marked" not in said
    assert not AuditEntry.objects.filter(detail__contains="marked").exists()
    assert root.get(EXPLAIN, {"token": marked}).content.decode().count(marked) == 0


def test_role_rules_stand_under_the_other_roles(root: Client, provider: Provider) -> None:
    row = issuer_row(provider, {"claim": "roles", "grants": grants(Sales="sales-rep")})
    for url in (change_url(row), add_url("issuer")):
        text = page(root, url).content.decode()
        places = [
            text.index(f'name="{name}"')
            for name in ("roles_expression", "role_rules-TOTAL_FORMS", "record_claim")
        ]
        assert places == sorted(places)
        assert text.count('name="role_rules-TOTAL_FORMS"') == 1
