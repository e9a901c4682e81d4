"""A document that was exported before later changes says which of them it would take back."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from designer.history.recording import Author, record_outside
from designer.imports.document_import import import_document
from designer.models import Endpoint, Role, Version
from tests.designer.proposing import live, newest, protect, step
from tests.designer.test_studio_transfer import send_document

pytestmark = pytest.mark.usefixtures("portico")
UPDATE = ("sales", "accounts", "update")


def edited(raw: bytes, **changes: Callable[[dict[str, Any]], object]) -> bytes:
    """A document with changes to endpoints of the sales accounts, by their kinds."""
    document = json.loads(raw)
    for item in document["endpoints"]:
        place = (item.get("module"), item.get("exposure"))
        if place == ("sales", "accounts") and item["kind"] in changes:
            changes[item["kind"]](item)
    return json.dumps(document).encode()


def with_another_update() -> bytes:
    """What is live, with one more endpoint."""
    document = json.loads(live())
    [update] = [
        item
        for item in document["endpoints"]
        if (item.get("module"), item.get("exposure"), item["kind"]) == UPDATE
    ]
    document["endpoints"].append({**update, "segment": "added-since"})
    return json.dumps(document).encode()


def titled(title: str) -> Callable[[dict[str, Any]], object]:
    return lambda item: item.update(title=title)


def change(raw: bytes, account: str = "anna", delete: tuple[str, ...] = ()) -> Version:
    import_document(raw, delete, Author(account, may_change_write_access=True))
    return Version.objects.latest("pk")


def dry_run(raw: bytes, folder: Path, *options: str) -> str:
    file, out = folder / "document.json", io.StringIO()
    file.write_bytes(raw)
    call_command("importconfig", str(file), "--dry-run", *options, stdout=out)
    return out.getvalue()


def taken_back(raw: bytes, folder: Path, *options: str) -> list[tuple[int, str, str, list[str]]]:
    report = json.loads(dry_run(raw, folder, "--json", *options))
    return [(one["version"], one["account"], one["what"], one["lines"]) for one in report["taken_back"]]


def test_an_older_export_names_who_changed_what_it_would_take_back(dora: Client, tmp_path: Path) -> None:
    exported = live()
    first = change(edited(live(), read=titled("Read by anna")))
    second = change(edited(live(), update=titled("Change by otto")), "otto")
    older = edited(exported, delete=titled("Mine"))

    assert [(pk, account, what) for pk, account, what, _ in taken_back(older, tmp_path)] == [
        (second.pk, "otto", "endpoint sales.accounts.update"),
        (first.pk, "anna", "endpoint sales.accounts.read"),
    ]
    said = dry_run(older, tmp_path)
    assert "Takes back what was changed here before:\n" in said
    assert f"  #{first.pk} of {first.made_at:%Y-%m-%d %H:%M} by anna, endpoint sales.accounts.read: " in said
    shown = send_document(dora, older).content.decode()
    assert "The document was made before these changes, and would take them back." in shown
    assert reverse("studio:version", args=[first.pk]) in shown


def test_a_fresh_export_takes_nothing_back(dora: Client, tmp_path: Path) -> None:
    change(edited(live(), read=titled("Read by anna")))
    change(edited(live(), read=titled("Read by anna again")))
    fresh = edited(live(), read=titled("Mine"), delete=titled("Mine"))

    assert taken_back(fresh, tmp_path) == []
    assert "Takes back" not in dry_run(fresh, tmp_path)
    assert "would take them back" not in send_document(dora, fresh).content.decode()


def test_of_one_endpoint_only_the_parts_that_go_back_are_told(tmp_path: Path) -> None:
    exported = live()
    change(edited(live(), read=titled("Read by anna")))
    older = edited(exported, read=lambda item: item.update(description="Described by me"))

    [(_, _, _, lines)] = taken_back(older, tmp_path)

    assert len(lines) == 1
    assert "Read by anna" in lines[0]


def test_an_older_export_tells_what_was_added_since_and_a_removal_alone_does_not(tmp_path: Path) -> None:
    exported = live()
    read = change(edited(live(), read=titled("Read by anna")))
    added = change(with_another_update(), "otto")

    told = taken_back(exported, tmp_path, "--delete", "sales")
    assert [(pk, account) for pk, account, _, _ in told] == [(added.pk, "otto"), (read.pk, "anna")]
    assert told[0][3] == ["removed"]

    only_removed = json.loads(live())
    only_removed["endpoints"] = [
        one for one in only_removed["endpoints"] if one.get("segment") != "added-since"
    ]
    assert taken_back(json.dumps(only_removed).encode(), tmp_path, "--delete", "sales") == []


def test_a_proposal_of_an_older_export_says_it_on_its_page(dora: Client) -> None:
    exported = live()
    changed = change(edited(live(), read=titled("Read by anna")))
    protect()
    file = SimpleUploadedFile("c.json", edited(exported, delete=titled("Mine")))
    dora.post(reverse("studio:new_proposal"), {"title": "Older", "document": file})

    shown = dora.get(reverse("studio:proposal", args=[newest().pk])).content.decode()

    assert "This takes back what was changed here before." in shown
    assert f"#{changed.pk}" in shown


def test_a_proposal_leaves_out_what_was_changed_since(dora: Client) -> None:
    older, _, _ = older_than_two_changes()
    protect()
    dora.post(
        reverse("studio:new_proposal"), {"title": "Older", "document": SimpleUploadedFile("c.json", older)}
    )
    proposal = newest()

    assert "Choose the items to leave out." in step(dora, proposal, "leave_out").content.decode()
    shown = step(dora, proposal, "leave_out", **{READ: "keep"}).content.decode()

    assert READ not in shown
    assert CHANGED in shown
    assert step(dora, proposal, "publish").status_code == 200
    assert titles()[0] == "Read by anna"
    assert titles()[1] != "Change by otto"
    assert titles()[2] == "Mine"


def test_what_was_carried_out_is_reported_as_taken_back(tmp_path: Path) -> None:
    exported = live()
    changed = change(edited(live(), read=titled("Read by anna")))
    file, out = tmp_path / "older.json", io.StringIO()
    file.write_bytes(exported)

    call_command("importconfig", str(file), "--json", stdout=out)

    assert [one["version"] for one in json.loads(out.getvalue())["taken_back"]] == [changed.pk]
    assert Endpoint.objects.get(kind="read", entity__segment="accounts").title != "Read by anna"


def older_than_two_changes() -> tuple[bytes, Version, Version]:
    """A document that was exported before two items were changed, and brings a title of its own."""
    exported = live()
    first = change(edited(live(), read=titled("Read by anna")))
    second = change(edited(live(), update=titled("Change by otto")), "otto")
    return edited(exported, delete=titled("Mine")), first, second


def titles() -> list[str]:
    rows = Endpoint.objects.filter(entity__segment="accounts", entity__module__segment="sales")
    return [rows.get(kind=kind).title for kind in ("read", "update", "delete")]


READ, CHANGED = "later-endpoints:sales.accounts.read", "later-endpoints:sales.accounts.update"


def test_a_command_leaves_what_was_changed_since_and_says_so(tmp_path: Path) -> None:
    older, first, second = older_than_two_changes()
    file, out = tmp_path / "older.json", io.StringIO()
    file.write_bytes(older)

    said = dry_run(older, tmp_path, "--keep-later-changes")
    call_command("importconfig", str(file), "--keep-later-changes", "--json", stdout=out)

    assert "Leaves as they are, with what was changed here before:\n" in said
    assert "endpoint sales.accounts.read stays as it is: what the document says of it is left out" in said
    report = json.loads(out.getvalue())
    assert (report["result"], report["taken_back"]) == ("imported", [])
    assert [(one["version"], one["account"]) for one in report["kept"]] == [
        (second.pk, "otto"),
        (first.pk, "anna"),
    ]
    assert [one["key"] for one in report["changes"]] == ["sales.accounts.delete"]
    assert titles() == ["Read by anna", "Change by otto", "Mine"]


def test_what_was_changed_past_the_studio_and_added_since_is_kept(tmp_path: Path) -> None:
    exported = live()
    Endpoint.objects.filter(kind="read", entity__segment="accounts", entity__module__segment="sales").update(
        title="By a statement"
    )
    change(with_another_update())
    before, file = live(), tmp_path / "older.json"
    file.write_bytes(exported)

    call_command("importconfig", str(file), "--keep-later-changes", "--delete", "sales", stdout=io.StringIO())

    assert live() == before


def test_a_proposal_of_a_command_leaves_what_was_changed_since(tmp_path: Path) -> None:
    older, _, _ = older_than_two_changes()
    file = tmp_path / "older.json"
    file.write_bytes(older)

    call_command("openproposal", str(file), "--keep-later-changes", stdout=io.StringIO())

    assert "Read by anna" in newest().document
    assert "Change by otto" in newest().document
    assert "Mine" in newest().document


def test_the_page_imports_only_when_somebody_has_chosen_for_each_item(dora: Client) -> None:
    older, _, _ = older_than_two_changes()
    before = live()
    digest = send_document(dora, older).context["trial"].digest

    refused = send_document(dora, older, digest=digest, **{READ: "keep"})

    assert refused.status_code == 422
    said = refused.content.decode()
    assert "Choose whether endpoint sales.accounts.update stays as it is" in said
    assert "Choose whether endpoint sales.accounts.read" not in said
    assert live() == before
    proposed = send_document(dora, older, _propose="1", **{READ: "keep"})
    assert proposed.status_code == 422


def test_the_page_leaves_what_was_chosen_and_changes_the_rest(dora: Client) -> None:
    older, _, _ = older_than_two_changes()
    digest = send_document(dora, older).context["trial"].digest

    done = send_document(dora, older, digest=digest, **{READ: "keep", CHANGED: "take"})

    assert done.status_code == 302
    assert [titles()[0], titles()[2]] == ["Read by anna", "Mine"]
    assert titles()[1] != "Change by otto"


def test_the_plan_shows_what_is_left_and_imports_no_more_than_it_showed(dora: Client) -> None:
    older, _, _ = older_than_two_changes()
    shown = send_document(dora, older, later="keep")
    said = shown.content.decode()
    kept = ["endpoints:sales.accounts.update", "endpoints:sales.accounts.read"]
    assert re.findall(r'name="kept" value="([^"]+)"', said) == kept
    assert "endpoint sales.accounts.read stays as it is" in said
    digest = shown.context["trial"].digest

    # Somebody takes one of them back after all: that is another plan.
    other = send_document(dora, older, digest=digest, kept=kept, **{READ: "keep", CHANGED: "take"})
    assert other.status_code == 200
    assert titles() == ["Read by anna", "Change by otto", titles()[2]]
    assert titles()[2] != "Mine"

    done = send_document(dora, older, digest=digest, kept=kept, **{READ: "keep", CHANGED: "keep"})
    assert done.status_code == 302
    assert titles() == ["Read by anna", "Change by otto", "Mine"]


def test_what_stays_is_judged_together_with_what_comes(dora: Client) -> None:
    """The document removes a role that is needed by an endpoint that stays as it is."""
    older = edited(live(), delete=titled("Mine"))
    Role.objects.create(name="guest")
    record_outside()
    change(edited(live(), read=lambda item: item["access"].update(roles=["guest"])))
    before = live()

    planned = send_document(dora, older, **{"remove-context": "context", READ: "keep"})

    assert planned.status_code == 422
    assert "guest" in " ".join(map(str, planned.context["problems"]))
    assert live() == before
