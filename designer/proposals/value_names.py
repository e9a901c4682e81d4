"""The names of environment values in a proposal, kept from the document that it was opened from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from designer.definitions import ConfigurationDocument
from designer.documents.document_writer import json_bytes
from designer.documents.environment_values import Names
from designer.documents.named_values import NamedValue, Use
from designer.imports.stored_values import named_as, named_json, remember
from designer.models import Proposal
from designer.proposals.contents import Contents


def names_of(document: ConfigurationDocument, names: Names | None) -> dict[str, Any]:
    """Return the named values and their uses as JSON, for `Proposal.named`."""
    if names is None:
        return {}
    return {
        "values": [asdict(value) for value in names.values],
        "uses": [asdict(use) for use in names.uses(document)],
    }


def remember_names(proposal: Proposal, document: ConfigurationDocument) -> None:
    """Keep the names for exports, now that `document` is live."""
    if proposal.named:
        remember(document, *_stored_values(proposal))


def document_text(proposal: Proposal) -> str:
    """Return the proposed document as text, with names for its values. Uploaded again, it proposes the same.

    Raises DocumentError.
    """
    document = Contents.of(proposal).document
    named_document = named_as(document, *_stored_values(proposal)) if proposal.named else named_json(document)
    return json_bytes(named_document).decode()


def _stored_values(proposal: Proposal) -> tuple[list[NamedValue], list[Use]]:
    """Return the named values that the proposal stores, and their uses."""
    values = [NamedValue(**value) for value in proposal.named["values"]]
    return values, [Use(**use) for use in proposal.named["uses"]]
