"""Every way in which what is served can be changed meets the same gate."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from designer.models import OptionSet, Proposal
from tests.designer.proposing import create_endpoint, live, protect, save
from tests.designer.ways_of_change import (
    ALL,
    WAYS,
    Way,
    a_user_property_that_it_uses,
    its_role_deleted,
    paul,  # noqa: F401  a fixture
    the_import_of_a_shell,
    the_restore_of_a_shell,
    version_noted,
)

ROOT = Path(__file__).resolve().parents[2]

# These are for what has been proposed.
PUBLISHING = {"designer.proposals.publication"}
# These are below the pages and commands that use them.
BELOW = {"designer.history.restoration", "designer.history.undo", "designer.imports.document_import"}
ENTRANCES = {
    "recording",
    "carry_out",
    "restore",
    "restore_item",
    "import_document",
    "import_source",
    "Undoing",
}


# A role in use cannot be deleted at all; and commands that are not refused fail here.
REFUSED_ANYWAY = (its_role_deleted, the_import_of_a_shell, the_restore_of_a_shell)


@pytest.mark.parametrize("way", ALL, ids=lambda way: way.__name__)
def test_what_is_protected_stays_as_it_is(paul: Client, way: Way) -> None:  # noqa: F811
    before = live()
    if way not in REFUSED_ANYWAY:
        # A way that would change nothing proves nothing.
        with transaction.atomic():
            way(paul)
            assert live() != before
            transaction.set_rollback(True)
    protect()
    way(paul)
    assert live() == before
    assert Proposal.objects.exists() == (way is the_import_of_a_shell)


def test_an_option_set_is_part_of_everything(paul: Client) -> None:  # noqa: F811
    protect("")
    before = live()
    save(paul, OptionSet.objects.get(name="drafted"), title="Other")
    a_user_property_that_it_uses(paul)
    assert live() == before


def test_every_entrance_is_among_the_ways() -> None:
    """Who writes a page that changes the configuration writes down here how, and sees it refused."""
    assert set(_using_an_entrance()) == {*WAYS, *PUBLISHING, *BELOW}


def _using_an_entrance() -> Iterator[str]:
    for part in ("designer", "runtime", "project"):
        for file in sorted((ROOT / part).rglob("*.py")):
            called = {
                node.func.id
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            names = {
                node.value.id
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            }
            if (called | names) & ENTRANCES:
                yield ".".join(file.relative_to(ROOT).with_suffix("").parts)


def test_the_offer_sends_the_same_again(paul: Client) -> None:  # noqa: F811
    """What was refused by a button becomes a proposal by another."""
    protect()
    version = version_noted("after").pk
    shown = paul.post(reverse("studio:undo"), {"version": version}, follow=True)
    assert "Edit as a proposal" in "".join(str(message) for message in shown.context["messages"])
    paul.post(reverse("studio:undo"), {"version": version, "_propose": "1"})
    proposal = Proposal.objects.get()
    changed = json.loads(proposal.document)
    titles = {one.get("title") for one in changed["endpoints"]}
    assert "Before" in titles
    assert create_endpoint().title == "After"
