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
from designer.studio.hidden_lists import hidden_from, visible_findings, words_on_hidden


@dataclass(frozen=True)
class Review:
    """What the page of a proposal shows.

    `differences` lead from what the proposal started from to what it proposes, the most serious first.
    `publishing_obstacles` are sentences that say what holds publishing back. `judged` and `report` say what
    publishing would do now; they are None for a closed proposal, and where nobody can tell. `refusals` are
    the reasons of `judged` against it. `has_moved`: what the proposal changes was changed live as well;
    `can_take_over`: the proposal can take that over without a conflict. `calls_wanted`: the account wants
    example calls to be run, which `judged` did unless something else keeps the proposal from going live.
    `endpoints` are the keys of endpoints that the proposal makes or changes. `unseen` says that the proposal
    has changes which the account may not see, and may therefore not decide about; it is None where there are
    none. `days` is the time of which `report` counts calls.
    """

    differences: Sequence[Difference]
    publishing_obstacles: Sequence[str]
    judged: Judgement | None = None
    report: ImportReport | None = None
    findings: Sequence[Finding] = ()
    needs_approval: bool = False
    has_moved: bool = False
    can_take_over: bool = False
    calls_wanted: bool = False
    refusals: Sequence[str] = ()
    endpoints: Sequence[str] = ()
    unseen: str | None = None
    days: int = DAYS

    def without(self, shown_elsewhere: Collection[str]) -> Review:
        """Return the review without the texts in `shown_elsewhere`, so that the page says nothing twice."""
        return replace(
            self,
            publishing_obstacles=[
                obstacle for obstacle in self.publishing_obstacles if obstacle not in shown_elsewhere
            ],
            refusals=[refusal for refusal in self.refusals if said(refusal) not in shown_elsewhere],
        )

    @property
    def is_ready(self) -> bool:
        """Return whether publishing would change something, and nothing known holds it back."""
        if self.judged is None or self.judged.plan.does_nothing:
            return False
        return not self.publishing_obstacles and self.judged.is_acceptable()


def review(proposal: Proposal, request: HttpRequest, *, with_calls: bool) -> Review:
    """Return what the page of a proposal shows. With `with_calls`, example calls are run as well."""
    try:
        contents = Contents.of(proposal)
    except DocumentError as error:
        return Review((), [said(problem) for problem in error.problems])
    hidden, changes = hidden_from(request), contents.changes
    unseen = words_on_hidden((change.collection.field for change in changes), request)
    visible = [change for change in changes if change.collection.field not in hidden]
    # A high rank is a serious effect on callers.
    differences = sorted(map(difference_of, visible), key=lambda difference: -difference.effect.rank)
    if not proposal.is_open:
        return Review(differences, (), unseen=unseen)
    # Endpoints are in no hidden list, so `changes` will do.
    endpoints = sorted(
        change.key
        for change in changes
        if change.collection.field == "endpoints" and change.after is not None
    )
    try:
        merge = Merge.of(contents, export(latest()), hidden)
        held_back = [said(obstacle) for obstacle in obstacles(proposal, merge)]
        judged = judge_proposal(proposal, with_calls=with_calls, merge=merge)
    except DocumentError as error:
        problems = [said(problem) for problem in error.problems]
        return Review(differences, problems, endpoints=endpoints, unseen=unseen)
    return Review(
        differences,
        publishing_obstacles=held_back,
        judged=judged,
        report=report_on(judged),
        # What blocks is among the refusals.
        findings=visible_findings(
            [finding for finding in judged.findings if not finding.is_blocking], request
        ),
        needs_approval=needs_approval(proposal, latest()),
        has_moved=merge.has_moved,
        # Who may not see all of it may not take over either: that stores the hidden part, too.
        can_take_over=merge.has_moved and not merge.clashes and unseen is None,
        calls_wanted=with_calls,
        refusals=tuple(judged.sentences(hidden)),
        endpoints=endpoints,
        unseen=unseen,
    )
