"""What a page says of a proposal before it is published: differences, findings, calls, callers, obstacles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest

from designer.documents.document_writer import export
from designer.documents.judgement import Judgement
from designer.documents.problems import DocumentError
from designer.endpoint_calls import DAYS
from designer.imports.import_report import ImportReport, report_on
from designer.loading import latest
from designer.models import Proposal
from designer.proposals.contents import Contents
from designer.proposals.proposal_merge import Merge
from designer.proposals.publication import judge_proposal, needs_approval, obstacles
from designer.readiness import Finding
from designer.releases.next_release import Difference, difference_of
from designer.sentences import said
from designer.studio.hidden_lists import hidden_from, seen_findings


@dataclass(frozen=True)
class Review:
    """`differences` are those of the proposal and what it started from. `judged` and `report` are of what
    publishing would do now; None where that cannot be told. `obstacles` hold it back.
    """

    differences: Sequence[Difference]
    obstacles: Sequence[str]
    judged: Judgement | None = None
    report: ImportReport | None = None
    findings: Sequence[Finding] = ()
    needs_approval: bool = False
    has_moved: bool = False
    can_take_over: bool = False
    has_calls: bool = False
    refusals: Sequence[str] = ()
    # The keys of endpoints that it makes or changes, and that would be there.
    endpoints: Sequence[str] = ()
    days: int = DAYS

    def without(self, shown_elsewhere: Collection[str]) -> Review:
        """Return the review without the texts that the page shows elsewhere."""
        return replace(
            self,
            obstacles=[obstacle for obstacle in self.obstacles if obstacle not in shown_elsewhere],
            refusals=[refusal for refusal in self.refusals if said(refusal) not in shown_elsewhere],
        )

    @property
    def is_ready(self) -> bool:
        """Whether nothing that is known holds it back."""
        if self.judged is None or self.judged.plan.does_nothing:
            return False
        return not self.obstacles and self.judged.is_acceptable()


def review(proposal: Proposal, request: HttpRequest, *, with_calls: bool) -> Review:
    """Return what the page of a proposal shows. With `with_calls`, example calls are run as well."""
    try:
        contents = Contents.of(proposal)
    except DocumentError as error:
        return Review((), [said(problem) for problem in error.problems])
    hidden = hidden_from(request)
    visible = [change for change in contents.changes if change.collection.field not in hidden]
    differences = sorted(map(difference_of, visible), key=lambda difference: -difference.effect.rank)
    if not proposal.is_open:
        return Review(differences, ())
    endpoints = sorted(
        change.key
        for change in contents.changes
        if change.collection.field == "endpoints" and change.after is not None
    )
    try:
        merge = Merge.of(contents, export(latest()))
        held_back = [said(obstacle) for obstacle in obstacles(proposal)]
        judged = judge_proposal(proposal, with_calls=with_calls)
    except DocumentError as error:
        return Review(differences, [said(problem) for problem in error.problems], endpoints=endpoints)
    return Review(
        differences,
        held_back,
        judged,
        report_on(judged),
        seen_findings(judged.findings, request),
        needs_approval=needs_approval(proposal, latest()),
        has_moved=merge.has_moved,
        can_take_over=merge.has_moved and not merge.clashes,
        has_calls=with_calls,
        refusals=tuple(judged.sentences()),
        endpoints=endpoints,
    )
