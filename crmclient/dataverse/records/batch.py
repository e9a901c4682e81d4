"""Several writes in one change set: all of them, or none."""

from __future__ import annotations

from collections.abc import Sequence

from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import check, error_of, is_unreadable
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.multipart import Part, change_set, parts_of
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

    def __init__(self, api: Api, writes: Writes) -> None:
        self._api = api
        self._writes = writes

    def run(self, operations: Sequence[Operation], call: Call) -> list[Stored | None]:
        """Run the operations. Return for each what was stored; None for a delete."""
        if not operations:
            return []
        try:
            return self._run(operations, call)
        except _UnreadableError:
            # Whoever may create and not read is refused the answers alone; nothing has been written.
            self._writes.note_unreadable_records(operations, call)
            return self._run(operations, call)

    def _run(self, operations: Sequence[Operation], call: Call) -> list[Stored | None]:
        """Send the operations as one change set. Raises the error of the first that failed."""
        requests_and_subjects = [
            self._request_of(index, operation, call) for index, operation in enumerate(operations)
        ]
        content_type, body = change_set([request for request, _ in requests_and_subjects])
        request = Request("POST", f"{self._api.base}$batch", {"Content-Type": content_type}, body)
        answer = self._api.client.send(request, call)
        acting = call.caller is not None
        parts = list(parts_of(answer))
        for part in parts:
            if is_unreadable(part.answer) and not self._writes.creates_unreadable_records(operations, call):
                raise _UnreadableError
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

    def _request_of(self, index: int, operation: Operation, call: Call) -> tuple[Request, Subject]:
        """Return the request of one operation. Raises PlatformError with the index of the operation."""
        try:
            match operation:
                case Create():
                    return self._writes.create(operation, call)
                case Update():
                    return self._writes.update(operation, call)
                case Delete():
                    return self._writes.delete(operation)
        except PlatformError as error:
            error.item = index
            raise


class _UnreadableError(Exception):
    """The user who creates records may not read them."""


def _outcome(operation: Operation, subject: Subject, answer: Answer) -> Stored | None:
    """Return what an operation has stored; None for a delete. Raises UnexpectedAnswer."""
    if not isinstance(operation, Delete):
        return stored_record(subject, answer)
    require_no_content(answer, Sentence("a delete"))
    return None


def _failure(part: Part, subjects: Sequence[Subject], *, acting: bool) -> PlatformError:
    """Return the error of the failed operation, with its index. A part's content id is the index, counted
    from 1.
    """
    number = part.content_id or ""
    index = int(number) - 1 if number.isascii() and number.isdigit() else None
    # The answer does not say which operation has failed.
    if index is None or not 0 <= index < len(subjects):
        return error_of(part.answer, _WHOLE, acting=acting)
    error = error_of(part.answer, subjects[index], acting=acting)
    error.item = index
    return error
