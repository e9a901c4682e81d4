"""Refreshes of the metadata that somebody asks for in the studio: by one process, seen by all of them.

Each process of the service has a thread for them. The process that was asked has the claim to the job while
the refresh runs, and renews it; when that process dies, the claim ends by itself.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
import queue
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connections
from pydantic import TypeAdapter

from crmclient.errors import PlatformError
from crmclient.metadata_progress import Progress, ProgressNotes, noting_progress
from crmclient.sentences import Sentence, from_data, to_data
from designer.audit import note_account
from designer.metadata_refresh import EntityNews, RefreshResult, refresh
from designer.models import AuditEntry
from designer.overview import overview
from designer.platform_failures import failure_advice
from designer.refresh_runs import RefreshRun
from project import exclusive_jobs
from project.models import MetadataRefresh
from project.platform import name_in_use

logger = logging.getLogger("portico.metadata")

_CLAIM: Final = "metadata refresh"
_LEASE: Final = 30.0
"""Seconds after which a refresh whose process does not renew its claim counts as lost."""
_BEAT: Final = 2.0
"""Seconds from one renewal of the claim, with a note of what is asked for, to the next."""
_ROW: Final = 1

_NOT_ANSWERED: Final = "not answered"
_UNFORESEEN: Final = Sentence("An unforeseen error ended the refresh.")
_ADVICE_ON_UNFORESEEN: Final = Sentence("Look at the service's log, which has it, then refresh again.")


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is kept of a refresh that has ended. `reason` and `advice` are as `to_data` gives them.

    `degraded` are the row ids of endpoints; None, as in a `RefreshResult`, where there is no result.
    """

    is_different: bool = False
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    news: tuple[EntityNews, ...] = ()
    degraded: tuple[int, ...] | None = None
    reason: Any = ""
    advice: Any = ""


_OUTCOME: Final = TypeAdapter(_Outcome)


class DatabaseRefreshRuns:
    """Implements `designer.refresh_runs.RefreshRuns` by a row in the database."""

    def __init__(self) -> None:
        self._wanted: queue.SimpleQueue[str] = queue.SimpleQueue()

    def run_from_now_on(self) -> None:
        """Run what is asked for, on a thread of this process and of each process that it forks."""
        # The metadata of the CRM in the box is always the present one.
        if name_in_use() != "embedded":
            os.register_at_fork(after_in_child=self._start)
            self._start()

    def begin(self, account: str, address: str) -> bool:
        holder = uuid.uuid4().hex
        if not exclusive_jobs.take(_CLAIM, holder, _LEASE):
            return False
        begun = MetadataRefresh(
            id=_ROW, holder=holder, account=account, address=address, started=dt.datetime.now(dt.UTC)
        )
        begun.save()
        self._wanted.put(holder)
        return True

    def latest(self) -> RefreshRun | None:
        row = MetadataRefresh.objects.filter(id=_ROW).first()
        if row is None:
            return None
        if row.ended is not None:
            return _ended_run(row)
        claimed_until = exclusive_jobs.end_of(_CLAIM, row.holder)
        if claimed_until is None or claimed_until <= dt.datetime.now(dt.UTC):
            return RefreshRun(row.started, ended=claimed_until or row.started)
        is_dataverse = name_in_use() == "dataverse"
        return RefreshRun(
            row.started,
            progress=Progress(tuple(row.asked), row.done, row.total),
            longest_request=float(settings.PORTICO["METADATA_TIMEOUT"]) if is_dataverse else None,
        )

    def run_next(self, seconds: float | None) -> bool:
        """Run the next refresh that this process was asked for. Wait for one for `seconds` at most (None: as
        long as it takes). Return whether there was one.
        """
        try:
            holder = self._wanted.get(timeout=seconds)
        except queue.Empty:
            return False
        row = MetadataRefresh.objects.filter(id=_ROW, holder=holder, ended=None).first()
        # Another process may have taken over meanwhile, if this one was suspended.
        if row is not None and exclusive_jobs.take(_CLAIM, holder, _LEASE):
            self._run(row)
        return True

    def _start(self) -> None:
        """Start the thread that runs refreshes, with a queue that no other process has had its hands in."""
        self._wanted = queue.SimpleQueue()
        threading.Thread(target=self._run_forever, name="metadata-refresh", daemon=True).start()

    def _run_forever(self) -> None:
        """Run what is asked for, as long as the process lives."""
        while True:
            try:
                self.run_next(None)
            except Exception:
                # Who looks is told that the refresh is lost, as soon as its claim has ended.
                logger.exception("A refresh of the platform's metadata was lost.")
            finally:
                # The connection is not kept until the next one.
                connections.close_all()

    def _run(self, row: MetadataRefresh) -> None:
        """Refresh the metadata, and note the outcome."""
        try:
            with noting_progress() as notes, _beating(row.holder, notes):
                outcome, audited = _refresh()
            changed = MetadataRefresh.objects.filter(id=_ROW, holder=row.holder).update(
                ended=dt.datetime.now(dt.UTC), asked=[], outcome=_OUTCOME.dump_python(outcome, mode="json")
            )
            if changed:
                note_account(row.account, AuditEntry.Action.REFRESH, detail=audited, address=row.address)
        finally:
            exclusive_jobs.give_back(_CLAIM, row.holder)


def _refresh() -> tuple[_Outcome, str]:
    """Fetch the metadata anew. Return the outcome, whatever it is, and what the audit log says of it."""
    try:
        result = refresh()
    except PlatformError as error:
        logger.warning("The platform's metadata was not refreshed.", extra={"reason": type(error).__name__})
        return _Outcome(reason=to_data(str(error)), advice=to_data(failure_advice(error))), _NOT_ANSWERED
    except Exception:
        logger.exception("The platform's metadata was not refreshed.")
        return _Outcome(reason=to_data(_UNFORESEEN), advice=to_data(_ADVICE_ON_UNFORESEEN)), _NOT_ANSWERED
    outcome = _Outcome(
        result.is_different, result.added, result.removed, result.news, tuple(result.degraded or ())
    )
    return outcome, result.audited


@contextmanager
def _beating(holder: str, notes: ProgressNotes) -> Iterator[None]:
    """In this block, renew the claim of `holder` again and again, and tell what is being asked for."""
    over = threading.Event()
    beats = threading.Thread(target=_beat, args=[holder, notes, over], name="metadata-beats", daemon=True)
    beats.start()
    try:
        yield
    finally:
        over.set()
        # A late beat would keep the claim from whoever asks next.
        beats.join()


def _beat(holder: str, notes: ProgressNotes, over: threading.Event) -> None:
    """Renew the claim of `holder` and write the progress, every `_BEAT` seconds until `over` is set."""
    written = Progress()
    try:
        while not over.wait(_BEAT):
            progress = notes.progress()
            try:
                close_old_connections()
                exclusive_jobs.renew(_CLAIM, holder, _LEASE)
                if progress != written:
                    MetadataRefresh.objects.filter(id=_ROW, holder=holder).update(
                        asked=list(progress.asked), done=progress.done, total=progress.total
                    )
                    written = progress
            except (DatabaseError, InterfaceError):
                # The next beat tries again, and there are many before the claim ends.
                continue
    finally:
        connections.close_all()


def _ended_run(row: MetadataRefresh) -> RefreshRun:
    """Return the run of a refresh that has ended. Endpoints that are gone since are left out."""
    outcome = _OUTCOME.validate_python(row.outcome)
    if outcome.degraded is None:
        return RefreshRun(
            row.started, row.ended, reason=from_data(outcome.reason), advice=from_data(outcome.advice)
        )
    return RefreshRun(
        row.started,
        row.ended,
        result=RefreshResult(
            is_different=outcome.is_different,
            added=outcome.added,
            removed=outcome.removed,
            news=outcome.news,
            degraded=_endpoints(outcome.degraded),
        ),
    )


def _endpoints(ids: Iterable[int]) -> dict[int, Any]:
    """Return the endpoints that there still are of these row ids."""
    ids = tuple(ids)
    endpoints = overview().configuration.endpoints if ids else {}
    return {id: endpoints[id] for id in ids if id in endpoints}


refresh_runs: Final = DatabaseRefreshRuns()
