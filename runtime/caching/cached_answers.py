"""An endpoint's answers from the cache: found, asked for once, refreshed, or served past their time.

Whether a caller may call has been judged before, on each request. What is served here is what the caller's
own call would have been answered with at some moment within the endpoint's seconds, and after every write of
ours.
"""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NoResult
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from crmclient.errors import Busy, DeadlineExceeded, Throttled, Unavailable
from crmclient.watchdog import Watch
from designer.kinds.answer_cache import AnswerCache
from runtime.caching.answer_keys import AnswerKeys, Key
from runtime.caching.cached_responses import (
    STATUS,
    cached_response,
    entry_of,
    fetched_response,
    may_be_kept,
    uncached_response,
)
from runtime.caching.entries import Entry
from runtime.caching.entry_store import EntryStore, local_store
from runtime.caching.generations import generations_of
from runtime.caching.restraints import Pause, Refreshing, Waiting
from runtime.caching.single_flight import Flight, Flights
from runtime.http.checked_headers import Prepared, header_value
from runtime.request_context import Exchange

logger = logging.getLogger("portico.caching")

Run: TypeAlias = Callable[[Exchange], HttpResponseBase]

# The platform cannot be asked now, which says nothing of the answer.
_AWAY = (Throttled, Unavailable, DeadlineExceeded)
# Shortly before its time is over, one thread refreshes an answer, while all requests still get the old one.
# It begins so many seconds before the end for each second that the platform took the last time,
_EARLY_PER_SECOND = 2.0
# but no earlier than in the last tenth of the answer's time, because refreshing too early costs calls; and no
# later than in the last fiftieth, or in the last second where that is less.
_MOST_EARLY_PART = 0.1
_LEAST_EARLY_PART, _LEAST_EARLY_SECONDS = 0.02, 1.0
# Threads of this process that refresh answers.
_REFRESHERS = 2
# Seconds that a request waits for another process, which asks the platform for the same answer.
_PATIENCE = 5.0
# Seconds that a request waits for another one of this process when too many wait already.
_PATIENCE_WITHOUT_PLACE = 0.25

# The reason in `Cache-Status` when the caller asks for an answer that is made now.
_REQUESTED = "request"


class CachedAnswers:
    """The cached answers of one endpoint. `keys` keep apart answers that callers may not share.

    With `is_public`, proxies and other caches may keep the answers, too, for everybody. `needs_token`:
    callers need a token, so that no proxy may keep their answers.
    """

    def __init__(self, keys: AnswerKeys, cache: AnswerCache, *, needs_token: bool) -> None:
        self.is_public = cache.downstream and keys.are_of_everybody and not needs_token
        revalidation = max(1, int(cache.seconds * _MOST_EARLY_PART))
        self._downstream = Prepared(
            {"Cache-Control": f"public, max-age={cache.seconds}, stale-while-revalidate={revalidation}"}
        )
        self._keys = keys
        self._seconds = cache.seconds
        self._entries = EntryStore(cache.seconds, cache.stale_seconds)
        self._gives_fresh = cache.fresh
        # How many seconds before the end of its time an answer is refreshed.
        self._early = self._least_early = min(_LEAST_EARLY_SECONDS, cache.seconds * _LEAST_EARLY_PART)
        self._pause = Pause()

    def answer(self, exchange: Exchange, run: Run) -> HttpResponseBase:
        """Return the answer of `run`, or a cached one that the caller may share. Raises what `run` raises."""
        response = self._cached_or_fetched(exchange, run)
        if self.is_public and may_be_kept(header_value(response, STATUS.lower()) or ""):
            self._downstream.put(response)
        return response

    def _cached_or_fetched(self, exchange: Exchange, run: Run) -> HttpResponseBase:
        """Return the answer as `answer` does, without headers for caches below."""
        exchange.shared_by = self._keys.shared_by(exchange)
        assert exchange.write_generations is not None  # noqa: S101  for the type checker: read where any caches
        if self._keys.are_files and _is_partial(exchange.request):
            return uncached_response(run(exchange), exchange.request, "fwd=method")
        try:
            key = self._keys.key(exchange, generations_of(exchange.write_generations))
        except _AWAY as error:
            return self._as_last_known(exchange, error)
        if self._gives_fresh and _wants_fresh(exchange.request):
            return self._fetch_or_wait(exchange, run, key, _REQUESTED)
        entry = local_store().get(key)
        seconds_left = self._entries.seconds_left(entry)
        if entry is not None and seconds_left > 0:
            if seconds_left <= self._early:
                self._refresh(exchange, run, key)
            return cached_response(entry, exchange.request, f"hit; ttl={int(seconds_left)}")
        if entry is not None and self._pause.is_on and self._entries.may_be_late(entry):
            return self._late_response(entry, exchange.request)
        try:
            return self._fetch_or_wait(exchange, run, key, "stale" if entry is not None else "uri-miss")
        except _AWAY:
            # Meanwhile another process may have stored the answer, and this one have taken it over.
            entry = entry or local_store().get(key)
            if entry is None or not self._entries.may_be_late(entry):
                raise
            return self._late_response(entry, exchange.request)

    def _as_last_known(self, exchange: Exchange, away: Exception) -> HttpResponseBase:
        """Return the cached answer for the caller as they were known last, when their properties cannot be
        read because of `away`. Raises `away` where there is none that may still be served.
        """
        properties = exchange.user_context.last_known(exchange.caller)
        if properties is None or exchange.write_generations is None:
            raise away
        key = self._keys.key(exchange, generations_of(exchange.write_generations), properties)
        entry = local_store().get(key) or self._entries.take_from_shared_store(key)
        if entry is None or not self._entries.may_be_late(entry):
            raise away
        return self._late_response(entry, exchange.request)

    def _late_response(self, entry: Entry, request: HttpRequest) -> HttpResponseBase:
        """Return a kept answer to a request, because the platform cannot be asked for a new one."""
        seconds_left = int(self._entries.seconds_left(entry))
        return cached_response(entry, request, f"hit; ttl={seconds_left}; detail=platform-away")

    def _fetch_or_wait(self, exchange: Exchange, run: Run, key: Key, why: str) -> HttpResponseBase:
        """Fetch the answer, or wait for another request of this process that fetches it. `why` is the reason
        in `Cache-Status`.
        """
        # Anonymous callers have a part of the platform's budget: others may ask when it is spent. Requests
        # for an answer that is made now wait only for each other: other flights may end with a kept one.
        with _flights.board((key, exchange.caller.is_anonymous, why == _REQUESTED)) as (flight, leads):
            if leads:
                return self._fetch_as_leader(exchange, run, key, flight, why)
        try:
            entry = _wait_for_flight(flight, exchange.seconds_left)
        except _NotRefreshed:
            # The flight was a refresh in the background, which may not have been allowed to ask.
            return self._fetch_or_wait(exchange, run, key, why)
        if entry is None:
            return uncached_response(run(exchange), exchange.request, f"fwd={why}")
        return cached_response(entry, exchange.request, f"fwd={why}; collapsed")

    def _fetch_as_leader(
        self, exchange: Exchange, run: Run, key: Key, flight: Flight, why: str
    ) -> HttpResponseBase:
        """Fetch an answer for this request and for those that wait for its `flight`. `why` is the reason in
        `Cache-Status`.
        """
        takes_kept_one = why != _REQUESTED
        if takes_kept_one:
            # A flight that has just ended may have left an answer here, and another process in Redis.
            entry = self._entries.if_fresh(local_store().get(key)) or self._entries.if_fresh(
                self._entries.take_from_shared_store(key)
            )
            if entry is not None:
                flight.set_result(entry)
                return cached_response(
                    entry, exchange.request, f"hit; ttl={int(self._entries.seconds_left(entry))}"
                )
        # Half of the time that is left: if the other process gives nothing, this one still has to ask.
        patience = min(_PATIENCE, exchange.seconds_left / 2)
        with self._entries.turn(key, holding=_longest_request(), patience=patience) as turn:
            # What another process has stored while this one waited for its turn.
            entry = self._entries.if_fresh(turn.entry) if takes_kept_one else None
            if entry is not None:
                self._entries.keep(key, entry)
                flight.set_result(entry)
                return cached_response(entry, exchange.request, f"fwd={why}; collapsed")
            response, asked_at = self._run_for_flight(exchange, run, flight)
            entry = entry_of(response, asked_at)
            # Before the turn ends: the process that has the next one looks for the answer.
            is_stored = entry is not None and self._entries.put(key, entry)
        # Without an entry, the answer is only for this request: each of those that wait asks for itself.
        flight.set_result(entry)
        cache_status = f"fwd={why}; stored" if is_stored else f"fwd={why}"
        if entry is None:
            return uncached_response(response, exchange.request, cache_status)
        return fetched_response(entry, exchange.request, cache_status)

    def _run_for_flight(self, exchange: Exchange, run: Run, flight: Flight) -> tuple[HttpResponseBase, float]:
        """Return what `_run_timed` returns. What it raises ends the `flight`, and may begin a pause."""
        try:
            return self._run_timed(exchange, run)
        except BaseException as error:
            if isinstance(error, _AWAY):
                self._pause.begin(error)
            flight.set_exception(error)
            raise

    def _run_timed(self, exchange: Exchange, run: Run) -> tuple[HttpResponseBase, float]:
        """Run the operation. Return its response, and the time it began (seconds of `time.time()`).

        From how long it took follows `_early`: how many seconds before its end an answer is refreshed.
        """
        asked_at, began = time.time(), time.monotonic()
        response = run(exchange)
        seconds_early = max(self._least_early, _EARLY_PER_SECOND * (time.monotonic() - began))
        self._early = min(self._seconds * _MOST_EARLY_PART, seconds_early)
        return response, asked_at

    def _refresh(self, exchange: Exchange, run: Run, key: Key) -> None:
        """Ask the platform again on another thread, beside the request.

        Do nothing during a pause, while the same answer is being refreshed already, or when no thread is
        free.
        """
        if self._pause.is_on or not _refreshing.begin(key):
            return
        background = replace(
            exchange, deadline=time.monotonic() + _longest_request(), watch=None, in_background=True
        )

        def ask() -> None:
            """Refresh the answer. A failure is only logged: nobody waits for the answer."""
            database = connections[DEFAULT_DB_ALIAS]
            try:
                with Watch(database, background.deadline) as watch:
                    background.watch = watch
                    self._refetch(background, run, key)
            except Exception as error:
                if isinstance(error, _AWAY):
                    self._pause.begin(error)
                # The next request after the answer's time asks the platform itself, and gets its failure.
                logger.info("a cached answer could not be refreshed: %s", type(error).__name__)
            finally:
                _refreshing.end(key)
                database.close()

        try:
            _refreshers().submit(ask)
        except RuntimeError:
            # The process is stopping.
            _refreshing.end(key)

    def _refetch(self, exchange: Exchange, run: Run, key: Key) -> None:
        """Refresh an answer before its time is over, unless somebody else has just done so."""
        # The flight of `_fetch_or_wait`: requests that come when the time is over wait for this answer. Where
        # it ends without one, they ask for themselves, because they may have a budget that the background
        # lacks.
        flight_key = (key, exchange.caller.is_anonymous, False)
        with _flights.board(flight_key, default_error=_NotRefreshed()) as (flight, leads):
            if not leads:
                return
            # First what this process has kept since, then what another one has stored; then the platform.
            entry = local_store().get(key)
            if self._entries.seconds_left(entry) <= self._early:
                entry = self._entries.take_from_shared_store(key)
            if self._entries.seconds_left(entry) <= self._early:
                # Dates in the answer count from now, and not from the request, which may have begun long
                # before.
                exchange.now = dt.datetime.now(dt.UTC)
                with self._entries.turn(key, holding=_longest_request(), patience=0) as turn:
                    entry = entry_of(*self._run_timed(exchange, run)) if turn.is_ours else None
                    if entry is not None:
                        self._entries.put(key, entry)
            if entry is not None:
                flight.set_result(entry)


class _NotRefreshed(Exception):
    """An answer could not be refreshed."""


def _wants_fresh(request: HttpRequest) -> bool:
    """Whether the caller asks for an answer that is made now."""
    header = str(request.META.get("HTTP_CACHE_CONTROL", ""))
    return any(part.strip().lower() == "no-cache" for part in header.split(","))


def _longest_request() -> float:
    """Return the seconds that a request may take."""
    return float(settings.PORTICO["REQUEST_DEADLINE"])


def _is_partial(request: HttpRequest) -> bool:
    """Whether less than the whole file is asked for."""
    return request.method == "HEAD" or "HTTP_RANGE" in request.META


def _wait_for_flight(flight: Flight, seconds: float) -> Entry | None:
    """Return the entry that another request has fetched; None when this request cannot use it.

    `seconds` is the longest wait. Raises what the other request raises, DeadlineExceeded when it takes longer
    than that, and Busy when too many requests wait already and it takes more than a moment.
    """
    try:
        with _waiting.place() as has_place:
            return flight.result(max(0.0, seconds if has_place else min(seconds, _PATIENCE_WITHOUT_PLACE)))
    except NoResult:
        # The wait is over. If the flight has ended in this very moment, its result counts.
        if flight.done():
            return flight.result()
        if has_place:
            raise DeadlineExceeded("The answer that others wait for took too long.") from None
        raise Busy("Many callers wait for this answer.", retry_after=1) from None


_flights = Flights()
_waiting = Waiting()
_refreshing = Refreshing(_REFRESHERS)


@cache
def _refreshers() -> ThreadPoolExecutor:
    """Return the threads that refresh answers."""
    return ThreadPoolExecutor(_REFRESHERS, thread_name_prefix="portico-refresh")
