"""The configuration as it would be if a proposal were published now."""

from __future__ import annotations

from dataclasses import replace

from designer.configuration import Configuration, Revision
from designer.documents.outcome import configuration_after
from designer.documents.writing import export
from designer.loading import latest
from designer.models import Proposal
from designer.proposals.contents import Contents
from designer.proposals.merging import Merge
from designer.proposals.opening import content_digest


def proposed_revision(proposal: Proposal) -> Revision:
    """Stands for what `proposed_configuration` gives now. No state that is live shares it."""
    live = latest().revision
    return Revision(live.number, f"{live.token} {proposal.pk} {content_digest(proposal)}")


def proposed_configuration(proposal: Proposal) -> Configuration:
    """With everything that cannot be published yet, too; where both have changed the same, as proposed.

    Endpoints that are not live have ids below zero. Raises DocumentError for a proposal that means nothing to
    this release of the product.
    """
    now = latest()
    document = Merge.of(Contents.of(proposal), export(now)).document
    return replace(configuration_after(now, document), revision=proposed_revision(proposal))
