"""Who may call what writes: it is compared with what was last enabled, whatever lies in between.

An endpoint that is switched off, changed and switched on again, is made anew at its old path, or comes to the
path of another one, has the callers it had, or a publisher has agreed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from designer.access_control.access_matrix import callers_in_words
from designer.configuration import Configuration, Endpoint
from designer.history.last_enabled_access import Access, LastEnabled, accesses_now, is_gated
from designer.history.refused_changes import ChangeRefused
from designer.readiness.findings import Finding, Severity
from designer.sentences import Sentence

PERMISSION = "designer.change_write_access"
RULE = "write-access-right"


class WriteAccessRefused(ChangeRefused):
    """The change affects who may call an endpoint that writes. Only a publisher may make such a change."""


def refusals(before: Configuration, now: Configuration) -> list[Finding]:
    """Return findings for the parts of the change from `before` to `now` that only a publisher may make.

    For an enabled endpoint that writes, these are:

    - other callers than when the endpoint, or its path, was last enabled. Fewer types of caller are
      allowed. An endpoint that is enabled for the first time, at a new path, may admit any caller with a
      token;
    - to create records outside the row rule;
    - to let everyone, or callers with a role, reach all records where row rules hid some.

    The meaning of filters and expressions is not compared. Anyone may change drafts, except for one thing:
    only a publisher may acknowledge, for any endpoint, that it reaches records past row rules.
    """
    acknowledgements = list(_findings_on_acknowledgements(before, now))
    changed = {
        id: endpoint
        for id, endpoint in now.endpoints.items()
        if is_gated(endpoint) and endpoint != before.endpoints.get(id)
    }
    if not changed:
        return acknowledgements
    last_enabled = LastEnabled.of(changed)
    accesses = accesses_now(changed)
    findings = [
        refusal
        for id, endpoint in changed.items()
        if (
            refusal := _refusal(
                endpoint, before.endpoints.get(id), accesses[id], last_enabled.of_endpoint(id, endpoint)
            )
        )
    ]
    # All endpoints of an entity give the same message about the entity's row rule: one of them is enough.
    by_message: dict[str, Finding] = {}
    for finding in findings:
        by_message.setdefault(finding.message, finding)
    return [*acknowledgements, *by_message.values()]


def _refusal(
    endpoint: Endpoint, endpoint_before: Endpoint | None, access: Access, earlier_accesses: Sequence[Access]
) -> Finding | None:
    """Return why only a publisher may give `endpoint` its `access` (see `refusals`); None where anyone may.

    `earlier_accesses` are those with which the endpoint, and each of its places, was last enabled; empty for
    one that is enabled for the first time, at a new path. `endpoint_before` is the endpoint before the save.
    """
    # The first with other callers, or without some of these caller types; None without one.
    differing = next((earlier for earlier in earlier_accesses if not access.is_within(earlier)), None)
    named = endpoint.methods_and_path
    if differing is None and (earlier_accesses or access.authentication_required):
        if not _creates_as_before(access, earlier_accesses):
            return _finding_on_outside_row_rule(endpoint, named)
        return _finding_on_every_record(endpoint, endpoint_before, access, earlier_accesses)
    if differing is None:
        message = Sentence(
            "%(endpoint)s writes. Only a publisher may open it to callers without a token.", endpoint=named
        )
    else:
        message = Sentence(
            "%(endpoint)s writes, and only a publisher may change who calls it. "
            "When it was last enabled: %(before)s. Choose that again, or ask a publisher.",
            endpoint=named,
            before=callers_in_words(differing.definition, beside=endpoint.definition.access),
        )
    field = "roles" if access.authentication_required else "authentication_required"
    if differing is not None and access.callers == differing.callers:
        field = "caller_types"
    return Finding(
        rule=RULE, severity=Severity.BLOCKING, message=message, subject=endpoint.definition.key, field=field
    )


def _creates_as_before(access: Access, earlier_accesses: Sequence[Access]) -> bool:
    """Whether `access` lets nobody create records outside the row rule, or there are earlier ones, and each
    let callers do so.
    """
    if not access.creates_outside_row_rule:
        return True
    return bool(earlier_accesses) and all(earlier.creates_outside_row_rule for earlier in earlier_accesses)


def _finding_on_outside_row_rule(endpoint: Endpoint, named: str) -> Finding:
    """Return the finding about creates outside the row rule. `named`: the endpoint as readers know it."""
    message = Sentence(
        "Only a publisher may let %(endpoint)s create records outside its row rule. "
        "Switch “May create outside its rule” off, or ask a publisher.",
        endpoint=named,
    )
    place = "settings.may_create_outside_rule"
    return Finding(
        rule=RULE, severity=Severity.BLOCKING, message=message, subject=endpoint.definition.key, field=place
    )


def _finding_on_every_record(
    endpoint: Endpoint, endpoint_before: Endpoint | None, access: Access, earlier_accesses: Sequence[Access]
) -> Finding | None:
    """Return a finding if everyone, or callers with a new role, would begin to reach every record.

    `endpoint_before` is the endpoint before the save.
    """
    narrowed_accesses = [earlier for earlier in earlier_accesses if earlier.reaches_all_records is False]
    new_roles = {
        role
        for earlier in narrowed_accesses
        if earlier.all_records_roles is not None
        for role in access.all_records_roles or ()
        if role not in earlier.all_records_roles
    }
    if not (new_roles or (narrowed_accesses and access.reaches_all_records)):
        return None
    entity = endpoint.entity.key if endpoint.entity else ""
    place = "entity.row_rule"
    if (
        endpoint_before is not None
        and endpoint_before.definition.row_rule is not None
        and endpoint.definition.row_rule is None
    ):
        place = "row_rule"
        message = Sentence(
            "Only a publisher may remove the row rule of %(endpoint)s. Write a row rule again, or ask a "
            "publisher.",
            endpoint=endpoint.methods_and_path,
        )
    elif access.reaches_all_records:
        message = Sentence(
            "Only a publisher may let all callers reach every record of %(entity)s. Keep the entries of the "
            "row rule, or ask a publisher.",
            entity=entity,
        )
    else:
        message = Sentence(
            "Only a publisher may let callers with the role %(roles)s reach every record of %(entity)s. Keep "
            "the entries of the row rule, or ask a publisher.",
            roles=", ".join(sorted(name for _, name in new_roles)),
            entity=entity,
        )
    return Finding(
        rule=RULE, severity=Severity.BLOCKING, message=message, subject=endpoint.definition.key, field=place
    )


def _findings_on_acknowledgements(before: Configuration, now: Configuration) -> Iterator[Finding]:
    """Yield a finding for each acknowledgement that `now` has and `before` has not."""
    by_key = {endpoint.definition.key: endpoint for endpoint in before.endpoints.values()}
    for id, endpoint in now.endpoints.items():
        definition = endpoint.definition
        if not definition.acknowledgements:
            continue
        endpoint_before = before.endpoints.get(id) or by_key.get(definition.key)
        present_before = (
            set(endpoint_before.definition.acknowledgements) if endpoint_before is not None else set()
        )
        for acknowledgement in definition.acknowledgements:
            if acknowledgement not in present_before:
                message = Sentence(
                    "Only a publisher may acknowledge that %(endpoint)s reaches %(entity)s past its row "
                    "rule. Ask a publisher.",
                    endpoint=endpoint.methods_and_path,
                    entity=acknowledgement.entity,
                )
                yield Finding(
                    rule=RULE,
                    severity=Severity.BLOCKING,
                    message=message,
                    subject=definition.key,
                    field="acknowledgements",
                )
