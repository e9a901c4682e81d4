"""Two people in haste at the studio: wrong clicks, back, reload, renames, deletions, imports, lost logins.

Held to facts, whatever the pages say:

- No page and no call is answered with 500 or more, and no script fails.
- Nobody is let in without being chosen. After each change, every operation is called as nobody and as an
  account of each role. Whoever is let in anew must follow from a form: the endpoint's own, with the choice in
  it; an action of the list on it; a cell of the matrix, with the answer to its question where the operation
  writes or takes no token; an undo, with that answer where it writes, but for what the undone change has
  removed or switched off; an import, a restore or a proposal, whose plan the page shows. What people do to
  roles, modules, entities and properties lets nobody in.
- Of endpoints that were called of late, none stops to be answered and none moves but by a form that answers
  a question: the tick of a save, *Change it anyway*, the page that asks before a deletion, an import's plan.
  Fewer records may follow from the row rule on the page of an exposed entity.
- Every change is a version with its author, and what was before comes back from the versions, byte for byte.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

import pytest

from tests.drills.doors import Database, Doors
from tests.drills.haste import KINDS, Hands
from tests.drills.haste_judge import Judge, Sent
from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.drill, pytest.mark.processes, pytest.mark.browser]

# Whoever breaks an endpoint that is called is asked: all of them are.
_CALLED = """
from django.utils import timezone
from designer.loading import latest
from designer.models import EndpointCalls
now = timezone.now()
hour = now.replace(minute=0, second=0, microsecond=0)
EndpointCalls.objects.bulk_create(
    EndpointCalls(endpoint=one.definition.key, hour=hour, calls=100, last_at=now)
    for one in latest().endpoints.values()
)
"""
# Every kind of act comes within so many seconds.
_LONG = 300
# A form that nobody waited for is done with after so many looks.
_LOOKS = 8


def test_nothing_is_lost_opened_or_broken_in_haste(alone: Site, chromium: Browser, seconds: float) -> None:
    # Short runs take the same way every time, and tell what a change has done. Long ones go elsewhere.
    by_chance = str(time.time_ns() % 1_000_000) if seconds >= _LONG else "2"
    seed = os.environ.get("HASTE_SEED") or by_chance
    print(f"HASTE_SEED={seed}")
    alone.manage("shell", "-c", _CALLED)
    before = alone.manage("exportconfig")
    server = alone.start()
    database = Database(alone)
    log: deque[str] = deque(maxlen=40)
    hands: list[Hands] = []
    try:
        judge = Judge(database, Doors(server))
        first = database.version
        for number, (account, width) in enumerate((("designer", 1360), ("admin", 390))):
            hands.append(Hands(chromium, server, account, width, random.Random(f"{seed} {number}"), log))
        _act(hands, judge, random.Random(seed), seconds)
        for one in hands:
            one.settle()
        judge.look(lambda: _sent(hands))
        faults = [*judge.faults, *(fault for one in hands for fault in one.faults)]
        acts = sum((one.acts for one in hands), Counter[str]())
        answers = sum((one.answers for one in hands), Counter[str]())
        print(f"Acts, {acts.total()} in all: {dict(acts.most_common())}")
        print(f"The studio answered: {dict(answers.most_common())}")
        print(f"{judge.versions} versions; {judge.opened} times let in, {judge.closed} times shut or moved.")
        print(f"{judge.doors.calls.total()} calls of the API: {dict(judge.doors.calls.most_common())}")
        if faults:
            print("The last acts:", *log, sep="\n  ")
        assert faults == []
        assert "Traceback" not in server.output(), server.output()[-5000:]
        if seconds >= _LONG:
            assert [kind for kind in KINDS if not acts[kind]] == []
    finally:
        for one in hands:
            one.close()
        database.close()
    alone.manage("restoreconfig", str(first))
    assert alone.manage("exportconfig") == before


def _act(hands: list[Hands], judge: Judge, chance: random.Random, seconds: float) -> None:
    """Let both act by turns until the time is over, or something is wrong."""
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        person = chance.choice(hands)
        person.act()
        if any(one.sent for one in hands):
            # What was answered before the look has done what it does.
            done = [form for one in hands for form in one.sent if form.is_answered]
            judge.look(lambda: _sent(hands))
            for one in hands:
                one.sent = [form for form in one.sent if form not in done and _may_come(form)]
        if judge.faults or any(one.faults for one in hands):
            return


def _sent(hands: list[Hands]) -> list[Sent]:
    """Return the forms that were sent, with those of which the browsers have yet to tell."""
    for one in hands:
        one.hear()
    return [form for one in hands for form in one.sent]


def _may_come(form: Sent) -> bool:
    """Whether what a form does may come after this look."""
    form.looks += 1
    return form.looks < _LOOKS
