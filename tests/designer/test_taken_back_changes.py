"""A document that was exported before later changes says which of them it would take back."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from designer.history.recording import Author
from designer.imports.document_import import import_document
from designer.models import Endpoint, Version
from tests.designer.proposing import live, newest, protect
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
    assert "This takes back what was changed here before." in shown
    assert reverse("studio:version", args=[first.pk]) in shown


def test_a_fresh_export_takes_nothing_back(dora: Client, tmp_path: Path) -> None:
    change(edited(live(), read=titled("Read by anna")))
    change(edited(live(), read=titled("Read by anna again")))
    fresh = edited(live(), read=titled("Mine"), delete=titled("Mine"))

    assert taken_back(fresh, tmp_path) == []
    assert "Takes back" not in dry_run(fresh, tmp_path)
    assert "This takes back" not in send_document(dora, fresh).content.decode()


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
    draft = json.loads(live())
    [update] = [
        item
        for item in draft["endpoints"]
        if (item.get("module"), item.get("exposure"), item["kind"]) == UPDATE
    ]
    draft["endpoints"].append({**update, "segment": "added-since"})
    added = change(json.dumps(draft).encode(), "otto")

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


def test_what_was_carried_out_is_reported_as_taken_back(tmp_path: Path) -> None:
    exported = live()
    changed = change(edited(live(), read=titled("Read by anna")))
    file, out = tmp_path / "older.json", io.StringIO()
    file.write_bytes(exported)

    call_command("importconfig", str(file), "--json", stdout=out)

    assert [one["version"] for one in json.loads(out.getvalue())["taken_back"]] == [changed.pk]
    assert Endpoint.objects.get(kind="read", entity__segment="accounts").title != "Read by anna"
