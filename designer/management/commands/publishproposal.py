"""Publish a proposal, or take a published one back."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from designer.documents.judgement import Judgement, Refused
from designer.documents.problems import DocumentError
from designer.history.broken_callers import QUESTIONS
from designer.history.recording import Author, Origin
from designer.history.refused_changes import ChangeRefused
from designer.imports.import_report import report_on
from designer.management.json_command import JsonCommand, Refusal
from designer.management.proposal_argument import add_proposal_argument, found_proposal
from designer.management.report_lines import (
    affected_lines,
    count_in_words,
    effect_lines,
    failure_lines,
    taken_back_lines,
)
from designer.models import Proposal
from designer.proposals.proposal_json import proposal_json
from designer.proposals.publication import (
    go_back,
    judge_proposal,
    nothing_is_proposed,
    obstacles,
    publish,
)


class Command(JsonCommand):
    help = (
        "Make live what a proposal proposes, in one step. Exits with 1, and changes nothing, where a "
        "finding, an example call, a missing approval or a change that was made live meanwhile holds it back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_proposal_argument(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="Show the plan and what holds it back; change nothing."
        )
        parser.add_argument(
            "--go-back", action="store_true", help="Take a published proposal back, in one step."
        )
        super().add_arguments(parser)

    def handle(
        self, *args: Any, proposal: int, dry_run: bool, go_back: bool, as_json: bool, **options: Any
    ) -> None:
        """Publish the proposal, or take back what it made live, or only say what publishing would do. Raises
        CommandError, and Refusal when nothing was changed.
        """
        if dry_run and go_back:
            raise CommandError("--dry-run does not go with --go-back.")
        stored_proposal = found_proposal(proposal)
        try:
            judged = _carry_out(stored_proposal, dry_run=dry_run, back=go_back)
        except (DocumentError, ChangeRefused) as error:
            refused = error.judgement if isinstance(error, Refused) else None
            if as_json:
                self._report("refused", stored_proposal, refused, error.problems)
            raise Refusal("Nothing was changed.", error.problems) from error
        stored_proposal.refresh_from_db()
        result = "planned" if dry_run else "taken back" if go_back else "published"
        if as_json:
            self._report(result, stored_proposal, judged)
            return
        report = report_on(judged)
        for line in (
            *judged.plan.lines(),
            *effect_lines(report),
            *taken_back_lines(report),
            *affected_lines(report),
            *failure_lines(judged.calls),
        ):
            self.stdout.write(line)
        if judged.calls:
            self.stdout.write(count_in_words(judged.calls))
        self.stdout.write(_RESULTS[result])

    def _report(self, result: str, proposal: Proposal, judged: Judgement | None, problems: Any = ()) -> None:
        """Write the report as JSON. `judged` is None where the proposal was refused before anything was
        judged.
        """
        report = {"result": result, "proposal": proposal_json(proposal)}
        if judged is not None:
            report |= {**judged.to_json(), **report_on(judged).to_json()}
        report["problems"] = [str(problem) for problem in problems]
        self.write_json(report)


def _carry_out(proposal: Proposal, *, dry_run: bool, back: bool) -> Judgement:
    """Publish the proposal, or take it back, and return the judgement. A dry run only judges it. Raises
    DocumentError or Refused.
    """
    # Whoever has a shell of the service may change everything, but approves nothing.
    author = Author(
        origin=Origin.PROPOSAL, may_change_write_access=True, may_administer=True, answered=QUESTIONS
    )
    if back:
        return go_back(proposal, author)
    if not dry_run:
        return publish(proposal, author)
    held_back = list(obstacles(proposal))
    if held_back:
        raise DocumentError(held_back)
    judged = judge_proposal(proposal, with_calls=True)
    if judged.plan.does_nothing:
        raise nothing_is_proposed()
    judged.require_acceptable()
    return judged


_RESULTS = {
    "planned": "This was a dry run: nothing was changed.",
    "published": "Published.",
    "taken back": "Taken back: what was live before is live again.",
}
