"""Running example calls. No record is changed, and no answer is kept."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from designer.configuration import Configuration, Endpoint
from designer.definitions import ExampleCallDefinition
from designer.example_calls.shapes import shape_differences, value_differences
from designer.models.fields import ExactJSONEncoder
from designer.ports import Attempt, Rehearsal, SampleFile, get_runtime
from designer.sentences import Sentence

# Statuses of a refused caller: no token counts, the role does not suffice, or the record is out of reach.
_REFUSED = (401, 403, 404)


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of an example call of the endpoint with the key `endpoint`.

    `problems` is empty when the answer was as expected. `was_sent`: the call was answered; otherwise it ran
    only up to a write that the platform cannot take back.
    """

    endpoint: str
    name: str
    problems: tuple[str, ...]
    was_sent: bool
    milliseconds: float

    @property
    def failed(self) -> bool:
        return bool(self.problems)

    def to_json(self) -> dict[str, Any]:
        """Return the result as commands report it."""
        return {
            "endpoint": self.endpoint,
            "name": self.name,
            "passed": not self.failed,
            "sent": self.was_sent,
            "problems": [str(problem) for problem in self.problems],
        }


def run_all(configuration: Configuration, without: Collection[str] = ()) -> list[CallResult]:
    """Run the example calls of all served endpoints, except those whose keys are in `without`."""
    served = sorted(
        (endpoint for endpoint in configuration.endpoints.values() if endpoint.definition.enabled),
        key=lambda endpoint: endpoint.definition.key,
    )
    return [
        result
        for endpoint in served
        if endpoint.problem is None and endpoint.definition.key not in without
        for result in run_of(endpoint, configuration)
    ]


def run_of(endpoint: Endpoint, configuration: Configuration) -> Iterator[CallResult]:
    """Run the example calls of `endpoint` as a part of `configuration`. It need not be served or saved."""
    for example in endpoint.definition.example_calls:
        yield _run_example(example, endpoint, configuration)


def rehearsal_of(
    example: ExampleCallDefinition, endpoint: Endpoint, configuration: Configuration
) -> Rehearsal:
    """Run `example` as a dry run, and return its answer."""
    return get_runtime().rehearse(endpoint, configuration, _attempt(example))


def _run_example(
    example: ExampleCallDefinition, endpoint: Endpoint, configuration: Configuration
) -> CallResult:
    """Run one example call, and once more for each role that should be refused."""
    attempt = _attempt(example)
    rehearsal = get_runtime().rehearse(endpoint, configuration, attempt)
    problems = list(_unexpected_in_answer(example, rehearsal))
    milliseconds = rehearsal.milliseconds
    for role in example.refused_for:
        rehearsal_as_role = get_runtime().rehearse(
            endpoint, configuration, replace(attempt, roles=(role,), anonymous=False)
        )
        milliseconds += rehearsal_as_role.milliseconds
        if rehearsal_as_role.status not in _REFUSED:
            problems.append(Sentence("A caller who has only the role “%(role)s” is not refused.", role=role))
    return CallResult(
        endpoint=endpoint.definition.key,
        name=example.name,
        problems=tuple(problems),
        was_sent=rehearsal.status != 0,
        milliseconds=milliseconds,
    )


def _unexpected_in_answer(example: ExampleCallDefinition, rehearsal: Rehearsal) -> Iterator[str]:
    """Yield a sentence for each difference between the answer and what the example expects."""
    # 0: the call ran up to a write that cannot be taken back. It was not refused, and has no answer.
    if rehearsal.status == 0:
        if example.status >= 400:
            yield Sentence(
                "The call would write to the platform; status %(expected)s was expected.",
                expected=example.status,
            )
        return
    if rehearsal.status != example.status:
        statuses = {"status": rehearsal.status, "expected": example.status}
        if rehearsal.problem:
            yield Sentence(
                "The status is %(status)s, but %(expected)s was expected. %(problem)s",
                problem=rehearsal.problem,
                **statuses,
            )
        else:
            yield Sentence("The status is %(status)s, but %(expected)s was expected.", **statuses)
        # An answer with another status has another shape, whose differences would tell nothing new.
        return
    yield from shape_differences(example.shape, rehearsal.answer)
    if example.shape is not None and rehearsal.answer is None:
        yield Sentence("The answer has no JSON.")
    yield from value_differences(example.values, rehearsal.answer)


def _attempt(example: ExampleCallDefinition) -> Attempt:
    """Return an example as a call to make. It is rehearsed, so nothing is written although it is not dry."""
    content = b"" if example.body is None else json.dumps(example.body, cls=ExactJSONEncoder).encode()
    return Attempt(
        roles=example.roles,
        caller_type=example.caller_type,
        caller_record=example.caller_record or None,
        claims=example.claims,
        anonymous=example.anonymous,
        record=example.record,
        file=example.file,
        related=example.related,
        method=example.method,
        query=example.query,
        headers=example.headers,
        content=content,
        sample=None if example.upload is None else SampleFile(**dict(example.upload)),
        dry=False,
    )
