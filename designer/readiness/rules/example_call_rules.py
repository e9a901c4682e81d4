"""Example calls that can no longer be made as they were kept."""

from __future__ import annotations

from designer.readiness.registry import Found, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@warning("example-call-outdated")
def example_calls_can_be_made(subject: EndpointSubject) -> Found:
    """What the calls are answered is not asked here: `designer.example_calls` makes them."""
    known = subject.surroundings
    for call in subject.definition.example_calls:
        field = f"example_calls.{call.name}"
        for role in sorted({*call.roles, *call.refused_for} - known.roles):
            yield (
                _(
                    "The example call “%(name)s” names the role “%(role)s”, which does not exist. Remove "
                    "the call, or keep a new one with “Try it”.",
                    name=call.name,
                    role=role,
                ),
                field,
            )
        if call.caller_type not in known.caller_types:
            yield (
                _(
                    "The example call “%(name)s” names the caller type “%(type)s”, which does not exist. "
                    "Remove the call, or keep a new one with “Try it”.",
                    name=call.name,
                    type=call.caller_type,
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
