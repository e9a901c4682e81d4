"""Tries what registering a caller would do: the Create endpoint is run up to its first write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from crmclient.errors import PlatformError, PlatformFailure
from crmclient.stand_in import Effect, MemberCall, StandIn
from designer.configuration import Configuration, Endpoint
from designer.platform import get_platform
from designer.sentences import Sentence, said
from runtime.callers.caller import Claims
from runtime.callers.issuers.claim_paths import claim_at
from runtime.callers.issuers.issuer import Issuer
from runtime.callers.issuers.records import RecordSource
from runtime.callers.issuers.registration import foreseen_record, inputs_and_caller
from runtime.callers.refusals import RefusedCaller
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.operations import OPERATIONS
from runtime.serving.registrar import endpoint_named, exchange_with
from runtime.studio.dry_run import NotSent

R = TypeVar("R")

_ENDPOINT = "record.registration.endpoint"
_INPUTS = "record.registration.inputs"

_REFUSALS = {
    "several_records": (
        Sentence("Several records may be linked, so the caller is refused. Merge them."),
        "record.registration.link_attribute",
    ),
    "registration_limit": (
        Sentence("As many callers as may register within an hour have done so. Wait, or allow more."),
        "record.registration.an_hour",
    ),
    "record_gone": (
        Sentence(
            "The caller has registered, and somebody has deleted the record. Delete the registration under "
            "Accounts to let the caller register again."
        ),
        "record.missing",
    ),
    "record_inactive": (
        Sentence("The caller has registered, and the record is not active. Activate it."),
        "record.missing",
    ),
    "no_record": (
        Sentence("No record can be linked, and no endpoint makes one. Choose a Create endpoint."),
        _ENDPOINT,
    ),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial.

    `found` is a sentence about it. `refused`: the caller would be refused. `setting` is the field of the
    issuer that decides.
    """

    found: str
    refused: bool = True
    setting: str = _ENDPOINT


class _Rehearsal(StandIn):
    """A platform that answers reads. It does not send the first write, but keeps it in `held` and raises
    NotSent.
    """

    held: MemberCall | None = None

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        """Return the platform's answer to a read. Raises NotSent for a write."""
        if member_call.effect is not Effect.WRITE:
            return ask()
        self.held = member_call
        raise NotSent(member_call.member)


def tried_registration(
    issuer: Issuer, claims: Claims, source: RecordSource, configuration: Configuration
) -> Trial:
    """Return what would happen if the caller registered now. Nothing is written.

    Raises PlatformFailure while the platform is away.
    """
    if not isinstance(claims.get("sub"), str):
        return Trial(Sentence("The token has no text in the claim “sub”, by which callers register."))
    try:
        record = foreseen_record(issuer, claims, source)
    except RefusedCaller as refusal:
        sentence, setting = _REFUSALS.get(refusal.reason, (refusal.sentence, _ENDPOINT))
        return Trial(sentence, setting=setting)
    if record is not None:
        linked = Sentence("The record %(id)s would be linked to the caller.", id=record)
        return Trial(linked, refused=False, setting="record.registration.link_attribute")
    key = issuer.definition.record.registration.endpoint
    endpoint = endpoint_named(key, configuration)
    if endpoint is None:
        return Trial(Sentence("There is no enabled endpoint %(key)s. Choose another.", key=key))
    reasons = list(_reasons_of_refusal(endpoint, issuer, claims, configuration))
    if not reasons:
        return Trial(Sentence("The caller would be registered."), refused=False)
    refused = Sentence(
        "The endpoint %(key)s would refuse to register the caller: %(reasons)s",
        key=key,
        reasons=" ".join(said(reason.found) for reason in reasons),
    )
    return Trial(refused, setting=reasons[0].setting)


def _reasons_of_refusal(
    endpoint: Endpoint, issuer: Issuer, claims: Claims, configuration: Configuration
) -> Iterator[Trial]:
    """Yield each reason for which the endpoint would not create a record."""
    platform = _Rehearsal(get_platform())
    inputs, caller = inputs_and_caller(issuer, claims)
    context = UserContext(configuration.user_properties, platform, caller_types=configuration.caller_types)
    try:
        operation = OPERATIONS[endpoint.definition.kind](endpoint, platform)
        operation.run(exchange_with(endpoint, inputs, caller, context))
    except NotSent:
        yield from _trials_of_empty_attributes(endpoint, platform, issuer, claims)
    except Problem as problem:
        for error in problem.errors:
            # The first step of the JSON Pointer is the name of the input.
            name = (error.pointer or "").removeprefix("/").partition("/")[0]
            yield _trial_of_input(name, error.message, issuer, claims)
        if not problem.errors:
            yield Trial(problem.sentence)
    except PlatformFailure:
        raise
    except (Misconfigured, PlatformError) as error:
        yield Trial(said(str(error)))


def _trials_of_empty_attributes(
    endpoint: Endpoint, platform: _Rehearsal, issuer: Issuer, claims: Claims
) -> Iterator[Trial]:
    """Yield a result for each required attribute that stays empty when callers leave out an optional
    input.
    """
    held_write = platform.held
    if held_write is None or held_write.member != "create" or endpoint.entity is None:
        return
    # `create(entity, values)`
    values: Any = held_write.arguments[1]
    required = {
        name
        for name, attribute in platform.attributes(endpoint.entity.entity).items()
        if attribute.is_required
    }
    for binding in endpoint.definition.bindings:
        if binding.attribute in required and values.get(binding.attribute) in (None, ""):
            reason = said(Sentence("The platform requires %(name)s.", name=binding.attribute))
            if binding.source == "input":
                yield _trial_of_input(str(binding.value), reason, issuer, claims)
            else:
                yield Trial(reason)


def _trial_of_input(name: str, reason: str, issuer: Issuer, claims: Claims) -> Trial:
    """Return the reason for which an input is refused, with the claim that fills the input."""
    rules = issuer.definition.record.registration.inputs
    claim = next((rule.claim for rule in rules if rule.input == name), "")
    if not claim:
        sentence = Sentence(
            "The input “%(name)s” is required, and no claim is written for it. Add one.", name=name
        )
    elif claim_at(claims, claim) is None:
        sentence = Sentence(
            "The token has no claim “%(claim)s”, which the input “%(name)s” requires.", claim=claim, name=name
        )
    else:
        sentence = Sentence(
            "The claim “%(claim)s” does not fit the input “%(name)s”. %(reason)s",
            claim=claim,
            name=name,
            reason=reason,
        )
    return Trial(sentence, setting=_INPUTS)
