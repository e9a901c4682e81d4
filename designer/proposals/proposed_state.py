"""The configuration as it would be if a proposal were published now."""

from __future__ import annotations

from dataclasses import replace

from designer.configuration import Configuration, Revision
from designer.documents.document_writer import export
from designer.documents.outcome import configuration_after
from designer.loading import latest
from designer.models import Proposal
from designer.proposals.contents import Contents
from designer.proposals.new_proposals import content_digest
from designer.proposals.proposal_merge import Merge


def proposed_revision(proposal: Proposal) -> Revision:
    """Return the revision of what `proposed_configuration` returns now.

    No live state has the same revision.
    """
    live = latest().revision
    return Revision(live.number, f"{live.token} {proposal.pk} {content_digest(proposal)}")


def proposed_configuration(proposal: Proposal) -> Configuration:
    """Return the configuration as if the proposal were published, even if that is not possible yet.

    Where the proposal and what is live have changed the same part, the proposal counts. Endpoints that are
    not live have ids below zero. Raises DocumentError when this release cannot read the proposal.
    """
    now = latest()
    document = Merge.of(Contents.of(proposal), export(now)).document
    return replace(configuration_after(now, document), revision=proposed_revision(proposal))
