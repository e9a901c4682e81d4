"""Queries that reach past row rules: what somebody has to have meant."""

from __future__ import annotations

from designer.endpoint_facts.reached_entities import RECORDS, Reach, reach
from designer.readiness.findings import Finding
from designer.readiness.registry import Found, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

RULE = "row-rule-not-applied"


@warning(RULE, row_rules=True)
def queries_apply_row_rules(subject: EndpointSubject) -> Found:
    """Find entities that some module hides records of by a row rule, and that this endpoint reads without
    one.

    `is_ruled` is about this endpoint, `ruled_entities` about all modules. What was acknowledged is left out.
    """
    acknowledged = {acknowledgement.entity for acknowledgement in subject.definition.acknowledgements}
    for reached in reach(subject.endpoint):
        if reached.is_ruled or reached.entity in acknowledged:
            continue
        if reached.entity in subject.surroundings.ruled_entities:
            yield _sentence(reached), reached.place


def entity_of(finding: Finding) -> str:
    """Return the entity that can be acknowledged for a finding; empty for findings of other rules."""
    if finding.rule != RULE or not isinstance(finding.message, _):
        return ""
    return str(finding.message.values["entity"])


def _sentence(reached: Reach) -> _:
    """Return the finding about an entity that is reached without its row rule, with what to do there."""
    if reached.place == RECORDS:
        return _(
            "The endpoint reaches all records of %(entity)s: another module has a row rule for %(entity)s, "
            "and this module has none. Give it a row rule in this module, or acknowledge this with a reason.",
            entity=reached.entity,
        )
    if not reached.rule_at_hand:
        return _(
            "The query reaches all records of %(entity)s: another module has a row rule for %(entity)s, and "
            "this module has none. Give it a row rule in this module, or acknowledge this with a reason.",
            entity=reached.entity,
        )
    if reached.place.startswith("fetchers.") and not reached.is_link:
        return _(
            "The query reaches all records of %(entity)s, whatever the row rule says. Tick “apply row "
            "rules”, or acknowledge this with a reason.",
            entity=reached.entity,
        )
    if reached.place.startswith("fetchers."):
        return _(
            "The query links to %(entity)s without its row rule, which data fetchers apply to their own "
            "entity only. Take the link out, or acknowledge this with a reason.",
            entity=reached.entity,
        )
    return _(
        "The query links to %(entity)s without its row rule. Tick “Row rules of linked entities”, or "
        "acknowledge this with a reason.",
        entity=reached.entity,
    )
