"""Writes that are answered with the record, and users who may write it but not read it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import REPRESENTATION, Api
from crmclient.dataverse.error_subjects import Subject
from crmclient.dataverse.failures import is_unreadable
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.platform import Call
from crmclient.values import Guid

_UNREADABLE_SECONDS: Final = 600.0
_CONFLICT: Final = 412


class RecordAnswers:
    """Makes writes ask for the record, which has its new version, and notes who is refused it.

    For a user who may write a record and not read it, Dataverse writes it and refuses the answer (403). What
    such a user writes is sent again without asking for the record, and so are their next writes.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        # By the entity of records and the caller who may write but not read them: until which second of
        # `time.monotonic()` that counts.
        self._unreadable: dict[tuple[str, Guid | None], float] = {}

    def ask(self, request: Request, entity: str, columns: str, call: Call) -> Request:
        """Return the write with the wish for `columns` of the record; unchanged where the user is known not
        to read records of `entity`.
        """
        if self.is_refused(entity, call):
            return request
        return replace(
            request,
            url=paths.with_query(request.url, {"$select": columns}),
            headers={**request.headers, "Prefer": REPRESENTATION},
        )

    def is_refused(self, entity: str, call: Call) -> bool:
        """Whether the user may write records of `entity` and not read them, as far as is known."""
        now = time.monotonic()
        # What is not noted counts as noted until now, and so as over.
        return self._unreadable.get((entity, call.caller), now) > now

    def note_refusal(self, entities: Iterable[str], call: Call) -> None:
        """Note that the user may write records of `entities` and not read them."""
        until = time.monotonic() + _UNREADABLE_SECONDS
        self._unreadable |= dict.fromkeys(((entity, call.caller) for entity in entities), until)

    def send(self, request: Request, subject: Subject, call: Call) -> Answer | None:
        """Send a write, and again without the wish for the record where only the record is refused.

        Return the answer, which may refuse the write; None where the write is known to be done by a conflict
        with itself.
        """
        answer = self._api.client.send(request, call)
        if not is_record_refused(request, answer):
            return answer
        answer = self._api.client.send(without_record(request), call)
        # A plug-in may have been refused another record: then the write is refused again.
        if answer.ok or answer.status == _CONFLICT:
            self.note_refusal((subject.entity,), call)
        # A conflict that was there before would have been the first answer.
        return None if answer.status == _CONFLICT else answer


def asks_for_record(request: Request) -> bool:
    """Whether a write is to be answered with the record."""
    return request.headers.get("Prefer") == REPRESENTATION


def is_record_refused(request: Request, answer: Answer) -> bool:
    """Whether an answer may refuse only the record for which a write asks. Then the write may be done."""
    return asks_for_record(request) and is_unreadable(answer)


def without_record(request: Request) -> Request:
    """Return the same write without the wish for the record."""
    headers = {name: value for name, value in request.headers.items() if name != "Prefer"}
    return replace(request, url=request.url.partition("?")[0], headers=headers)
