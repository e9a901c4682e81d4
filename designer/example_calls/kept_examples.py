"""Keeping example calls with their endpoints. Of an answer only the status and the shape are kept."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import jiter
from django.utils.http import parse_header_parameters

from designer.definitions import ExampleCallDefinition, SampleFileDefinition
from designer.definitions.example_calls import LARGEST_SAMPLE
from designer.example_calls.shapes import shape_of
from designer.models import Endpoint
from designer.ports import Attempt, Rehearsal
from designer.sentences import Sentence

# Headers that are not kept: an idempotency key belongs to one call, and example calls write nothing; the name
# of a file may tell whose it is.
_NOT_KEPT = frozenset({"idempotency-key", "content-disposition"})
_EXTENSION = re.compile(r"[a-z0-9]{1,10}")


class FileTooLarge(Exception):
    """The file of a call is larger than a sample file may be."""


class OtherExamples(Exception):
    """The endpoint has other example calls than the change expects, for a reason that is a Sentence."""


def example_of(name: str, attempt: Attempt, usual: int) -> ExampleCallDefinition:
    """Return `attempt` as an example call that expects `usual`, the status of a success.

    A sample of the same type and size stands for a file; of its name only the extension is kept. Raises
    FileTooLarge.
    """
    file = _sample_of_file(attempt)
    sends_json = bool(attempt.content) and file is None
    return ExampleCallDefinition(
        name=name,
        anonymous=attempt.anonymous,
        caller_type=attempt.caller_type,
        roles=tuple(attempt.roles),
        caller_record=attempt.caller_record or "",
        claims=dict(attempt.claims),
        method=attempt.method,
        record=attempt.record,
        file=attempt.file,
        related=attempt.related,
        query=dict(attempt.query),
        headers={
            header: value for header, value in attempt.headers.items() if header.lower() not in _NOT_KEPT
        },
        body=jiter.from_json(attempt.content, float_mode="decimal") if sends_json else None,
        upload=file,
        status=usual,
    )


def expecting(example: ExampleCallDefinition, rehearsal: Rehearsal) -> ExampleCallDefinition:
    """Return `example` with the status and shape that `rehearsal` has answered.

    The expected status of a call that was not sent stays.
    """
    shape = None if rehearsal.answer is None else shape_of(rehearsal.answer)
    return example.model_copy(update={"status": rehearsal.status or example.status, "shape": shape})


def _sample_of_file(attempt: Attempt) -> SampleFileDefinition | None:
    """Return the sample that stands for the file of the call; None without a file. Raises FileTooLarge."""
    disposition = attempt.headers.get("Content-Disposition")
    if disposition is None:
        return None
    if len(attempt.content) > LARGEST_SAMPLE:
        raise FileTooLarge
    extension = parse_header_parameters(disposition)[1].get("filename", "").rpartition(".")[2].lower()
    return SampleFileDefinition(
        name=f"sample.{extension}" if _EXTENSION.fullmatch(extension) else "sample",
        content_type=attempt.content_type,
        size=len(attempt.content),
    )


def state_of(example: ExampleCallDefinition) -> str:
    """Return a digest of the example. One page's is another's where nobody has saved it in between."""
    return hashlib.sha256(json.dumps(example.to_json(), sort_keys=True).encode()).hexdigest()


def add(row: Endpoint, example: ExampleCallDefinition) -> None:
    """Keep `example` with the endpoint. Raises OtherExamples when one of its name is there."""
    _require_free(row, example.name)
    _save_calls(row, [*row.example_calls, example.to_json()])


def replace(row: Endpoint, name: str, example: ExampleCallDefinition, seen: str) -> None:
    """Keep `example` with the endpoint in place of the one called `name`.

    `seen` is the state of that one which the change was made from; empty: any. Raises OtherExamples when it
    has another state, or is not there, and when a third one has the new name.
    """
    _require_unchanged(row, name, seen)
    if example.name != name:
        _require_free(row, example.name)
    _save_calls(row, [*_calls_without(row, name), example.to_json()])


def remove(row: Endpoint, name: str, seen: str) -> None:
    """Remove the example called `name` from the endpoint. `seen` and errors are those of `replace`."""
    _require_unchanged(row, name, seen)
    _save_calls(row, _calls_without(row, name))


def missing(name: str) -> OtherExamples:
    """Return the error of a change of an example that is not there any more."""
    return OtherExamples(
        Sentence("Not saved: somebody else has removed or renamed the example call “%(name)s”.", name=name)
    )


def _require_free(row: Endpoint, name: str) -> None:
    """Raise OtherExamples when the endpoint has an example called `name`."""
    if any(call["name"] == name for call in row.example_calls):
        raise OtherExamples(
            Sentence("Another example call is called “%(name)s”. Choose another name.", name=name)
        )


def _require_unchanged(row: Endpoint, name: str, seen: str) -> None:
    """Raise OtherExamples when the example called `name` does not have the state `seen`, or is not there."""
    stored = next((call for call in row.example_calls if call["name"] == name), None)
    if stored is None:
        raise missing(name)
    if seen and state_of(ExampleCallDefinition.model_validate(stored)) != seen:
        raise OtherExamples(
            Sentence(
                "Not saved: somebody else has changed this example call since you opened the page. "
                "Open it in another tab to compare, then save again to keep yours."
            )
        )


def _calls_without(row: Endpoint, name: str) -> list[dict[str, Any]]:
    """Return the example calls of an endpoint, as JSON, without the one called `name`."""
    return [call for call in row.example_calls if call["name"] != name]


def _save_calls(row: Endpoint, calls: list[dict[str, Any]]) -> None:
    """Store the example calls of an endpoint, sorted by name as in its definition."""
    row.example_calls = sorted(calls, key=lambda call: str(call["name"]))
    row.save(update_fields=["example_calls"])
