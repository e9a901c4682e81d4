"""Every message of the studio that something was changed offers to undo it, or is listed with a reason."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.contrib import admin
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from designer.models import (
    CallerType,
    Endpoint,
    ExposedEntity,
    Issuer,
    Module,
    OptionSet,
    Proposal,
    Role,
    UserProperty,
)
from designer.proposals.new_proposals import content_digest
from designer.studio.saving.checked_save import CheckedAdmin
from tests.designer.proposing import (
    create_endpoint,
    document,
    live,
    member,
    newest,
    protect,
    step,
    upload,
)
from tests.designer.studio import add_url, change_url, errors, filled, page
from tests.designer.two_people import opened
from tests.designer.ways_of_change import (
    ALL,
    Way,
    its_role_deleted,
    paul,  # noqa: F401  a fixture
    the_import_of_a_shell,
    the_restore_of_a_shell,
)

ROOT = Path(__file__).resolve().parents[2]
OFFER = re.compile(
    r'<form class="studio-undo" method="post" action="([^"]+)">.*?'
    r'<button[^>]* name="(\w+)" value="(\w+)">Undo</button>'
)

# A role in use cannot be deleted; a shell has no page.
WITHOUT_MESSAGE = (its_role_deleted, the_import_of_a_shell, the_restore_of_a_shell)
MESSAGES_OF = [way for way in ALL if way not in WITHOUT_MESSAGE]


def _messages(answer: Any) -> list[Any]:
    return list(get_messages(answer.wsgi_request))


def _undo(client: Client, answer: Any) -> Any:
    """Press the button of the message that `answer` left, and confirm what that asks."""
    # Earlier messages that no page has shown yet stand before its own.
    last = str(_messages(answer)[-1])
    offer = OFFER.search(last)
    assert offer is not None, last
    address, name, value = map(html.unescape, offer.groups())
    return _sent(client, address, {name: value})


def _sent(client: Client, address: str, data: dict[str, str]) -> Any:
    answer = client.post(address, data)
    if answer.status_code == 200:
        digest = re.search(r'name="confirmed" value="([^"]+)"', answer.content.decode())
        assert digest is not None, answer.content.decode()
        answer = client.post(address, {**data, "confirmed": digest[1]})
    assert answer.status_code == 302, answer
    return answer


class _Watching(Client):
    """A client that remembers the last answer of a page that left a message."""

    last: Any = None

    def request(self, **request: Any) -> Any:
        answer = super().request(**request)
        if request.get("REQUEST_METHOD") == "POST":
            self.last = answer
        return answer


@pytest.mark.parametrize("way", MESSAGES_OF, ids=lambda way: way.__name__)
def test_the_message_of_each_way_of_change_undoes_it(paul: Client, way: Way) -> None:  # noqa: F811
    client = _Watching()
    client.cookies = paul.cookies
    before = live()
    way(client)
    after = live()
    assert after != before
    undone = _undo(client, client.last)
    assert live() == before
    _undo(client, undone)
    assert live() == after


class Example(NamedTuple):
    """What somebody types to add a row, and to change it."""

    typed: dict[str, Any]
    changed: dict[str, Any]


def _accounts() -> ExposedEntity:
    return ExposedEntity.objects.get(segment="accounts", module__segment="sales")


EXAMPLES: dict[type[Model], Callable[[], Example]] = {
    Module: lambda: Example({"segment": "more", "title": "More"}, {"title": "Other"}),
    Role: lambda: Example({"name": "guest", "title": "Guests"}, {"title": "Other"}),
    CallerType: lambda: Example({"name": "partner", "entity": "lead"}, {"title": "Other"}),
    UserProperty: lambda: Example(
        {"name": "phone", "attribute": "address1_telephone1"}, {"attribute": "internalemailaddress"}
    ),
    Issuer: lambda: Example(
        {"name": "Staff", "issuer": "https://login.example.com/", "audiences": "api", "enabled": None},
        {"audiences": "other"},
    ),
    ExposedEntity: lambda: Example(
        {"module": _accounts().module_id, "entity": "account", "segment": "firms"}, {"title": "Other"}
    ),
    Endpoint: lambda: Example(
        {"kind": "upsert", "entity": _accounts().pk, "name": "more", "enabled": None}, {"title": "Other"}
    ),
    OptionSet: lambda: Example(
        {"kind": "option-set", "name": "more", "settings__option_set": "new_priority"}, {"title": "Other"}
    ),
}
# Rows that no version holds, and why what happens to them is not undone by a button.
ROWS_WITHOUT_UNDO = {
    "User": "An account of the studio is no part of the configuration. The audit log says what was before.",
    "Group": "What a group may do is no part of the configuration. The audit log says what was before.",
    "ApiAccount": "It is no part of the configuration. The audit log says what was before.",
    "ApiKey": "A key is made once and shown once. The audit log says what its settings were before.",
    "ProposalKey": "A key is made once and shown once. The audit log says what its settings were before.",
    "Registration": "Who has registered is data of callers, and no part of the configuration.",
    "RefusalCount": "Only looked at.",
    "FailedLogins": "Only looked at.",
    "EnvironmentValue": "Only looked at: an import writes it.",
}


def _pages() -> dict[type[Model], Any]:
    return dict(admin.site._registry)


def test_rows_of_every_page_have_undo_or_a_reason() -> None:
    checked = {model for model, pages in _pages().items() if isinstance(pages, CheckedAdmin)}
    assert checked == set(EXAMPLES)
    others = {model.__name__ for model in _pages()} - {model.__name__ for model in checked}
    assert others <= set(ROWS_WITHOUT_UNDO)


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.__name__)
def test_a_row_that_is_added_changed_and_deleted_is_undone_each_time(
    portico: None, model: type[Model]
) -> None:
    client = member("ada", "Administrator")
    name = model._meta.model_name
    typed, changed = EXAMPLES[model]()

    def undone_and_done(act: Callable[[], Any]) -> None:
        before = live()
        answer = act()
        assert answer.status_code == 302, errors(answer)
        after = live()
        assert after != before
        undone = _undo(client, answer)
        assert live() == before
        _undo(client, undone)
        assert live() == after

    def the_row() -> Any:
        return model._default_manager.latest("pk")

    def delete() -> Any:
        return client.post(reverse(f"admin:designer_{name}_delete", args=[the_row().pk]), {"post": "yes"})

    def delete_from_the_list() -> Any:
        sent = {"action": "delete_selected", "_selected_action": [the_row().pk], "post": "yes"}
        return client.post(reverse(f"admin:designer_{name}_changelist"), sent)

    def add() -> Any:
        return client.post(
            add_url(str(name)), _without_none(filled(page(client, add_url(str(name)))) | typed)
        )

    undone_and_done(add)
    undone_and_done(
        lambda: client.post(change_url(the_row()), _without_none(opened(client, the_row()) | changed))
    )
    undone_and_done(delete)
    assert add().status_code == 302
    undone_and_done(delete_from_the_list)


def test_the_steps_of_a_proposal_are_undone(portico: None) -> None:
    protect(needs_approval=True)
    nora, pia = member("nora", "Publisher"), member("pia", "Publisher")
    nora.post(reverse("studio:new_proposal"), {"title": "T", "module": "sales"})
    proposal = newest()
    pages = reverse("studio:proposal", args=[proposal.pk])

    def state() -> tuple[str, str, str]:
        kept = Proposal.objects.get(pk=proposal.pk)
        return kept.state, kept.approved_by, kept.closed_by

    approved = pia.post(pages, {"approve": content_digest(proposal)})
    assert state() == ("approved", "pia", "")
    undone = _undo(pia, approved)
    assert state() == ("open", "", "")
    _undo(pia, undone)
    withdrawn = nora.post(pages, {"withdraw": "1"})
    assert state() == ("withdrawn", "pia", "nora")
    undone = _undo(nora, withdrawn)
    # What was approved has not changed meanwhile.
    assert state() == ("approved", "pia", "")
    _undo(nora, undone)
    assert state() == ("withdrawn", "pia", "nora")
    step(nora, proposal, "reopen")
    assert "The proposal is not withdrawn." in step(nora, proposal, "reopen").content.decode()
    step(pia, proposal, "withdraw_approval")
    assert "The proposal is not approved." in step(pia, proposal, "withdraw_approval").content.decode()


KEY = "sales.accounts.create"


def _titled(title: str) -> bytes:
    return document(lambda endpoints: endpoints[KEY].update(title=title))


def _rebased(client: Client, pages: str) -> Any:
    Endpoint.objects.filter(pk=create_endpoint().pk).update(description="Said live")
    return client.post(pages, {"rebase": "1"})


def _replaced(client: Client, pages: str) -> Any:
    return client.post(pages, {"replace": "1", "document": upload(_titled("Third"))})


def _left_out(client: Client, pages: str) -> Any:
    return client.post(pages, {"leave_out": "1", f"later-endpoints:{KEY}": "keep"})


def _added(client: Client, pages: str) -> Any:
    """What was refused because it is protected, added to the proposal from the page of the form."""
    number = pages.rstrip("/").rpartition("/")[2]
    row = Endpoint.objects.get(kind="read", entity=_accounts())
    data = opened(client, row) | {"title": "Read it", "_propose": "1", "_proposal": number}
    return client.post(change_url(row), data)


@pytest.mark.parametrize("edit", [_rebased, _replaced, _left_out, _added], ids=lambda edit: edit.__name__)
def test_edits_of_a_proposal_are_undone(portico: None, edit: Callable[[Client, str], Any]) -> None:
    protect(needs_approval=True)
    nora, pia = member("nora", "Publisher"), member("pia", "Publisher")

    def proposed(endpoints: dict[str, Any]) -> None:
        endpoints[KEY]["title"] = "Second"
        endpoints["sales.accounts.delete"]["title"] = "Delete it"

    nora.post(reverse("studio:new_proposal"), {"title": "T", "document": upload(document(proposed))})
    proposal = newest()
    pages = reverse("studio:proposal", args=[proposal.pk])
    step(pia, proposal, "approve")

    def contents() -> tuple[str, ...]:
        kept = Proposal.objects.get(pk=proposal.pk)
        return kept.document, kept.base, kept.state, kept.approved_by, kept.edited_by

    before = contents()
    assert before[2:] == ("approved", "pia", "nora")
    answer = edit(pia, pages)
    assert answer.status_code == 302, answer
    after = contents()
    assert after[2:] == ("open", "", "pia")
    undone = _undo(nora, answer)
    assert contents() == before
    # And done again: whoever undoes is not who has edited.
    done = _undo(nora, undone)
    assert contents() == after
    # Of what has changed since, nothing is undone.
    step(nora, proposal, "replace", document=upload(_titled("Fourth")))
    last = contents()
    address, name, value = map(html.unescape, OFFER.search(str(_messages(done)[-1])).groups())  # type: ignore[union-attr]
    refused = nora.post(address, {name: value})
    assert "The proposal was changed since. Nothing was undone." in refused.content.decode()
    assert contents() == last


def test_only_who_may_edit_a_proposal_undoes_an_edit(portico: None) -> None:
    nora, vera = member("nora", "Designer"), member("vera", "Viewer")
    nora.post(reverse("studio:new_proposal"), {"title": "T", "document": upload(_titled("Second"))})
    proposal = newest()
    answer = _replaced(nora, reverse("studio:proposal", args=[proposal.pk]))
    address, name, value = map(html.unescape, OFFER.search(str(_messages(answer)[-1])).groups())  # type: ignore[union-attr]
    assert vera.post(address, {name: value}).status_code == 403
    step(nora, proposal, "withdraw")
    assert "Nothing was undone." in nora.post(address, {name: value}).content.decode()


def test_only_who_may_make_a_step_takes_it_back(portico: None) -> None:
    nora, vera = member("nora", "Designer"), member("vera", "Viewer")
    nora.post(reverse("studio:new_proposal"), {"title": "T", "module": "sales"})
    proposal = newest()
    step(nora, proposal, "withdraw")
    for client, name in ((vera, "reopen"), (vera, "withdraw_approval"), (nora, "withdraw_approval")):
        assert step(client, proposal, name).status_code == 403
    proposal.refresh_from_db()
    assert proposal.state == "withdrawn"


# Functions that tell of a success or of news and offer no *Undo*, and why.
TOLD_WITHOUT_UNDO = {
    # Nothing was changed.
    "designer.studio.endpoint_admin.EndpointAdmin.response_add": "Beside the message that offers it.",
    "designer.studio.pages.import_page.ImportPage._import": "Says that nothing was changed.",
    "designer.studio.pages.matrix.MatrixPage.post": "Says why nothing can be changed.",
    "designer.studio.pages.release_pages.RestoreRelease.post": "Says that nothing was changed.",
    "designer.studio.pages.undo_page.Undo.post": "Says that there is nothing to undo.",
    "designer.studio.pages.versions.RestoreVersion.post": "Says that nothing was changed.",
    "designer.studio.saving.checked_save._tell_merged": "Beside the message that offers it.",
    "designer.studio.trying.try_page._call_once": "Says what became of a call.",
    "designer.studio.trying.try_page._shown_call": "Says what became of a call.",
    # Something was made that can be left, and is withdrawn on its own page.
    "designer.studio.pages.import_page._open_proposal": "Its page withdraws the proposal.",
    "designer.studio.pages.proposal_pages.NewProposalPage.post": "Its page withdraws the proposal.",
    "designer.studio.saving.refused_as_proposal.open_as_proposal": "Its page withdraws the proposal.",
    "designer.studio.pages.release_pages.NewReleasePage._make_release": "A release changes nothing.",
    # Nothing holds what was before.
    "designer.studio.pages.platform.AcceptMetadata.post": "A finding ends; nothing else does.",
    # No part of the configuration: the audit log says what was before.
    "designer.studio.pages.protection_page.ProtectionPage.post": "The same page sets it back.",
    "designer.studio.pages.two_factor.TwoFactorPage._confirm": "Needs the code of the app.",
    "designer.studio.pages.two_factor.TwoFactorPage._end": "Needs a new secret, and the code of the app.",
    "designer.studio.studio_accounts.StudioAccountAdmin.end_two_factor": "The secret is gone.",
    "designer.studio.studio_accounts.StudioAccountAdmin.lift_lock_out": "Nobody is locked out by hand.",
    "runtime.admin.ApiAccountAdmin.lift_lock_out": "Nobody is locked out by hand.",
    "runtime.admin.ApiAccountAdmin.revoke_tokens": "They may be stolen.",
    "runtime.callers.keys.hashed_key_pages.HashedKeyAdmin.revoke": "It may be stolen.",
}
# Through these it is offered, where there is a version.
OFFERING = {
    "designer.studio.saving.undo_offers.say_done",
    "designer.studio.pages.proposal_steps._say_done",
    "designer.studio.pages.proposal_steps._say_edited",
    "designer.studio.saving.checked_save.CheckedAdmin.message_user",
}


def test_every_message_offers_undo_or_has_a_reason() -> None:
    """Who writes a message of a success uses `say_done`, or writes down here why nothing is undone."""
    assert set(_telling()) - OFFERING == set(TOLD_WITHOUT_UNDO)


def _telling() -> Iterator[str]:
    """The functions that leave a message of a success or of news, without those whose text has the button."""
    for part in ("designer", "runtime", "project"):
        for file in sorted((ROOT / part).rglob("*.py")):
            place = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            yield from _telling_in(ast.parse(file.read_text(encoding="utf-8")), place)


def _telling_in(tree: ast.AST, place: str) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield from _telling_in(node, f"{place}.{node.name}")
        elif isinstance(node, ast.Call) and _tells(node):
            yield place
        else:
            yield from _telling_in(node, place)


def _tells(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or "_undo(" in ast.unparse(call):
        return False
    written = ast.unparse(call.func)
    if call.func.attr == "message_user":
        return "WARNING" not in ast.unparse(call) and "ERROR" not in ast.unparse(call)
    return written in ("messages.success", "messages.info", "messages.add_message")
