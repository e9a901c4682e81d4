"""The caller that the claims of a token stand for: the steps of *Explain a token* after its checks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from crmclient.errors import PlatformError, RecordNotFound
from crmclient.metadata import PlatformUser
from designer.configuration import Configuration
from designer.definitions import CallerTypeDefinition
from designer.platform import get_platform
from designer.platform_failures import failure_words
from designer.ports import ExplainedStep, KnownCaller, Verdict
from designer.sentences import Sentence, said
from runtime.callers.caller import Caller
from runtime.callers.claims import REQUIRED
from runtime.callers.issuers.claim_paths import claim_at, excerpt_at
from runtime.callers.issuers.examined_token import Examined
from runtime.callers.issuers.issuer import Issuer
from runtime.callers.issuers.records import RecordSearch, RecordSource, shown_columns
from runtime.callers.issuers.resolution import claimed_user, find_record, may_register, reason_to_refuse
from runtime.callers.issuers.role_rules import Granted, grants_of, has_left_out_groups
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.studio.json_text import readable
from runtime.studio.known_callers import resolver_note
from runtime.studio.registration_trial import tried_registration

_RECORD, _PROPERTIES = Sentence("Record"), Sentence("User properties")
# The setting to look at when no record could be looked for, by the reason.
_PROBLEM_PLACES = {
    "no_claim": "record.claim",
    "not_verified": "record.verified",
    "no_such_value": "record.attribute",
}


class ExplainedCaller:
    """The caller that a token with these claims would stand for, whether or not the token is accepted."""

    def __init__(self, issuer: Issuer, examined: Examined, configuration: Configuration) -> None:
        self._issuer = issuer
        self._claims = examined.claims
        self._configuration = configuration
        self._platform = get_platform()
        # What the steps find out, each for those after it.
        self._record: str | None = None
        self._user: PlatformUser | None = None
        self._row: Mapping[str, Any] | None = None

    def explained(self) -> tuple[tuple[ExplainedStep, ...], KnownCaller]:
        """Return the steps that make a caller of the claims, and the caller that they have found."""
        definition = self._issuer.definition
        # First, because they look for the record that the caller has.
        steps = tuple(self._steps())
        caller = KnownCaller(
            name=said(Sentence("A caller of the issuer “%(name)s”", name=definition.name)),
            type=definition.record.type,
            roles=tuple(sorted({role for grant in self._grants() for role in grant.roles})),
            record=self._record or "",
            note=resolver_note(),
        )
        return steps, caller

    def _steps(self) -> Iterator[ExplainedStep]:
        """Yield the steps: caller type, roles, record, user properties. Roles may read the record, so it is
        looked for before them.
        """
        if self._type is None:
            # Without its type, a request does not come to the caller's record.
            yield self._step_of_unknown_type()
            yield from self._role_steps()
            yield from (ExplainedStep(said(title), "skipped") for title in (_RECORD, _PROPERTIES))
            return
        try:
            record = self._with_user(self._type, self._record_step(self._type))
            yield from self._role_steps()
            yield record
            yield self._properties_step(is_refused=record.verdict == "refused")
        except PlatformError as error:
            actual = said(Sentence("The platform does not answer: %(reason)s", reason=failure_words(error)))
            yield ExplainedStep(said(_RECORD), "refused", found=actual)

    def _step_of_unknown_type(self) -> ExplainedStep:
        """Return the step that refuses every caller, because the configuration lacks the type of callers."""
        actual = Sentence("There is no caller type “%(name)s”.", name=self._issuer.definition.record.type)
        return ExplainedStep(
            said(Sentence("Caller type")), "refused", found=said(actual), setting="record.type"
        )

    def _with_user(self, type: CallerTypeDefinition, step: ExplainedStep) -> ExplainedStep:
        """Return the step of the record, refused where that is a user who is gone or disabled.

        The user is read here and not from the minute's cache of requests, so that nothing is kept.
        """
        if self._record is None or step.verdict == "refused" or not type.is_of_users:
            return step
        if self._platform.conventions.users is None:
            self._record = None
            actual = Sentence("The platform has no users. The caller goes on without a record.")
            return replace(step, found=said(actual))
        try:
            self._user = self._platform.user(self._record)
        except RecordNotFound:
            actual = Sentence("The user %(id)s does not exist on the platform.", id=self._record)
            return replace(step, verdict="refused", found=said(actual))
        if not self._user.disabled:
            return step
        actual = Sentence("The user %(id)s is disabled on the platform.", id=self._record)
        return replace(step, verdict="refused", found=said(actual))

    def _role_steps(self) -> Iterator[ExplainedStep]:
        """Yield a step for each source of roles, and one with all roles together.

        None of them refuses the token: endpoints that ask for a role refuse a caller without it.
        """
        roles: set[str] = set()
        is_asked = False
        for grant in grants_of(self._issuer, self._claims, self._row):
            is_asked = True
            roles |= grant.roles
            title = Sentence("Roles by “%(source)s”", source=grant.source)
            if not grant.source:
                title = Sentence("Roles of every caller")
            verdict: Verdict = "refused" if grant.problem else "passed"
            actual = said(grant.problem or self._values_and_roles(grant))
            yield ExplainedStep(said(title), verdict, found=actual, setting=grant.place, harmless=True)
        if has_left_out_groups(self._claims):
            actual = Sentence(
                "Entra ID has left the groups out, because the caller is in too many. Let it send only "
                "groups that are assigned to the application, or use application roles."
            )
            yield ExplainedStep(
                said(Sentence("Groups")), "refused", found=said(actual), setting="role_rules", harmless=True
            )
        yield self._roles_step(roles, is_asked=is_asked)

    def _values_and_roles(self, grant: Granted) -> str:
        """Return a sentence that says what a source of roles read, and which roles it gave."""
        roles = ", ".join(sorted(grant.roles)) or Sentence("no role")
        if grant.found:
            return Sentence("%(values)s → %(roles)s", values=", ".join(grant.found), roles=roles)
        is_rule = grant.place.startswith("role_rules")
        if is_rule and claim_at(self._claims, grant.source) is None:
            return Sentence("%(roles)s: %(why)s", roles=roles, why=self._sentence_without_claim(grant.source))
        if is_rule:
            return Sentence("no role: the claim has another shape than this rule reads")
        return roles

    def _roles_step(self, roles: Collection[str], *, is_asked: bool) -> ExplainedStep:
        """Return the step about all roles together. `is_asked`: something gives roles, so that a caller
        without any is worth a warning.
        """
        title = said(Sentence("Roles"))
        if roles or not is_asked:
            names = ", ".join(sorted(roles)) or Sentence("no role")
            return ExplainedStep(title, "passed", found=said(names), setting="role_rules")
        actual = Sentence("no role: endpoints that ask for a role refuse this caller (403)")
        expected = said(Sentence("at least one role"))
        return ExplainedStep(
            title=title,
            verdict="refused",
            expected=expected,
            found=said(actual),
            setting="role_rules",
            harmless=True,
        )

    def _sentence_without_claim(self, claim: str) -> Sentence:
        """Return a sentence that says that the token lacks a claim, and which claims it has."""
        names = ", ".join(sorted(name for name in self._claims if name not in REQUIRED))
        return Sentence(
            "The token has no claim “%(claim)s”. It has: %(names)s.", claim=claim, names=names or "–"
        )

    def _record_step(self, type: CallerTypeDefinition) -> ExplainedStep:
        """Return the step that finds the caller's record, and remember the record for the steps after it."""
        definition = self._issuer.definition.record
        title = said(_RECORD)
        if not definition.claim:
            actual = Sentence("Callers of this issuer have no record.")
            return ExplainedStep(title, "passed", found=said(actual), setting="record.claim")
        self._record = claimed_user(self._issuer, self._claims, type)
        if self._record is not None:
            actual = Sentence("The claim “%(claim)s” is the user's id.", claim=definition.claim)
            return ExplainedStep(title, "passed", found=said(actual), setting="record.claim")
        search = find_record(self._issuer, self._claims, RecordSource(self._platform, type))
        expected = Sentence(
            "%(entity)s where %(attribute)s = “%(value)s”",
            entity=search.entity or type.name,
            attribute=search.attribute or definition.attribute or "id",
            value=search.value or definition.claim,
        )
        refusal_reason = reason_to_refuse(search)
        if refusal_reason:
            actual = Sentence("the record %(id)s, which is not active", id=search.record)
            if refusal_reason == "several_records":
                ids = ", ".join(str(row[search.primary_id]) for row in search.rows)
                actual = Sentence("%(count)s records: %(ids)s", count=len(search.rows), ids=ids)
            return ExplainedStep(
                title=title,
                verdict="refused",
                expected=said(expected),
                found=said(actual),
                setting="record.attribute",
            )
        if search.rows:
            self._record = search.record
            self._row = shown_columns(search.rows[0], self._issuer.record_columns)
            actual = Sentence("the record %(id)s", id=search.record)
            return ExplainedStep(
                title=title,
                verdict="passed",
                expected=said(expected),
                found=said(actual),
                setting="record.attribute",
            )
        if may_register(self._issuer, search):
            return self._registration_step(search, RecordSource(self._platform, type), said(expected))
        verdict: Verdict = "passed" if definition.missing == "continue" else "refused"
        if search.reason == "no_claim":
            expected = Sentence("a text in the claim “%(claim)s”", claim=definition.claim)
        elif search.reason == "not_verified":
            expected = Sentence("“%(claim)s” = true", claim=definition.verified)
        setting = _PROBLEM_PLACES.get(search.reason, "record.missing")
        return ExplainedStep(
            title=title,
            verdict=verdict,
            expected=said(expected),
            found=said(self._sentence_without_record(search)),
            setting=setting,
        )

    def _registration_step(self, search: RecordSearch, source: RecordSource, expected: str) -> ExplainedStep:
        """Return the step that says what registering the caller would do."""
        trial = tried_registration(self._issuer, self._claims, source, self._configuration)
        actual = Sentence("%(why)s %(then)s", why=self._why_no_record(search), then=trial.found)
        verdict: Verdict = "refused" if trial.refused else "passed"
        return ExplainedStep(
            title=said(_RECORD),
            verdict=verdict,
            expected=expected,
            found=said(actual),
            setting=trial.setting,
        )

    def _sentence_without_record(self, search: RecordSearch) -> Sentence:
        """Return the sentence that there is no record, and what follows for the caller."""
        consequence = Sentence("The caller is refused.")
        if self._issuer.definition.record.missing == "continue":
            consequence = Sentence("The caller goes on without one.")
        return Sentence("%(why)s %(then)s", why=self._why_no_record(search), then=consequence)

    def _why_no_record(self, search: RecordSearch) -> Sentence | str:
        """Return why the search has found no record: a claim that it needs and the token lacks, or what it
        says itself.
        """
        definition = self._issuer.definition.record
        needed_claims = {"no_claim": definition.claim, "not_verified": definition.verified}
        claim = needed_claims.get(search.reason, "")
        if claim and claim_at(self._claims, claim) is None:
            return self._sentence_without_claim(claim)
        return search.problem or Sentence("There is no such record.")

    def _properties_step(self, *, is_refused: bool) -> ExplainedStep:
        """Return the step that reads the user properties; it is skipped for a caller that is refused."""
        title = said(_PROPERTIES)
        if is_refused:
            return ExplainedStep(title, "skipped")
        if self._record is None:
            return ExplainedStep(title, "passed", found=said(Sentence("none: there is no record")))
        definition = self._issuer.definition
        caller = Caller(
            issuer=self._issuer.name,
            subject=str(self._claims.get("sub")),
            roles=frozenset(role for grant in self._grants() for role in grant.roles),
            type=definition.record.type,
            record=self._record,
            profile=self._user,
            claims=excerpt_at(self._claims, definition.readable_claims),
        )
        try:
            known_types = self._configuration.caller_types
            properties = self._configuration.user_properties
            context = UserContext(properties, self._platform, caller_types=known_types)
            values = context.values(caller)
        except (Problem, Misconfigured) as error:
            words = error.sentence if isinstance(error, Problem) else said(str(error))
            return ExplainedStep(title, "refused", found=words)
        return ExplainedStep(title, "passed", found=readable(dict(values)))

    def _grants(self) -> Iterator[Any]:
        """Yield what each source of roles gives the caller."""
        return grants_of(self._issuer, self._claims, self._row)

    @property
    def _type(self) -> CallerTypeDefinition | None:
        """The caller type of the issuer's callers; None when the configuration does not have it."""
        name = self._issuer.definition.record.type
        return next(
            (caller_type for caller_type in self._configuration.caller_types if caller_type.name == name),
            None,
        )
