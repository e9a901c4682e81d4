"""Runs an operation once for an `Idempotency-Key`, and answers its repetitions with the same answer.

The in-flight row is committed before the platform is called. A request that died leaves it behind; after its
deadline the next one takes it over, with the same record id. What was decided before the platform could be
called (invalid inputs) is forgotten, so that the caller may mend it and send it again under the same key.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from typing import TypeAlias, cast

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connections,
    transaction,
)
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from crmclient import new_guid
from crmclient.ended_connections import ask_again_if_ended
from crmclient.watchdog import Watch
from runtime.digests import digest_of
from runtime.http.addresses import client_address
from runtime.http.failures import problem_of
from runtime.http.problems import Problem, respond
from runtime.idempotency.models import IdempotencyRecord
from runtime.request_context import Exchange

logger = logging.getLogger("portico.idempotency")

Run: TypeAlias = Callable[[Exchange], HttpResponseBase]

LIFETIME = dt.timedelta(hours=24)
LONGEST_KEY = 255
# A key of a caller without a token has at least so many characters, and so many different ones. Such callers
# may share an address, and whoever guesses the key of another one gets the other one's answer. A UUID has
# more, and so has every usual random id.
_SHORTEST_SAFE, _FEWEST_DIFFERENT = 20, 8
# Refusals that say nothing of the platform: the same key may be used again at once.
_FORGOTTEN = frozenset({400, 401, 406, 411, 413, 415, 429})


class Idempotency:
    """The `Idempotency-Key` of one exchange. Raises Problem 400 for a key that is not allowed.

    `digest_body` returns a text that differs for another body.
    """

    def __init__(
        self, exchange: Exchange, endpoint_key: str, key: str, digest_body: Callable[[Exchange], str]
    ) -> None:
        if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
            raise Problem(
                400, "invalid_idempotency_key", f"A key has 1 to {LONGEST_KEY} printable characters."
            )
        caller = exchange.caller
        if not caller.subject and not _is_hard_to_guess(key):
            raise Problem(
                400,
                "invalid_idempotency_key",
                f"Without a token, a key has at least {_SHORTEST_SAFE} characters, {_FEWEST_DIFFERENT} "
                "of them different, so that nobody guesses it. Send a UUID.",
            )
        self.exchange = exchange
        # Under this the first request is stored: a caller's key counts for one endpoint.
        self.digest = digest_of((caller.issuer, caller.subject or _address(exchange), endpoint_key, key))
        # The same body for another record is another request. A path without a record has no `record_id`.
        record = exchange.record_id if exchange.record else ""
        self.body_digest = digest_of((record, digest_body(exchange)))

    def once(self, run: Run) -> HttpResponse:
        """Return the response of `run`, or the stored response to the first request with this key.

        Raises Problem 409 `in_flight` while another request with the key runs, and 422 `key_reused` for
        another body.
        """
        record = self._claim()
        if record.status is not None:
            return _stored_response(record)
        self.exchange.chosen_id = record.record_id
        try:
            response = cast(HttpResponse, run(self.exchange))  # what answers a POST is whole
        except Exception as error:
            self._note_failure(record, error)
            raise
        self._store_if_possible(lambda: self._store_answer(record, response))
        return response

    def _claim(self, *, may_retry: bool = True) -> IdempotencyRecord:
        """Insert the in-flight row of the key, and return it; or return that of an earlier request, which has
        a `status` if it was answered, and is taken over if its process died. Raises Problem 409 and 422.

        `may_retry`: an expired row may be removed, and the claim be made once more.
        """
        record = IdempotencyRecord(
            digest=self.digest,
            body_digest=self.body_digest,
            # Chosen before the platform is called: a request that takes over creates the same record.
            record_id=new_guid(),
            deadline=self._deadline(),
            expires=self.exchange.now + LIFETIME,
        )

        def insert() -> None:
            with transaction.atomic():
                record.save(force_insert=True)

        try:
            _again_if_cut(insert)
        except IntegrityError:
            return self._record_of_earlier_request(record, may_retry=may_retry)
        return record

    def _record_of_earlier_request(self, claimed: IdempotencyRecord, *, may_retry: bool) -> IdempotencyRecord:
        """Return the row of the request that had the key before. One whose request died is taken over. Raises
        Problem 409 and 422.

        `may_retry`: as for `_claim`.
        """
        record = IdempotencyRecord.objects.filter(digest=self.digest).first()
        if record is not None and record.record_id == claimed.record_id:
            # The connection was cut after the database had kept the claim.
            return record
        if may_retry and (record is None or record.expires < self.exchange.now):
            # The earlier row has expired. Housekeeping may have removed it since the insert failed.
            IdempotencyRecord.objects.filter(digest=self.digest, expires__lt=self.exchange.now).delete()
            return self._claim(may_retry=False)
        if record is None:
            # The request that had removed the expired row first has been answered, and forgotten.
            raise _in_flight()
        if record.body_digest != self.body_digest:
            raise Problem(422, "key_reused", "This Idempotency-Key was used for another body or record.")
        if record.status is None:
            self._take_over(record)
        return record

    def _take_over(self, record: IdempotencyRecord) -> None:
        """Go on with a request that died: only one of several repetitions gets its row. Raises Problem 409
        for the others, and while the first is being answered.
        """
        abandoned = IdempotencyRecord.objects.filter(
            pk=record.pk, status=None, deadline=record.deadline, deadline__lte=self.exchange.now
        )
        if not abandoned.update(deadline=self._deadline()):
            raise _in_flight()
        self.exchange.taken_over = True

    def _deadline(self) -> dt.datetime:
        """Return the UTC time at which the request has to be answered."""
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self.exchange.seconds_left)

    def _note_failure(self, record: IdempotencyRecord, error: Exception) -> None:
        """Note how the request failed: forgotten, to be taken over at once, or kept as the answer of
        repetitions.
        """
        problem = problem_of(error)
        stored = IdempotencyRecord.objects.filter(pk=record.pk)
        if problem.status_code in _FORGOTTEN:
            self._store_if_possible(lambda: _again_if_cut(stored.delete))
        elif problem.status_code >= 500:
            # Nobody knows whether the platform has written. A repetition takes over at once, with the same
            # id.
            self._store_if_possible(lambda: stored.update(deadline=self.exchange.now))
        else:
            answer = respond(problem, self.exchange.request)
            self._store_if_possible(lambda: self._store_answer(record, answer))

    def _store_if_possible(self, store: Callable[[], object]) -> None:
        """Call `store` with the time that is left.

        A database that cannot take it now changes no answer: what is done is done. The claim then ends with
        its deadline, and a repetition takes the request over.
        """
        try:
            with Watch(connections[DEFAULT_DB_ALIAS], self.exchange.deadline):
                store()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("An answer is not kept for repetitions.", extra={"reason": type(error).__name__})

    def _store_answer(self, record: IdempotencyRecord, response: HttpResponse) -> None:
        """Store the answer for repetitions of the request."""
        answer = {
            "status": response.status_code,
            "headers": dict(response.headers),
            "content": response.content,
        }
        _again_if_cut(lambda: IdempotencyRecord.objects.filter(pk=record.pk).update(**answer))


def _in_flight() -> Problem:
    """Return the Problem 409 for a request whose key another one is being answered for."""
    return Problem(
        409,
        "in_flight",
        "A request with this Idempotency-Key is being answered.",
        headers={"Retry-After": "1"},
    )


def _again_if_cut(write: Callable[[], object]) -> None:
    """Call `write`, and call it once more if the database has ended the connection. The first call may have
    been kept all the same.
    """
    ask_again_if_ended(connections[DEFAULT_DB_ALIAS], write, (OperationalError, InterfaceError))


def _stored_response(record: IdempotencyRecord) -> HttpResponse:
    """Return the stored answer, with a header that says so."""
    return HttpResponse(
        bytes(record.content),
        status=record.status,
        headers={**record.headers, "Idempotency-Replayed": "true"},
    )


def _is_hard_to_guess(key: str) -> bool:
    """Whether a key is long enough, and of enough different characters."""
    return len(key) >= _SHORTEST_SAFE and len(set(key)) >= _FEWEST_DIFFERENT


def _address(exchange: Exchange) -> str:
    return client_address(exchange.request)
