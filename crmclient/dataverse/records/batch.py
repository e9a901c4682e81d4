"""Several writes in one change set: all of them, or none."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import check, error_of, is_unreadable
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.multipart import Part, change_set, parts_of
from crmclient.dataverse.records.record_answers import RecordAnswers, asks_for_record, without_record
from crmclient.dataverse.records.writes import Writes, require_no_content, stored_record
from crmclient.errors import PlatformError, UnexpectedAnswer
from crmclient.platform import Call, Create, Delete, Operation, Update
from crmclient.sentences import Sentence
from crmclient.values import Stored

_WHOLE = Subject(Kind.RECORD)


class Batches:
    """Runs batches. Raises what `Platform.batch` raises: the error of the first failing operation, with its
    index.
    """

    def __init__(self, api: Api, writes: Writes, answers: RecordAnswers) -> None:
        self._api = api
        self._writes = writes
        self._answers = answers

    def run(self, operations: Sequence[Operation], call: Call) -> list[Stored | None]:
        """Run the operations. Return for each what was stored; None for a delete."""
        if not operations:
            return []
        silent: frozenset[str] = frozenset()
        while True:
            try:
                stored = self._run(operations, silent, call)
            except _RecordRefused as refused:
                # Whoever may write and not read is refused the answer alone; nothing has been written. There
                # are more entities to be silent about each time, so this comes to an end.
                silent |= refused.entities
            else:
                self._answers.note_refusal(silent, call)
                return stored

    def _run(
        self, operations: Sequence[Operation], silent: Collection[str], call: Call
    ) -> list[Stored | None]:
        """Send the operations as one change set.

        Answers hold the written record, except of the `silent` entities: there the service may write and not
        read, and would be refused the whole batch for the answer's sake.

        Raises the error of the first that failed, or _RecordRefused.
        """
        requests_and_subjects = [
            self._request_of(index, operation, silent, call) for index, operation in enumerate(operations)
        ]
        content_type, body = change_set([request for request, _ in requests_and_subjects])
        request = Request("POST", f"{self._api.base}$batch", {"Content-Type": content_type}, body)
        answer = self._api.client.send(request, call)
        acting = call.caller is not None
        parts = list(parts_of(answer))
        for part in parts:
            if entities := _refused_entities(part, requests_and_subjects):
                raise _RecordRefused(entities)
            if not part.answer.ok:
                raise _failure(part, [subject for _, subject in requests_and_subjects], acting=acting)
        # The batch as a whole may be refused, and then has no parts.
        check(answer, _WHOLE, acting=acting)
        if len(parts) != len(requests_and_subjects):
            raise UnexpectedAnswer(
                Sentence("The platform's batch has another number of answers than of requests.")
            )
        return [
            _outcome(operation, subject, part.answer)
            for operation, (_, subject), part in zip(operations, requests_and_subjects, parts, strict=True)
        ]

    def _request_of(
        self, index: int, operation: Operation, silent: Collection[str], call: Call
    ) -> tuple[Request, Subject]:
        """Return the request of one operation. Raises PlatformError with the index of the operation."""
        try:
            match operation:
                case Create():
                    request, subject = self._writes.create(operation, call)
                case Update():
                    request, subject = self._writes.update(operation, call)
                case Delete():
                    return self._writes.delete(operation)
        except PlatformError as error:
            error.item = index
            raise
        return without_record(request) if operation.entity in silent else request, subject


class _RecordRefused(Exception):
    """The user who writes records of `entities` may not read records of one of them."""

    def __init__(self, entities: frozenset[str]) -> None:
        super().__init__(entities)
        self.entities = entities


def _refused_entities(part: Part, sent: Sequence[tuple[Request, Subject]]) -> frozenset[str]:
    """Return the entities of which the refused answer may be: that of the part's request, if the part says
    which one that is, else all. Empty where nothing was refused but by the write itself.
    """
    if not is_unreadable(part.answer):
        return frozenset()
    index = _index_of(part, len(sent))
    candidates = sent if index is None else (sent[index],)
    return frozenset(subject.entity for request, subject in candidates if asks_for_record(request))


def _index_of(part: Part, count: int) -> int | None:
    """Return the index of the operation, of `count`, that a part answers; None where it does not say it.

    A part's content id is the index, counted from 1.
    """
    number = part.content_id or ""
    index = int(number) - 1 if number.isascii() and number.isdigit() else -1
    return index if 0 <= index < count else None


def _outcome(operation: Operation, subject: Subject, answer: Answer) -> Stored | None:
    """Return what an operation has stored; None for a delete. Raises UnexpectedAnswer."""
    if not isinstance(operation, Delete):
        return stored_record(subject, answer)
    require_no_content(answer, Sentence("a delete"))
    return None


def _failure(part: Part, subjects: Sequence[Subject], *, acting: bool) -> PlatformError:
    """Return the error of the failed operation, with its index."""
    index = _index_of(part, len(subjects))
    # The answer does not say which operation has failed.
    if index is None:
        return error_of(part.answer, _WHOLE, acting=acting)
    error = error_of(part.answer, subjects[index], acting=acting)
    error.item = index
    return error
