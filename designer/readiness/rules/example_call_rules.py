"""Example calls that can no longer be made as they were kept."""

from __future__ import annotations

from designer.readiness.registry import Found, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@warning("example-call-outdated")
def example_calls_can_be_made(subject: EndpointSubject) -> Found:
    """Find example calls that name what no longer exists. `designer.example_calls` checks their answers."""
    surroundings = subject.surroundings
    for call in subject.definition.example_calls:
        field = f"example_calls.{call.name}"
        for role in sorted({*call.roles, *call.refused_for} - surroundings.roles):
            yield (
                _(
                    "The example call “%(name)s” names the role “%(role)s”, which does not exist. Remove "
                    "the call, or keep a new one with “Try it”.",
                    name=call.name,
                    role=role,
                ),
                field,
            )
        if call.caller_type not in surroundings.caller_types:
            yield (
                _(
                    "The example call “%(name)s” names the caller type “%(type)s”, which does not exist. "
                    "Remove the call, or keep a new one with “Try it”.",
                    name=call.name,
                    type=call.caller_type,
                ),
                field,
            )
        if call.upload is not None and not subject.endpoint.kind.takes_files:
            yield (
                _(
                    "The example call “%(name)s” sends a file, which the endpoint does not take. Remove the "
                    "call, or keep a new one with “Try it”.",
                    name=call.name,
                ),
                field,
            )
        if call.method and call.method not in subject.endpoint.methods:
            yield (
                _(
                    "The example call “%(name)s” is sent with %(method)s, which the endpoint does not "
                    "accept. Remove the call, or keep a new one with “Try it”.",
                    name=call.name,
                    method=call.method,
                ),
                field,
            )
