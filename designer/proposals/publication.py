"""Approving, publishing, withdrawing and taking back proposals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from designer.configuration import Configuration
from designer.definitions import ConfigurationDocument
from designer.documents.document_writer import export
from designer.documents.judgement import Judgement, judge
from designer.documents.keys import CONTEXT
from designer.documents.plan import Plan
from designer.documents.problems import DocumentError
from designer.documents.protection import EVERYTHING, group_protected_from_context
from designer.history.recording import Author, Origin
from designer.history.restoration import carry_out
from designer.history.undo import Undoing
from designer.loading import latest
from designer.models import ItemChange, Proposal
from designer.proposals.contents import Contents
from designer.proposals.new_proposals import content_digest
from designer.proposals.proposal_merge import Merge
from designer.proposals.value_names import remember_names
from designer.sentences import Sentence, listed

_STATE = Proposal.State


def needs_approval(proposal: Proposal, configuration: Configuration) -> bool:
    """Whether somebody else than the author has to approve the proposal before it is published.

    The protection of a module also counts for the roles and the like by which its endpoints answer.
    """
    groups = {protection.group for protection in configuration.protections if protection.needs_approval}
    if EVERYTHING in groups:
        return True
    return any(
        group_protected_from_context(change, groups, configuration) is not None
        if change.group == CONTEXT
        else change.group in groups
        for change in Contents.of(proposal).changes
    )


def is_approved(proposal: Proposal) -> bool:
    """Whether the present contents of the proposal are approved."""
    return bool(proposal.approved) and proposal.approved == content_digest(proposal)


def may_be_approved_by(proposal: Proposal, account: str) -> bool:
    """Whether `account` has neither opened nor ever edited the proposal. An unknown account (empty) may not
    approve.
    """
    # Whose edit was replaced is an author, too: parts of it may remain in what others have edited since.
    return account != "" and account not in proposal.authors


def keep_authors_of_renamed(before: str, after: str) -> None:
    """Let an account that is called `after` from now on approve no proposal that it wrote as `before`."""
    with transaction.atomic():
        unfinished = Proposal.objects.exclude(state__in=(_STATE.PUBLISHED, _STATE.GONE_BACK))
        for proposal in unfinished.select_for_update().defer("base", "document", "earlier"):
            if before in proposal.authors:
                # Whoever gets the old name is barred, too: names of accounts are all that a proposal has.
                proposal.editors = sorted({*proposal.authors, after})
                proposal.save(update_fields=["editors"])


def require_contents(proposal: Proposal, digest: str) -> None:
    """Check that `digest` is the `content_digest` of the proposal: that of the contents which somebody has
    read. Raises DocumentError.
    """
    if content_digest(proposal) != digest:
        raise _has_changed()


def approve(proposal: Proposal, account: str) -> None:
    """Approve the contents that `proposal` has.

    Raises DocumentError for each of its authors, when the proposal is not open, and when its stored contents
    are others by now.
    """
    with transaction.atomic():
        locked = _locked_open_proposal(proposal)
        if not may_be_approved_by(locked, account):
            raise DocumentError([Sentence("Somebody other than the author must approve a proposal.")])
        require_contents(locked, content_digest(proposal))
        locked.state, locked.approved, locked.approved_by = _STATE.APPROVED, content_digest(locked), account
        locked.save()


def withdraw(proposal: Proposal, account: str) -> None:
    """Withdraw a proposal. Raises DocumentError when it is not open."""
    with transaction.atomic():
        locked = _locked_open_proposal(proposal)
        _close(locked, _STATE.WITHDRAWN, account)


def reopen(proposal: Proposal) -> None:
    """Open a withdrawn proposal again, as it was. Raises DocumentError when it is not withdrawn."""
    with transaction.atomic():
        locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
        if locked.state != _STATE.WITHDRAWN:
            raise DocumentError([Sentence("The proposal is not withdrawn.")])
        locked.state = _STATE.APPROVED if is_approved(locked) else _STATE.OPEN
        locked.closed_by, locked.closed_at = "", None
        locked.save()


def withdraw_approval(proposal: Proposal) -> None:
    """Take back the approval. Raises DocumentError when the proposal is not open, or not approved."""
    with transaction.atomic():
        locked = _locked_open_proposal(proposal)
        if not is_approved(locked):
            raise DocumentError([Sentence("The proposal is not approved.")])
        locked.state, locked.approved, locked.approved_by = _STATE.OPEN, "", ""
        locked.save()


def obstacles(proposal: Proposal, merge: Merge | None = None) -> Iterator[Sentence]:
    """Yield why the proposal cannot be published, besides the findings of its review.

    `merge` is the proposal merged with what is live, where the caller has it.
    """
    if not proposal.is_open:
        yield Sentence("The proposal is closed.")
        return
    configuration = latest()
    if needs_approval(proposal, configuration) and not is_approved(proposal):
        yield Sentence("Somebody other than the author must approve the proposal first.")
    yield from _obstacles_of_merge(merge or Merge.of(Contents.of(proposal), export(configuration)))


def judge_proposal(proposal: Proposal, *, with_calls: bool = False, merge: Merge | None = None) -> Judgement:
    """Return the effects of publishing the proposal. Writes nothing. Raises DocumentError.

    `merge` is the proposal merged with what is live, where the caller has it.
    """
    contents = Contents.of(proposal)
    return judge(lambda now: (merge or Merge.of(contents, now)).plan(now), with_calls=with_calls)


def publish(proposal: Proposal, author: Author) -> Judgement:
    """Make live what is proposed, as one version in one transaction.

    Raises DocumentError with everything that prevents it: findings, example calls, a missing approval, and
    live changes of the same parts. Nothing has changed then.
    """
    if reasons := list(obstacles(proposal)):
        raise DocumentError(reasons)
    contents, digest = Contents.of(proposal), content_digest(proposal)

    def make_plan(now: ConfigurationDocument) -> Plan:
        """Return the plan for what is live now. Raises DocumentError when it cannot be merged."""
        merge = Merge.of(contents, now)
        if obstacles_of_merge := list(_obstacles_of_merge(merge)):
            raise DocumentError(obstacles_of_merge)
        return merge.plan(now)

    def close(version: int | None) -> None:
        """Close the proposal, in the transaction that publishes it. Raises DocumentError
        when it has changed.
        """
        locked = _locked_open_proposal(proposal)
        # Checked again: the first check was before the transaction.
        require_contents(locked, digest)
        if needs_approval(locked, latest()) and not is_approved(locked):
            raise _has_changed()
        if version is None:
            raise nothing_is_proposed()
        _close(locked, _STATE.PUBLISHED, author.account, version)

    merge = Merge.of(contents, export(latest()))
    judgement = carry_out(
        make_plan, merge.document, _publisher(author, proposal), with_calls=True, also=close
    )
    remember_names(proposal, contents, merge)
    return judgement


def _has_changed() -> DocumentError:
    """Return the error of a step that was meant for a proposal as it was before."""
    return DocumentError([Sentence("The proposal has changed meanwhile. Look at it, then try again.")])


def nothing_is_proposed() -> DocumentError:
    """Return the error of a proposal that would change nothing of what is live."""
    return DocumentError(
        [Sentence("The configuration already has everything that is proposed. Withdraw the proposal.")]
    )


def go_back(proposal: Proposal, author: Author, confirmed: str | None = None) -> Judgement:
    """Make live what was live before the proposal was published, in one step.

    Raises DocumentError when later changes build on the proposal, and Unconfirmed as `carry_out` does;
    nothing has changed then.
    """
    if proposal.state != _STATE.PUBLISHED or proposal.version is None:
        raise DocumentError([Sentence("The proposal is not published.")])
    undoing = Undoing.of(ItemChange.objects.filter(version=proposal.version))

    def close(version: int | None) -> None:
        """Close the proposal, in the transaction that takes it back. Raises DocumentError when somebody else
        was faster.
        """
        locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
        if locked.state != _STATE.PUBLISHED:
            raise DocumentError([Sentence("The proposal is not published.")])
        _close(locked, _STATE.GONE_BACK, author.account, locked.version)

    return undoing.make(_publisher(author, proposal), confirmed=confirmed, also=close)


def _publisher(author: Author, proposal: Proposal) -> Author:
    """Return `author` with the right to change what is protected. The note names the proposal, if it is
    empty.
    """
    return replace(author, origin=Origin.PROPOSAL, note=author.note or str(proposal), publishes=True)


def _locked_open_proposal(proposal: Proposal) -> Proposal:
    """Return the stored proposal, locked until the transaction ends.

    Raises DocumentError when it is not open.
    """
    locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
    if not locked.is_open:
        raise DocumentError([Sentence("The proposal is closed.")])
    return locked


def _close(proposal: Proposal, state: str, account: str, version: int | None = None) -> None:
    """Store that a proposal is closed, in the given state. `version`: the version that it
    has become, if any.
    """
    proposal.state, proposal.version = state, version
    proposal.closed_by, proposal.closed_at = account, timezone.now()
    proposal.save()


def _obstacles_of_merge(merge: Merge) -> Iterator[Sentence]:
    """Yield a sentence for each reason why the proposal cannot be merged with what is live."""
    if merge.clashes:
        yield Sentence(
            "The proposal and what is live were changed in the same place: %(items)s. Download "
            "the proposal, correct it, and upload it again.",
            items=listed(merge.clashes, "; "),
        )
    if merge.access:
        yield Sentence(
            "Since the proposal was opened, somebody has changed who may call, or what callers reach: "
            "%(items)s. Take over what is live into the proposal first.",
            items=listed(merge.access, "; "),
        )
