"""The names of environment values in a proposal, kept from the document that it was opened from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from designer.definitions import ConfigurationDocument
from designer.documents.document_writer import json_bytes
from designer.documents.environment_values import Names
from designer.documents.keys import COLLECTIONS, without_items
from designer.documents.named_values import NamedValue, Use, stands_in
from designer.imports.stored_values import named_as, named_json, remember, stored_names
from designer.models import Proposal
from designer.proposals.contents import Contents, state_of
from designer.proposals.proposal_merge import Merge


def names_of(
    document: ConfigurationDocument, names: Names | None, proposal: Proposal | None = None
) -> dict[str, Any]:
    """Return the named values and their uses as JSON, for `Proposal.named`.

    Items that `document` lacks keep the names that they have in `proposal` or, where that has none, live.
    A document that came without JSON to name values in has `names` None: its proposal names none.
    """
    if names is None:
        return {}
    earlier_values, earlier_uses = (
        _names_in(proposal) if proposal is not None and proposal.named else stored_names()
    )
    items_in_document = {
        (collection.field, key) for collection in COLLECTIONS for key in collection.items(document)
    }
    uses = [use for use in earlier_uses if (use.collection, use.key) not in items_in_document]
    used_names = {use.name for use in uses}
    values = {value.name: value for value in earlier_values if value.name in used_names}
    values |= {value.name: value for value in names.values}
    return {
        "values": [asdict(value) for value in values.values()],
        "uses": [asdict(use) for use in (*uses, *names.uses(document))],
    }


def remember_names(proposal: Proposal, contents: Contents, merge: Merge) -> None:
    """Keep the names for exports, now that the proposal is live.

    `merge` is what was published. Items that were changed live, and that the proposal does not change, keep
    the names that they have. A name whose value was changed live keeps that value.
    """
    if not proposal.named:
        return
    values, uses = _names_in(proposal)
    published = state_of(merge.document)
    changed_live = {
        key
        for key, content in state_of(contents.document).items()
        if key not in merge.keys and published.get(key) != content
    }
    uses = [use for use in uses if (use.collection, use.key) not in changed_live]
    by_name = {value.name: value for value in values}
    # Names whose values are published as the proposal has them. The others were changed live.
    names_as_proposed = {
        use.name
        for use in uses
        if stands_in(published.get((use.collection, use.key)), use.path, by_name[use.name])
    }
    by_name |= {value.name: value for value in stored_names()[0] if value.name not in names_as_proposed}
    used_names = {use.name for use in uses}
    remember(
        without_items(contents.document, changed_live),
        [value for name, value in by_name.items() if name in used_names],
        uses,
    )


def document_text(proposal: Proposal) -> str:
    """Return the proposed document as text, with names for its values. Uploaded again, it proposes the same.

    Raises DocumentError.
    """
    document = Contents.of(proposal).document
    named_document = named_as(document, *_names_in(proposal)) if proposal.named else named_json(document)
    return json_bytes(named_document).decode()


def _names_in(proposal: Proposal) -> tuple[list[NamedValue], list[Use]]:
    """Return the named values that the proposal stores, and their uses."""
    values = [NamedValue(**value) for value in proposal.named["values"]]
    return values, [Use(**use) for use in proposal.named["uses"]]
