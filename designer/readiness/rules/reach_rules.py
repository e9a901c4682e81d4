"""Queries that reach past row rules: what somebody has to have meant."""

from __future__ import annotations

from designer.reach import Reach, reach
from designer.readiness.findings import Finding
from designer.readiness.registry import Found, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

RULE = "row-rule-not-applied"


@warning(RULE)
def queries_apply_row_rules(subject: EndpointSubject) -> Found:
    acknowledged = {known.entity for known in subject.definition.acknowledgements}
    for one in reach(subject.endpoint):
        if one.is_ruled or one.entity in acknowledged:
            continue
        if one.entity in subject.surroundings.ruled_entities:
            yield _sentence(one), one.place


def entity_of(finding: Finding) -> str:
    """The entity that can be acknowledged for a finding; empty for findings of other rules."""
    if finding.rule != RULE or not isinstance(finding.message, _):
        return ""
    return str(finding.message.values["entity"])


def _sentence(one: Reach) -> _:
    if not one.rule_at_hand:
        return _(
            "The query reaches all records of %(entity)s: another module has a row rule for %(entity)s, and "
            "this module has none. Give it a row rule in this module, or acknowledge this with a reason.",
            entity=one.entity,
        )
    if one.place.startswith("fetchers.") and not one.is_link:
        return _(
            "The query reaches all records of %(entity)s, whatever the row rule says. Tick “apply row "
            "rules”, or acknowledge this with a reason.",
            entity=one.entity,
        )
    if one.place.startswith("fetchers."):
        return _(
            "The query links to %(entity)s without its row rule, which data fetchers apply to their own "
            "entity only. Take the link out, or acknowledge this with a reason.",
            entity=one.entity,
        )
    return _(
        "The query links to %(entity)s without its row rule. Tick “Row rules of linked entities”, or "
        "acknowledge this with a reason.",
        entity=one.entity,
    )
