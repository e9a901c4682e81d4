"""Keeping example calls with their endpoints. What was answered is not kept, but for its status and shape."""

from __future__ import annotations

from typing import Any

import jiter

from designer.definitions import ExampleCallDefinition
from designer.example_calls.shapes import shape_of
from designer.models import Endpoint
from designer.ports import Attempt, Rehearsal

# Each call has its own, and none is needed where nothing is written.
_NOT_KEPT = frozenset({"idempotency-key"})


class FileSent(Exception):
    """A call with a file, which no configuration holds."""


def example_of(name: str, attempt: Attempt, rehearsal: Rehearsal, usual: int) -> ExampleCallDefinition:
    """`attempt` as an example that expects what `rehearsal` has answered; `usual`: the status of a success,
    which a call is expected to have that was not sent.

    Raises FileSent.
    """
    is_json = attempt.content_type == "application/json"
    if attempt.content and not is_json:
        raise FileSent(attempt.content_type)
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
        body=jiter.from_json(attempt.content, float_mode="decimal") if attempt.content else None,
        status=rehearsal.status or usual,
        shape=None if rehearsal.answer is None else shape_of(rehearsal.answer),
    )


def put(row: Endpoint, example: ExampleCallDefinition, instead_of: str) -> None:
    """Keep `example` with the endpoint, in the place of the one called `instead_of`, if there is one."""
    _save(row, [*_others(row, instead_of, example.name), example.to_json()])


def remove(row: Endpoint, name: str) -> None:
    """Keep the example called `name` no longer."""
    _save(row, _others(row, name))


def _others(row: Endpoint, *names: str) -> list[dict[str, Any]]:
    return [kept for kept in row.example_calls if kept["name"] not in names]


def _save(row: Endpoint, calls: list[dict[str, Any]]) -> None:
    row.example_calls = sorted(calls, key=lambda call: str(call["name"]))
    row.save(update_fields=["example_calls"])
