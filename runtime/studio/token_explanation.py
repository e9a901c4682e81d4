"""*Explain a token*: the checks of a request, each with what it expected and found. Nothing is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from crmclient.errors import PlatformError
from designer.configuration import Configuration
from designer.definitions import CallerTypeDefinition
from designer.platform import get_platform
from designer.ports import ExplainedStep, Explanation, KnownCaller, Verdict
from designer.sentences import Sentence, said
from runtime.callers.caller import Caller
from runtime.callers.issuers import issuers_of
from runtime.callers.issuers.claim_paths import claim_at, picked
from runtime.callers.issuers.examined_token import Check, Examined, Found
from runtime.callers.issuers.issuer import Issuer
from runtime.callers.issuers.records import RecordSource, Sought, shown_columns
from runtime.callers.issuers.resolution import find, refusal_of, told
from runtime.callers.issuers.role_rules import Granted, granted, left_out_groups
from runtime.callers.issuers.token_checks import REQUIRED
from runtime.callers.issuers.verification import examine
from runtime.callers.keys.key_callers import key_in
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.studio.known_callers import caller_of_key, caller_of_own, resolver_note
from runtime.studio.readable import readable
from runtime.studio.registration_trial import tried_registration

# Where there was nothing to look for, by the reason of that.
_PROBLEM_PLACES = {
    "no_claim": "record.claim",
    "not_verified": "record.verified",
    "no_such_value": "record.attribute",
}


def explain(token: str, configuration: Configuration) -> Explanation:
    """Every step that a request with this token would come to."""
    if key := key_in(f"Bearer {token}"):
        return _of_key(*key, configuration)
    examined = Examined(token, issuers_of(configuration.issuers))
    steps = [_step(check, found) for check, found in examine(examined)]
    issuer = examined.issuer
    if issuer is None:
        return _with_meant_issuer(tuple(steps), examined, configuration)
    meant = _Caller(issuer, examined, configuration)
    steps += meant.steps()
    failed = [step for step in steps if step.verdict == "refused" and not step.harmless]
    refused = f"{failed[0].title}: {failed[0].found}" if failed else ""
    definition = issuer.definition
    return Explanation(
        not failed, tuple(steps), definition.name, issuer.of_environment, meant.identified(refused)
    )


def _of_key(prefix: str, secret: str, configuration: Configuration) -> Explanation:
    """An API key that was pasted instead of a token. It is not counted as one that was sent."""
    caller = caller_of_key(prefix, secret, configuration)
    title = said(Sentence("API key"))
    if caller is None:
        found = said(Sentence("There is no such API key."))
        return Explanation(False, (ExplainedStep(title, "refused", found=found),))
    verdict: Verdict = "refused" if caller.refused else "passed"
    step = ExplainedStep(title, verdict, found=caller.refused or caller.name)
    return Explanation(not caller.refused, (step,), caller=caller)


def _step(check: Check, found: Found | None) -> ExplainedStep:
    title = said(check.title)
    if found is None:
        return ExplainedStep(title, "skipped")
    verdict: Verdict = "passed" if found.refusal is None else "refused"
    return ExplainedStep(title, verdict, said(found.expected), said(found.found), found.setting)


def _with_meant_issuer(
    steps: tuple[ExplainedStep, ...], examined: Examined, configuration: Configuration
) -> Explanation:
    """A refused token of an issuer that is not known, with the issuer that it may be meant for."""
    name = examined.claims.get("iss")
    if examined.is_own or not isinstance(name, str):
        accepted = all(step.verdict == "passed" for step in steps)
        caller = caller_of_own(examined.claims, configuration) if accepted and examined.is_own else None
        return Explanation(accepted, steps, caller=caller)
    disabled = {iss: known.name for known in configuration.issuers for iss in known.names}
    enabled = {iss: known.definition.name for iss, known in examined.issuers.by_name.items()}
    meant, found, setting = "", Sentence("%(iss)s, which no issuer here has", iss=name), "issuer"
    if name in disabled:
        meant, setting = disabled[name], "enabled"
        found = Sentence("%(iss)s: the issuer “%(name)s” is disabled", iss=name, name=meant)
    for other, owner in enabled.items():
        if other.rstrip("/") == name.rstrip("/"):
            meant = owner
            found = Sentence("%(iss)s: only the final / differs from %(other)s", iss=name, other=other)
    explained = tuple(
        replace(step, found=said(found), setting=setting) if step.setting == "issuer" else step
        for step in steps
    )
    known = examined.issuers.by_name
    of_environment = any(known[iss].of_environment for iss, owner in enabled.items() if owner == meant)
    return Explanation(accepted=False, steps=explained, issuer=meant, of_environment=of_environment)


class _Caller:
    """Whom a token with these claims would stand for, whether or not it would be accepted."""

    def __init__(self, issuer: Issuer, examined: Examined, configuration: Configuration) -> None:
        self._issuer = issuer
        self._claims = examined.claims
        self._configuration = configuration
        self._platform = get_platform()
        self._record: str | None = None
        self._row: Mapping[str, Any] | None = None

    def steps(self) -> Iterator[ExplainedStep]:
        try:
            record = self._record_step()
            yield from self._role_steps()
            yield record
            yield self._properties_step(is_refused=record.verdict == "refused")
        except PlatformError as error:
            found = said(Sentence("The platform does not answer: %(reason)s", reason=type(error).__name__))
            yield ExplainedStep(said(Sentence("Record")), "refused", found=found)

    def identified(self, refused: str) -> KnownCaller:
        """The caller that the steps have come to."""
        known = self._issuer.definition
        return KnownCaller(
            said(Sentence("A caller of the issuer “%(name)s”", name=known.name)),
            known.record.type,
            tuple(sorted({role for each in self._granted() for role in each.roles})),
            self._record or "",
            refused,
            resolver_note(),
        )

    def _role_steps(self) -> Iterator[ExplainedStep]:
        roles: set[str] = set()
        is_asked = False
        for each in granted(self._issuer, self._claims, self._row):
            is_asked = True
            roles |= each.roles
            title = Sentence("Roles by “%(source)s”", source=each.source)
            if not each.source:
                title = Sentence("Roles of every caller")
            verdict: Verdict = "refused" if each.problem else "passed"
            found = said(each.problem or self._values_and_roles(each))
            yield ExplainedStep(said(title), verdict, found=found, setting=each.place, harmless=True)
        if left_out_groups(self._claims):
            found = Sentence(
                "Entra ID has left the groups out, because the caller is in too many. Let it send only "
                "groups that are assigned to the application, or use application roles."
            )
            yield ExplainedStep(
                said(Sentence("Groups")), "refused", found=said(found), setting="role_rules", harmless=True
            )
        yield self._roles_step(roles, is_asked=is_asked)

    def _values_and_roles(self, each: Granted) -> str:
        """What a source of roles read, and what it gave."""
        roles = ", ".join(sorted(each.roles)) or Sentence("no role")
        if each.found:
            return Sentence("%(values)s → %(roles)s", values=", ".join(each.found), roles=roles)
        is_rule = each.place.startswith("role_rules")
        if is_rule and claim_at(self._claims, each.source) is None:
            return Sentence("%(roles)s: %(why)s", roles=roles, why=self._without(each.source))
        if is_rule:
            return Sentence("no role: the claim has another shape than this rule reads")
        return roles

    def _roles_step(self, roles: Collection[str], *, is_asked: bool) -> ExplainedStep:
        title = said(Sentence("Roles"))
        if roles or not is_asked:
            names = ", ".join(sorted(roles)) or Sentence("no role")
            return ExplainedStep(title, "passed", found=said(names), setting="role_rules")
        found = Sentence("no role: endpoints that ask for a role refuse this caller (403)")
        expected = said(Sentence("at least one role"))
        return ExplainedStep(title, "refused", expected, said(found), "role_rules", harmless=True)

    def _without(self, claim: str) -> Sentence:
        """That the token lacks a claim, with those that it has."""
        names = ", ".join(sorted(name for name in self._claims if name not in REQUIRED))
        return Sentence(
            "The token has no claim “%(claim)s”. It has: %(names)s.", claim=claim, names=names or "–"
        )

    def _record_step(self) -> ExplainedStep:
        known = self._issuer.definition.record
        title = said(Sentence("Record"))
        type = self._type
        if not known.claim or type is None:
            found = Sentence("Callers of this issuer have no record.")
            return ExplainedStep(title, "passed", found=said(found), setting="record.claim")
        self._record = told(self._issuer, self._claims, type)
        if self._record is not None:
            found = Sentence("The claim “%(claim)s” is the user's id.", claim=known.claim)
            return ExplainedStep(title, "passed", found=said(found), setting="record.claim")
        sought = find(self._issuer, self._claims, RecordSource(self._platform, type))
        expected = Sentence(
            "%(entity)s where %(attribute)s = “%(value)s”",
            entity=sought.entity or type.name,
            attribute=sought.attribute or known.attribute or "id",
            value=sought.value or known.claim,
        )
        refused = refusal_of(sought)
        if refused:
            found = Sentence("the record %(id)s, which is not active", id=sought.record)
            if refused == "several_records":
                ids = ", ".join(str(row[sought.primary_id]) for row in sought.rows)
                found = Sentence("%(count)s records: %(ids)s", count=len(sought.rows), ids=ids)
            return ExplainedStep(title, "refused", said(expected), said(found), "record.attribute")
        if sought.rows:
            self._record = sought.record
            self._row = shown_columns(sought.rows[0], self._issuer.record_columns)
            found = Sentence("the record %(id)s", id=sought.record)
            return ExplainedStep(title, "passed", said(expected), said(found), "record.attribute")
        if known.missing == "register":
            return self._registration_step(sought, RecordSource(self._platform, type), said(expected))
        verdict: Verdict = "refused" if known.missing == "refuse" else "passed"
        if sought.reason == "no_claim":
            expected = Sentence("a text in the claim “%(claim)s”", claim=known.claim)
        elif sought.reason == "not_verified":
            expected = Sentence("“%(claim)s” = true", claim=known.verified)
        setting = _PROBLEM_PLACES.get(sought.reason, "record.missing")
        return ExplainedStep(title, verdict, said(expected), said(self._nothing(sought)), setting)

    def _registration_step(self, sought: Sought, source: RecordSource, expected: str) -> ExplainedStep:
        trial = tried_registration(self._issuer, self._claims, source, self._configuration)
        found = Sentence("%(why)s %(then)s", why=self._why_nothing(sought), then=trial.found)
        verdict: Verdict = "refused" if trial.refused else "passed"
        return ExplainedStep(said(Sentence("Record")), verdict, expected, said(found), trial.setting)

    def _nothing(self, sought: Sought) -> Sentence:
        then = Sentence("The caller goes on without one.")
        if self._issuer.definition.record.missing == "refuse":
            then = Sentence("The caller is refused.")
        return Sentence("%(why)s %(then)s", why=self._why_nothing(sought), then=then)

    def _why_nothing(self, sought: Sought) -> Sentence | str:
        known = self._issuer.definition.record
        why = sought.problem or Sentence("There is no such record.")
        claim = {"no_claim": known.claim, "not_verified": known.verified}.get(sought.reason, "")
        if claim and claim_at(self._claims, claim) is None:
            return self._without(claim)
        return why

    def _properties_step(self, *, is_refused: bool) -> ExplainedStep:
        title = said(Sentence("User properties"))
        if is_refused:
            return ExplainedStep(title, "skipped")
        if self._record is None:
            return ExplainedStep(title, "passed", found=said(Sentence("none: there is no record")))
        known = self._issuer.definition
        caller = Caller(
            issuer=self._issuer.name,
            subject=str(self._claims.get("sub")),
            roles=frozenset(role for each in self._granted() for role in each.roles),
            type=known.record.type,
            record=self._record,
            profile=self._platform.user(self._record) if self._type and self._type.is_of_users else None,
            claims=picked(self._claims, known.readable_claims),
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

    def _granted(self) -> Iterator[Any]:
        return granted(self._issuer, self._claims, self._row)

    @property
    def _type(self) -> CallerTypeDefinition | None:
        name = self._issuer.definition.record.type
        return next((known for known in self._configuration.caller_types if known.name == name), None)
