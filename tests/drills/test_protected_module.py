"""A protected module that two people change by proposals at once, while callers read it."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from tests.drills.ledger import Ledger, held
from tests.drills.load import load
from tests.drills.outages import going_on
from tests.drills.proposer import MODULE, PARTS, Live, Proposer, Reader, name_columns
from tests.servers import Site

pytestmark = [pytest.mark.drill, pytest.mark.processes]

_PEOPLE = f"""
from django.contrib.auth.models import Group, User
from designer.models import Protection
for name in {list(PARTS)}:
    person = User.objects.create_user(name, password="demo", is_staff=True)
    person.groups.add(Group.objects.get(name="Publisher"))
Protection.objects.create(group="{MODULE}", needs_approval=True)
"""
READERS = 4


def test_what_is_protected_changes_when_it_is_published_and_all_at_once(
    alone: Site, tmp_path: Path, seconds: float
) -> None:
    document = json.loads(alone.manage("exportconfig"))
    for part in PARTS:
        name_columns(document, part, 0)
    file = tmp_path / "portal.json"
    file.write_text(json.dumps(document))
    alone.manage("importconfig", str(file))
    alone.manage("shell", "-c", _PEOPLE)
    servers = [alone.start(WORKERS="2"), alone.start()]
    live, ledger, over = Live(), Ledger(), threading.Event()
    # Everybody has two browsers: one for the own proposals, one for those of the other.
    nora, paul, nora_too, paul_too = (Proposer(servers[0], part, live, ledger) for part in [*PARTS] * 2)
    readers = [Reader(servers[number % 2], live, ledger, over) for number in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        with (
            load(servers, ledger, callers=2),
            going_on(lambda: _round(nora, paul_too, "nora", live), pause=0.1) as of_nora,
            going_on(lambda: _round(paul, nora_too, "paul", live), pause=0.1) as of_paul,
        ):
            time.sleep(seconds)
    finally:
        over.set()
        for reader in readers:
            reader.join()
    print(ledger.report(), *(f"{name}: {person}" for name, person in (("nora", nora), ("paul", paul))))
    assert (of_nora, of_paul) == ([], [])
    assert ledger.faults == []
    assert ledger.compare(held(alone)) == []
    for person in nora, paul:
        assert min(person.published, person.taken_back, person.refused) > 0, str(person)


def _round(me: Proposer, other: Proposer, part: str, live: Live) -> None:
    """Publish, take that back, publish again; what was proposed before that can no longer go live."""
    before = live.number(part)
    stale, _ = me.propose()
    other.approve(stale)
    first, number = me.propose()
    other.approve(first)
    me.publish(first, number)
    me.overtaken(stale)
    me.go_back(first, before)
    second, number = me.propose()
    other.approve(second)
    me.publish(second, number)
