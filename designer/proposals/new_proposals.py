"""Opening proposals, and changing what they propose. Nothing that is live changes."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone

from designer.definitions import ConfigurationDocument
from designer.documents.document_writer import export
from designer.documents.judgement import prevented_by
from designer.documents.keys import COLLECTIONS
from designer.documents.outcome import document_after
from designer.documents.plan import Plan, plan
from designer.documents.problems import DocumentError
from designer.history.items import ItemKey
from designer.history.refused_changes import ProtectionRefused
from designer.history.restoration import all_groups
from designer.imports.document_import import Source
from designer.loading import latest
from designer.models import Proposal
from designer.models.fields import ExactJSONDecoder, ExactJSONEncoder
from designer.proposals.contents import Contents, digest_of_text
from designer.proposals.proposal_merge import Merge
from designer.proposals.value_names import names_of
from designer.sentences import Sentence, listed

# What an edit changes, and its undo takes back.
_EDITED = ("base", "document", "digest", "module", "named", "approved", "approved_by", "edited_by")
# What is stored of an edit. Other columns, such as the secret of its readers, may have changed since the
# proposal was read.
_STORED = (*_EDITED, "earlier", "editors", "state", "edited_at")


def open_copy(module: str, account: str, title: str, description: str = "") -> Proposal:
    """Open a proposal that proposes what is live, for one module; empty: for everything.

    Raises DocumentError.
    """
    now = export(latest())
    if module and all(definition.segment != module for definition in now.modules):
        raise DocumentError([Sentence("There is no module “%(name)s”.", name=module)])
    # It begins without a change: what is live is both what it starts from and what it proposes.
    return _open_proposal(Contents.between(now, now, module), account, title, description)


def open_source(source: Source, account: str, title: str, description: str = "") -> Proposal:
    """Open a proposal of what importing `source` would make.

    Raises DocumentError, also when that changes nothing.
    """
    now = export(latest())
    contents = Contents.between(now, document_after(now, source.plan(now)))
    _require_change(contents)
    return _open_proposal(contents, account, title, description, names_of(source.document, source.names))


def open_refused(refused: ProtectionRefused, account: str, title: str, description: str = "") -> Proposal:
    """Open a proposal of the change that was refused. Raises DocumentError."""
    contents = Contents.between(export(refused.before), export(refused.now))
    return _open_proposal(contents, account, title, description)


def add_refused(
    proposal: Proposal, refused: ProtectionRefused, account: str, hidden: Collection[str] = ()
) -> None:
    """Add the change that was refused to the proposal.

    Raises DocumentError when both change the same part. Its sentences do not name items of the lists
    `hidden`, which the account may not see.
    """
    before, now = export(refused.before), export(refused.now)
    merge = Merge.of(Contents.of(proposal), before, hidden)
    _require_mergeable(merge)
    if merge.access:
        raise DocumentError(
            [
                Sentence(
                    "Since the proposal was opened, somebody has changed who may call, or what callers reach."
                    " Take over what is live into the proposal first."
                )
            ]
        )
    # The refused change is made to what is proposed, in place of what is live.
    added = Merge.of(Contents.between(before, now), merge.document, hidden)
    _require_mergeable(added)
    _store_edit(proposal, _contents_after_edit(proposal, before, added.document), account)


def replace_document(proposal: Proposal, source: Source, account: str, hidden: Collection[str] = ()) -> None:
    """Make the proposal propose what `source` says. Raises DocumentError.

    The author has edited the proposal's document. What the edited one lacks is removed: of the module that
    the proposal is for, or of everything. What the author has left unchanged stays as it is live now, so that
    nothing is taken back that was published since the proposal was opened.

    `hidden` are the lists that the author may not see, and whose items the author's file never had: these
    stay as they are proposed. Where such an item was changed live, too, this raises DocumentError: somebody
    who sees the list has to decide first.
    """
    names = names_of(source.document, source.names, proposal)
    now = export(latest())
    _require_undisputed(proposal, now, hidden)
    document = _with_hidden(source.document, _proposed_document(proposal) or now, hidden)
    source = source._replace(document=document, removes={proposal.module} if proposal.module else None)
    contents = _contents_after_edit(proposal, now, _live_with_changes_of(proposal, source, now))
    _require_change(contents)
    _store_edit(proposal, contents, account, names)


def _require_undisputed(proposal: Proposal, now: ConfigurationDocument, hidden: Collection[str]) -> None:
    """Check that an upload decides nothing about items of the lists `hidden`.

    It would where the proposal changes one of them, and somebody has changed the same part, or whom it lets
    in, since the proposal was opened. Raises DocumentError.
    """
    try:
        contents = Contents.of(proposal)
    except DocumentError:
        # An earlier release wrote it, and nobody sees what it proposes.
        return
    disputed = {
        field
        for field in hidden
        if (merge := Merge.of(_only_list(contents, field), now)).clashes or merge.access
    }
    if disputed:
        raise DocumentError([prevented_by(disputed)])


def _only_list(contents: Contents, field: str) -> Contents:
    """Return the contents without any list but `field`."""
    others = {collection.field: () for collection in COLLECTIONS if collection.field != field}
    base, document = (side.model_copy(update=others) for side in (contents.base, contents.document))
    return Contents(base, document)


def _contents_after_edit(
    proposal: Proposal, base: ConfigurationDocument, proposed: ConfigurationDocument
) -> Contents:
    """Return the contents of a proposal that leads from `base` to `proposed`.

    A proposal without a module is about everything, and stays so: `Contents.between` would narrow it to the
    only module that it changes. Its author may have a file of everything, whose next upload must count as a
    whole.
    """
    if not proposal.module:
        return Contents(base, proposed)
    return Contents.between(base, proposed, proposal.module)


def _proposed_document(proposal: Proposal) -> ConfigurationDocument | None:
    """Return what is proposed; None when this release cannot read it."""
    try:
        return Contents.of(proposal).document
    except DocumentError:
        return None


def _with_hidden(
    document: ConfigurationDocument, proposed: ConfigurationDocument, hidden: Collection[str]
) -> ConfigurationDocument:
    """Return `document` with the items of `proposed` in the lists `hidden` that it lacks."""
    lists = {
        collection.field: tuple({**collection.items(proposed), **collection.items(document)}.values())
        for collection in COLLECTIONS
        if collection.field in hidden
    }
    return document.model_copy(update=lists)


def _live_with_changes_of(
    proposal: Proposal, source: Source, now: ConfigurationDocument
) -> ConfigurationDocument:
    """Return `now` with what `source` changes of what the proposal started from."""
    try:
        base = Contents.of(proposal).base
    except DocumentError:
        # An earlier release wrote it. The document makes it readable again.
        return document_after(now, source.plan(now))
    merge = Merge.of(Contents(base, document_after(base, source.plan(base))), now)
    # Items of which both have changed the same part are as the document says. An item with two names would be
    # there twice: then the document is the author's decision about everything.
    return document_after(now, source.plan(now)) if merge.has_two_names else merge.document


def rebase(proposal: Proposal, account: str) -> None:
    """Base the proposal on what is live now.

    Raises DocumentError when both have changed the same part, and when nothing of it was changed live: that
    would withdraw an approval, and forget the edit before, for nothing.
    """
    now = export(latest())
    merge = Merge.of(Contents.of(proposal), now)
    _require_mergeable(merge)
    if not merge.has_moved:
        raise DocumentError(
            [
                Sentence(
                    "Nothing that the proposal changes was changed live, so there is nothing to take over."
                )
            ]
        )
    _store_edit(proposal, _contents_after_edit(proposal, now, merge.document), account)


def leave_out(proposal: Proposal, items: Collection[ItemKey], account: str) -> None:
    """Propose no change of `items` any more: they stay as they are.

    Raises DocumentError, also when nothing else is proposed.
    """
    contents = Contents.of(proposal)
    back_to_base = plan(contents.document, contents.base, all_groups(contents.document))
    # `keeping` takes the changes of `items` out of a plan, and lists them as `kept`.
    changes_taken_back = back_to_base.keeping(items).kept
    remaining = contents._replace(document=document_after(contents.document, Plan(changes_taken_back)))
    _require_change(remaining)
    _store_edit(proposal, remaining, account)


def undo_edit(proposal: Proposal, expected_digest: str) -> None:
    """Make the proposal what it was before its last edit, with its approval. Another call brings the edit
    back.

    `expected_digest` is the `content_digest` of the proposal that the user has seen. Raises DocumentError if
    its contents are others by now, if it is closed, or if nobody has edited it.
    """
    with transaction.atomic():
        locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
        if not locked.is_open or not locked.earlier or content_digest(locked) != expected_digest:
            raise DocumentError([Sentence("The proposal was changed since. Nothing was undone.")])
        earlier = json.loads(locked.earlier, cls=ExactJSONDecoder)
        locked.earlier = _state_before_edit(locked)
        # Whose edit is undone remains an editor: the next call brings the edit back.
        locked.editors = sorted({*locked.authors, earlier["edited_by"]})
        for name, value in earlier.items():
            setattr(locked, name, value)
        is_approved = bool(locked.approved) and locked.approved == content_digest(locked)
        locked.state = Proposal.State.APPROVED if is_approved else Proposal.State.OPEN
        locked.edited_at = timezone.now()
        locked.save()


def _state_before_edit(proposal: Proposal) -> str:
    """Return the JSON of what an edit changes, as the proposal has it now.

    The account that has edited belongs to it, because no author may approve the own edit.
    """
    values = {name: getattr(proposal, name) for name in _EDITED}
    return json.dumps(values, cls=ExactJSONEncoder)


def _open_proposal(
    contents: Contents, account: str, title: str, description: str, value_names: dict[str, Any] | None = None
) -> Proposal:
    """Store a new proposal, and return it. A title that is too long for its column is cut. `value_names`:
    the document's named values and their uses, as `names_of` returns them.
    """
    longest = Proposal._meta.get_field("title").max_length
    proposal = Proposal(
        title=title.strip()[:longest],
        description=description.strip(),
        account=account,
        edited_by=account,
        named=value_names or {},
    )
    contents.store(proposal)
    proposal.save()
    return proposal


def _store_edit(
    proposal: Proposal, contents: Contents, account: str, value_names: dict[str, Any] | None = None
) -> None:
    """Store other contents in an open proposal, and withdraw its approval. Raises DocumentError if somebody
    else has changed it.
    """
    with transaction.atomic():
        locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
        if not locked.is_open or locked.document != proposal.document:
            raise DocumentError(
                [Sentence("Somebody else has changed the proposal meanwhile. Look at it, then try again.")]
            )
        proposal.earlier = _state_before_edit(locked)
        proposal.editors = sorted({*locked.authors, account})
        contents.store(proposal)
        if value_names is not None:
            proposal.named = value_names
        # The approval was for other contents.
        proposal.state, proposal.approved, proposal.approved_by = Proposal.State.OPEN, "", ""
        proposal.edited_by, proposal.edited_at = account, timezone.now()
        proposal.save(update_fields=_STORED)


def content_digest(proposal: Proposal) -> str:
    """Return the digest of what is approved: the proposed document, and the one that it started from."""
    return digest_of_text(f"{proposal.digest}\n{proposal.document}")


def _require_change(contents: Contents) -> None:
    """Raise DocumentError when the contents propose no change."""
    if not contents.changes:
        raise DocumentError([Sentence("The document changes nothing, so there is nothing to propose.")])


def _require_mergeable(merge: Merge) -> None:
    """Raise DocumentError, with every clash, when the proposal and what is live changed the same part."""
    if merge.clashes:
        raise DocumentError(
            [
                Sentence(
                    "Another change was made in the same place: %(items)s. Download the proposal, correct "
                    "it, and upload it again.",
                    items=listed(merge.clashes, "; "),
                )
            ]
        )
