"""Keeping example calls with their endpoints. Of an answer only the status and the shape are kept."""

from __future__ import annotations

import re
from typing import Any

import jiter
from django.utils.http import parse_header_parameters

from designer.definitions import ExampleCallDefinition, SampleFileDefinition
from designer.definitions.example_calls import LARGEST_SAMPLE
from designer.example_calls.shapes import shape_of
from designer.models import Endpoint
from designer.ports import Attempt, Rehearsal

# Headers that are not kept: an idempotency key belongs to one call, and example calls write nothing; the name
# of a file may tell whose it is.
_NOT_KEPT = frozenset({"idempotency-key", "content-disposition"})
_EXTENSION = re.compile(r"[a-z0-9]{1,10}")


class FileTooLarge(Exception):
    """The file of a call is larger than a sample file may be."""


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


def put(row: Endpoint, example: ExampleCallDefinition, instead_of: str) -> None:
    """Keep `example` with the endpoint. It replaces the example called `instead_of`, and one of
    its own name.
    """
    _save_calls(row, [*_calls_without(row, instead_of, example.name), example.to_json()])


def remove(row: Endpoint, name: str) -> None:
    """Remove the example called `name` from the endpoint."""
    _save_calls(row, _calls_without(row, name))


def _calls_without(row: Endpoint, *names: str) -> list[dict[str, Any]]:
    """Return the example calls of an endpoint, as JSON, without those called `names`."""
    return [call for call in row.example_calls if call["name"] not in names]


def _save_calls(row: Endpoint, calls: list[dict[str, Any]]) -> None:
    """Store the example calls of an endpoint, sorted by name as in its definition."""
    row.example_calls = sorted(calls, key=lambda call: str(call["name"]))
    row.save(update_fields=["example_calls"])
