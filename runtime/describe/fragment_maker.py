"""Makes the fragments that are missing: after a save, or in a child process that is `manage.py describe`."""

from __future__ import annotations

import logging
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar, cast

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save

from crmclient import Platform
from crmclient.errors import PlatformError
from crmclient.sentences import for_log
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.triggers.tables import WATCHED
from runtime.describe.fragment_digests import Digests
from runtime.describe.fragment_store import AT_ONCE, remove_old_fragments, store_fragments, stored_digests
from runtime.describe.fragments import make_fragment
from runtime.describe.own_routes import OWN_ROUTES
from runtime.serving.served import Served, current

logger = logging.getLogger("portico.introspection")

R = TypeVar("R")

# Fragments that are made before they are stored together.
_BATCH = 40
# What a save may make itself: more than that would keep its sender waiting.
FEW = 20


class NotMetadata(Exception):
    """A description has asked for records, which it must not hold."""


class MetadataSnapshot(StandIn):
    """Asks `platform` for each piece of its metadata once: one revision is not described by two."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform)
        self._answers: dict[Hashable, Any] = {}

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        """Return the platform's answer about metadata. It is asked for once.

        Raises NotMetadata for members that read or write records.
        """
        if member_call.effect is not Effect.METADATA:
            raise NotMetadata(member_call.member)
        key = (member_call.member, member_call.arguments, tuple(sorted(member_call.options.items())))
        if key not in self._answers:
            self._answers[key] = ask()
        return cast(R, self._answers[key])


class Maker:
    """Makes the fragments that the database lacks. It remembers which are stored, so that asking again costs
    nothing while nothing has changed.
    """

    def __init__(self, digests: Digests) -> None:
        self._digests = digests
        # Digests of fragments that the database has.
        self._stored: set[str] = set()
        # The state of which it has all fragments; None as long as no such state is known.
        self._complete: Served | None = None

    def missing(self, served: Served) -> dict[str, int]:
        """Return the ids of the endpoints whose fragments the database lacks, by digest."""
        if served is self._complete:
            return {}
        ids = [*OWN_ROUTES, *served.routes.ids()]
        ids_by_digest = {self._digests.of(served, id): id for id in ids}
        unknown = [digest for digest in ids_by_digest if digest not in self._stored]
        for start in range(0, len(unknown), AT_ONCE):
            self._stored |= stored_digests(unknown[start : start + AT_ONCE])
        self._stored &= ids_by_digest.keys()
        return {digest: id for digest, id in ids_by_digest.items() if digest not in self._stored}

    def make(
        self, served: Served, missing: Mapping[str, int], go_on: Callable[[], bool] = lambda: True
    ) -> None:
        """Make and store the `missing` fragments, until `go_on` returns False.

        Other processes may be making the same fragments: the batches are in random order.
        """
        # Without the views of `served`, whose operations have been compiled with its own platform.
        described = replace(served, platform=MetadataSnapshot(served.platform), views={})
        batches = [list(missing)[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        random.shuffle(batches)
        for batch in batches:
            if not go_on():
                return
            present = stored_digests(batch)
            store_fragments(
                {
                    digest: make_fragment(described, missing[digest])
                    for digest in batch
                    if digest not in present
                }
            )
            self._stored.update(batch)
        self._complete = served


def sweep(served: Served, digests: Digests) -> int:
    """Remove fragments that are a day old and describe nothing served. Return their number."""
    return remove_old_fragments({digests.of(served, id) for id in (*OWN_ROUTES, *served.routes.ids())})


class ChildProcess:
    """The process `manage.py describe`. A process that serves requests has at most one. It ends when it has
    been idle for a while, or with its parent.

    A process that serves nobody has none: it makes what it needs itself.
    """

    def __init__(self) -> None:
        self.is_used = False
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def use_from_now_on(self) -> None:
        """Let this process leave the making of many fragments to the child process, because it serves
        requests.
        """
        self.is_used = True

    def ask(self) -> None:
        """Let the child process make all fragments that are missing. It is started if there is none. This
        does not wait, and asking again is cheap.
        """
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._child = _started_child()
            # If the pipe is full, the child has been asked already. If it has just ended, the next call
            # starts another.
            with suppress(OSError):
                os.write(self._child.stdin.fileno(), b"\n")  # type: ignore[union-attr]


def _started_child() -> subprocess.Popen[bytes]:
    """Start the child process. It is asked for fragments through its standard input, to which writing never
    waits.
    """
    logger.info("starting a process that describes endpoints")
    child = subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "describe", "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # Out of reach of Ctrl-C, but in our session: where Linux shares processor time among sessions, one of
        # its own would be given half of it, however nice the child is.
        process_group=0,
    )
    os.set_blocking(child.stdin.fileno(), False)  # type: ignore[union-attr]
    return child


CHILD = ChildProcess()
_maker = Maker(Digests())


def watch_saves() -> None:
    """Make fragments as soon as an edit through the ORM is committed.

    After any other edit, the next reader has them made.
    """
    for signal in (post_save, post_delete, m2m_changed):
        signal.connect(_make_at_commit, dispatch_uid="runtime.introspection")


# The list of functions that the transaction calls at its commit, for which `_make_after_a_save` was added
# last.
_noted: Any = None


def _make_at_commit(sender: Any, **_: Any) -> None:
    """Let fragments be made when the transaction that edits a watched table commits, once for each
    transaction.
    """
    global _noted
    if sender._meta.db_table not in WATCHED:
        return
    # A migration saves with models of its own, into tables that the product's models do not fit yet.
    if sender._meta.apps is not apps:
        return
    # A transaction has a list of its own, and an import saves thousands of rows in one.
    if connection.in_atomic_block and _noted is connection.run_on_commit:
        return
    transaction.on_commit(_make_after_a_save)
    _noted = connection.run_on_commit


def _make_after_a_save() -> None:
    """Make the fragments that the edit needs. The child process makes them if there are many."""
    try:
        served = current()
        missing = _maker.missing(served)
        if len(missing) <= FEW:
            _maker.make(served, missing)
        elif CHILD.is_used:
            CHILD.ask()
    except PlatformError as error:
        logger.warning("Descriptions could not be made.", extra={"reason": for_log(error)})
    except Exception:
        # The save itself is done, and the next reader has the rest made.
        logger.exception("describing what was saved failed")
