"""What a proposal has from values of the environment: the names in the document that it was opened from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from designer.definitions import ConfigurationDocument
from designer.documents.environment_values import Names
from designer.documents.named_values import NamedValue, Use
from designer.documents.writing import json_bytes
from designer.environment import named_as, named_json, remember
from designer.models import Proposal
from designer.proposals.contents import Contents


def names_of(document: ConfigurationDocument, names: Names | None) -> dict[str, Any]:
    """As JSON, for `Proposal.named`."""
    if names is None:
        return {}
    return {
        "values": [asdict(value) for value in names.values],
        "uses": [asdict(use) for use in names.uses(document)],
    }


def remember_names(proposal: Proposal, document: ConfigurationDocument) -> None:
    """Keep the names for exports, now that `document` is live."""
    if proposal.named:
        remember(document, *_kept(proposal))


def document_text(proposal: Proposal) -> str:
    """What is proposed, with the names of its values: uploaded again, it proposes the same.

    Raises DocumentError.
    """
    document = Contents.of(proposal).document
    named = named_as(document, *_kept(proposal)) if proposal.named else named_json(document)
    return json_bytes(named).decode()


def _kept(proposal: Proposal) -> tuple[list[NamedValue], list[Use]]:
    values = [NamedValue(**value) for value in proposal.named["values"]]
    return values, [Use(**use) for use in proposal.named["uses"]]
