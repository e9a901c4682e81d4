"""Says in words what each rule did in a call that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from crmclient.errors import PlatformError, PlatformFailure, RecordNotFound
from designer.access_control.access_matrix import has_usual_types
from designer.configuration import Endpoint
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.kinds import Section
from designer.platform_failures import failure_words
from designer.ports import Attempt, Step, Verdict
from designer.sentences import said
from runtime.http.failures import problem_of
from runtime.http.problems import Problem
from runtime.http.rendering import render
from runtime.request_context import Exchange
from runtime.values.evaluation import evaluate

_INPUT_PROBLEMS = frozenset(
    {"invalid_input", "invalid_parameter", "malformed_body", "invalid_id", "incomplete_body", "too_large"}
)


@dataclass
class Trace:
    """Filled in while the call runs: whether the caller may call, and what was raised, if anything."""

    endpoint: Endpoint
    attempt: Attempt
    may_call: bool = False
    error: Exception | None = None

    def steps(self, exchange: Exchange | None, response: HttpResponseBase | None) -> Iterator[Step]:
        """Yield the steps in the order in which a request comes to them. Steps that it did not come to are
        marked skipped.
        """
        yield from self._access()
        problem = problem_of(self.error) if self.error is not None else None
        stopped = not self.may_call or exchange is None
        yield self._inputs(stopped, problem)
        stopped = stopped or (problem is not None and problem.code in _INPUT_PROBLEMS)
        yield from self._row_rule(stopped, exchange)
        stopped = stopped or isinstance(self.error, RecordNotFound)
        yield from self._fetchers(stopped, exchange)
        yield from self._preconditions(stopped, exchange)
        yield self._end(problem, response)

    def _access(self) -> Iterator[Step]:
        """Yield the steps that say whether the caller may call: authentication, caller type, roles."""
        access = self.endpoint.definition.access
        who = (
            _("anonymous")
            if self.attempt.anonymous
            else ", ".join(sorted(self.attempt.roles)) or _("no role")
        )
        if not access.authentication_required:
            yield Step(_("Authentication"), "passed", _("Anyone may call."))
            return
        authentication: Verdict = "refused" if self.attempt.anonymous else "passed"
        yield Step(
            _("Authentication"), authentication, _("A token is required; called as: %(who)s.") % {"who": who}
        )
        is_admitted = self.attempt.anonymous or self.attempt.caller_type in access.caller_types
        if not self.attempt.anonymous and not (is_admitted and has_usual_types(access)):
            types = ", ".join(access.caller_types)
            yield Step(
                _("Caller type"),
                "passed" if is_admitted else "refused",
                _("Called as %(type)s. The endpoint admits: %(types)s.")
                % {"type": self.attempt.caller_type, "types": types},
            )
        if self.attempt.anonymous or not is_admitted:
            yield Step(_("Roles"), "skipped")
        elif not access.roles:
            yield Step(_("Roles"), "passed", _("Every authenticated caller may call."))
        else:
            verdict: Verdict = "passed" if self.may_call else "refused"
            roles = ", ".join(access.roles)
            yield Step(_("Roles"), verdict, _("One of these is needed: %(roles)s.") % {"roles": roles})

    def _inputs(self, stopped: bool, problem: Problem | None) -> Step:
        """Return the step that says whether the inputs were accepted. `problem` is what the call was refused
        with; None for a call that was not refused.
        """
        if stopped:
            return Step(_("Inputs"), "skipped")
        if problem is None or problem.code not in _INPUT_PROBLEMS:
            return Step(_("Inputs"), "passed")
        errors = (f"{error.pointer or error.parameter}: {error.message}" for error in problem.errors)
        return Step(_("Inputs"), "refused", " ".join([problem.sentence, *errors]))

    def _row_rule(self, stopped: bool, exchange: Exchange | None) -> Iterator[Step]:
        """Yield the step that says whether the record was found under the row rule, or that the rule narrows
        several records.
        """
        endpoint = self.endpoint
        row_rule = endpoint.definition.row_rule or (endpoint.entity and endpoint.entity.row_rule)
        settings = endpoint.definition.settings
        reaches_several = settings.asks_query or settings.reaches_records
        if reaches_several and not isinstance(self.error, RecordNotFound):
            if row_rule:
                verdict: Verdict = "skipped" if stopped or exchange is None else "passed"
                yield Step(_("Row rule"), verdict, _("It says which records the call reaches."))
            return
        if not row_rule and not endpoint.kind.is_on_record:
            return
        if stopped or exchange is None or isinstance(self.error, PlatformFailure):
            yield Step(_("Record"), "skipped")
        elif isinstance(self.error, RecordNotFound):
            reason = _("There is no such record, or it is outside the row rule.")
            yield Step(_("Record"), "refused", reason)
        else:
            detail = _("It is within the row rule.") if row_rule else _("No row rule: any record.")
            yield Step(_("Record"), "passed", detail)

    def _fetchers(self, stopped: bool, exchange: Exchange | None) -> Iterator[Step]:
        """Yield a step for each data fetcher: what it found, or that it did not run."""
        for fetcher in self.endpoint.definition.fetchers:
            title = f"@fetch.{fetcher.name}"
            if stopped or exchange is None or fetcher.name not in exchange.fetched:
                yield Step(title, "skipped")
            else:
                row = exchange.fetched[fetcher.name]
                any_value = any(value is not None for value in row.values())
                # What was found is data, which a dry run shows to nobody.
                values = _("Found.") if self.attempt.dry else render(row).decode()
                yield Step(title, "passed", values if any_value else _("Nothing found."))

    def _preconditions(self, stopped: bool, exchange: Exchange | None) -> Iterator[Step]:
        """Yield a step for each pre-condition. They are skipped when the call stopped before them."""
        if Section.PRECONDITIONS not in self.endpoint.kind.sections:
            return
        for definition in self.endpoint.definition.preconditions:
            if stopped or exchange is None:
                yield Step(_("Pre-condition"), "skipped", definition.expression)
                continue
            try:
                holds = evaluate(Expression(definition.expression, ENDPOINT_NAMES), exchange) is True
                detail = definition.expression
            except ExpressionError as error:
                holds, detail = False, f"{definition.expression}: {said(str(error))}"
            yield Step(_("Pre-condition"), "passed" if holds else "refused", detail)

    def _end(self, problem: Problem | None, response: HttpResponseBase | None) -> Step:
        """Return the last step: the answer, or the request at which a dry run has stopped."""
        if response is None:
            return Step(_("Platform"), "skipped", _("A dry run: this is where it would be asked."))
        if problem is None:
            return Step(_("Answer"), "passed", str(response.status_code))
        reason = problem.sentence
        if problem.status_code >= 500:
            error = self.error
            reason = failure_words(error) if isinstance(error, PlatformError) else said(str(error))
        return Step(_("Answer"), "refused", f"{problem.status_code} {problem.code}: {reason}")
