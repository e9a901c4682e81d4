"""Judging a plan before it is carried out: the configuration that it leads to is checked in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from designer.configuration import Configuration, Revision
from designer.definitions import ConfigurationDocument
from designer.documents.document_writer import export
from designer.documents.keys import ENDPOINTS, collections_of, nouns_of
from designer.documents.outcome import configuration_after, document_after
from designer.documents.plan import Plan, plan
from designer.documents.plan_obstacles import Obstacle, obstacles_of
from designer.documents.problems import DocumentError, Gap
from designer.documents.protection import protection_refusals
from designer.example_calls.call_runs import CallResult, run_all
from designer.overview import Overview, overview, overview_if_stored, overview_of
from designer.readiness import Finding, Metadata
from designer.sentences import Sentence, listed


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a plan would lead to, made of the configuration `before`.

    `obstacles` are why it cannot be made; `findings` are those that it would bring in, blocking ones first;
    `standing` block already, and would go on to. `served` are the keys of endpoints that are served now.
    `calls` are the example calls of what would be served, where they were to be made. `version` is the number
    of what the plan has become, where it has been carried out. `protected` say what of it is only for a
    proposal.
    """

    plan: Plan
    before: Configuration
    obstacles: tuple[Obstacle, ...]
    findings: tuple[Finding, ...]
    standing: tuple[Finding, ...]
    served: frozenset[str]
    calls: tuple[CallResult, ...] = ()
    version: int | None = None
    protected: tuple[Finding, ...] = ()

    @property
    def revision(self) -> Revision:
        """The revision of the configuration that the plan was made of."""
        return self.before.revision

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each obstacle."""
        return tuple(obstacle.sentence for obstacle in self.obstacles)

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that the plan would bring in and that block."""
        return tuple(finding for finding in self.findings if finding.is_blocking)

    @property
    def failed_calls(self) -> tuple[CallResult, ...]:
        """The example calls that were not answered as expected."""
        return tuple(result for result in self.calls if result.failed)

    def is_acceptable(self, *, allow_broken: bool = False, allow_failing_calls: bool = False) -> bool:
        """Whether the plan may be carried out. The arguments allow findings that block, and example calls
        that fail.

        Unacceptable findings are refused all the same. `protected` does not count here: recording refuses
        such changes, unless a proposal is published.
        """
        refused = [finding for finding in self.blocking if finding.is_unacceptable or not allow_broken]
        if self.problems or refused:
            return False
        return allow_failing_calls or not self.failed_calls

    def require_acceptable(self, *, allow_broken: bool = False, allow_failing_calls: bool = False) -> None:
        """Raise Refused unless the plan may be carried out. The arguments are those of `is_acceptable`."""
        if not self.is_acceptable(allow_broken=allow_broken, allow_failing_calls=allow_failing_calls):
            raise Refused(self)

    def sentences(self, hidden: Collection[str] = ()) -> Iterator[str]:
        """Yield why the plan is refused, if it is, without a word on items of the lists `hidden`."""
        hidden_lists = collections_of(hidden)
        unsaid = {
            collection.field
            for collection in hidden_lists
            if any(obstacle.change.collection is collection for obstacle in self.obstacles)
            or any(collection.has_subject(finding.subject) for finding in self.blocking)
        }
        yield from (
            obstacle.sentence for obstacle in self.obstacles if obstacle.change.collection.field not in unsaid
        )
        if unsaid:
            yield prevented_by(unsaid)
        for finding in self.blocking:
            if any(collection.has_subject(finding.subject) for collection in hidden_lists):
                continue
            values = {"endpoint": finding.subject, "why": finding.message}
            if finding.subject in self.served:
                yield Sentence("%(endpoint)s could no longer be served: %(why)s", **values)
            else:
                yield Sentence("%(endpoint)s could not be served: %(why)s", **values)
        yield from self.failed_call_sentences()

    def failed_call_sentences(self) -> Iterator[str]:
        """Yield a sentence for each example call that would fail."""
        for result in self.failed_calls:
            yield Sentence(
                "The example call “%(name)s” of %(endpoint)s would fail: %(why)s",
                name=result.name,
                endpoint=result.endpoint,
                why=listed(result.problems, " "),
            )

    def to_json(self) -> dict[str, Any]:
        """Return the judgement as commands report it. `blocking` counts the findings that block."""
        return {
            "blocking": len(self.blocking),
            "changes": [change.to_json() for change in self.plan.changes],
            "reordered": self.plan.reordered,
            "problems": [str(problem) for problem in self.problems],
            "findings": [finding.to_json() for finding in self.findings],
            "standing": [finding.to_json() for finding in self.standing],
            "calls": [result.to_json() for result in self.calls],
            "protected": [finding.to_json() for finding in self.protected],
        }


def prevented_by(fields: Collection[str]) -> Sentence:
    """Return a sentence that items which the reader may not see, of the lists `fields`, prevent something."""
    return Sentence(
        "Something that you may not see prevents this: %(items)s. Ask an administrator.",
        items=listed(nouns_of(fields), ", "),
    )


class Refused(DocumentError):
    """A plan that cannot be made, or would bring in what cannot be served."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(judgement.sentences())
        self.judgement = judgement


def judge(
    make_plan: Callable[[ConfigurationDocument], Plan],
    *,
    with_calls: bool = False,
    gaps: Sequence[Gap] = (),
) -> Judgement:
    """Judge the plan that `make_plan` makes of the present configuration; `with_calls`: run its example
    calls, too. `gaps` are those of the document that the plan is about.

    Changes nothing, and asks the platform outside any transaction. Raises DocumentError when no plan can be
    made.
    """
    before = overview()
    now = export(before.configuration)
    new_plan = make_plan(now)
    if new_plan.does_nothing:
        return _judged_plan(new_plan, before, before, (), ())
    obstacles = tuple(obstacles_of(new_plan, document_after(now, new_plan)))
    # Items that cannot be removed stay, so that no findings follow from their absence.
    refused_removals = [obstacle.change for obstacle in obstacles if obstacle.change.after is None]
    after = overview_if_stored(
        configuration_after(before.configuration, document_after(now, new_plan, refused_removals))
    )
    judgement = _judged_plan(new_plan, before, after, obstacles, gaps)
    protected = protection_refusals(before.configuration, after.configuration)
    judgement = replace(judgement, protected=tuple(protected))
    # A call is answered by an endpoint with its module, entity, roles and properties: these must be as meant.
    only_endpoints = all(obstacle.change.collection.field == ENDPOINTS for obstacle in obstacles)
    if not with_calls or not only_endpoints:
        return judgement
    without = {finding.subject for finding in after.findings if finding.is_blocking}
    without |= {obstacle.change.key for obstacle in obstacles} | {gap.key for gap in gaps}
    return replace(judgement, calls=tuple(run_all(after.configuration, without=without)))


def judge_alone(
    document: ConfigurationDocument, metadata: Metadata, gaps: Sequence[Gap] = ()
) -> tuple[Sequence[str], Overview]:
    """Return why the configuration of a document could not be stored, and the overview of its findings.

    `gaps` are those of the document. Needs no database and no platform.
    """
    nothing = ConfigurationDocument(format=document.format)
    obstacles = tuple(obstacles_of(plan(nothing, document), document))
    checked = overview_of(configuration_after(Configuration(Revision(0, "")), document), metadata)
    reasons: Sequence[Obstacle | Gap] = [*obstacles, *gaps]
    by_endpoint = {id: tuple(_own_mistakes(found, reasons)) for id, found in checked.by_endpoint.items()}
    problems = [obstacle.sentence for obstacle in obstacles]
    others = tuple(_own_mistakes(checked.others, reasons))
    return problems, replace(checked, by_endpoint=by_endpoint, others=others)


def _own_mistakes(findings: Iterable[Finding], reasons: Sequence[Obstacle | Gap]) -> Iterator[Finding]:
    """Yield the findings that do not merely follow from one of `reasons`."""
    return (finding for finding in findings if not any(reason.explains(finding) for reason in reasons))


def _judged_plan(
    plan: Plan, before: Overview, after: Overview, obstacles: Sequence[Obstacle], gaps: Sequence[Gap]
) -> Judgement:
    """Return the judgement of a plan that leads from `before` to `after`.

    Findings that only follow from `obstacles` or `gaps` are left out.
    """
    earlier_findings = set(before.findings)
    findings = list(_own_mistakes(after.findings, (*obstacles, *gaps)))
    new_findings = sorted(
        (f for f in findings if f not in earlier_findings), key=lambda finding: not finding.is_blocking
    )
    # The subject of a finding about an endpoint is the endpoint's key.
    blocked_before = {finding.subject for finding in before.findings if finding.is_blocking}
    definitions = (endpoint.definition for endpoint in before.configuration.endpoints.values())
    enabled_before = {definition.key for definition in definitions if definition.enabled}
    return Judgement(
        plan=plan,
        before=before.configuration,
        obstacles=tuple(obstacles),
        findings=tuple(new_findings),
        standing=tuple(
            finding for finding in findings if finding in earlier_findings and finding.is_blocking
        ),
        served=frozenset(enabled_before - blocked_before),
    )
