"""*Explain a token*: the checks of a request, each with what it expected and found. Nothing is kept."""

from __future__ import annotations

from dataclasses import replace

from designer.configuration import Configuration
from designer.ports import ExplainedStep, Explanation, Verdict
from designer.sentences import Sentence, said
from runtime.callers.issuers import issuers_of
from runtime.callers.issuers.examined_token import Check, CheckOutcome, Examined
from runtime.callers.issuers.verification import examine
from runtime.callers.keys.key_callers import key_in
from runtime.studio.explained_caller import ExplainedCaller
from runtime.studio.known_callers import caller_of_key, caller_of_own


def explain(token: str, configuration: Configuration) -> Explanation:
    """Explain every step that a request with this token would come to. It may be an API key instead."""
    # `key_in` reads the value of an Authorization header.
    if key := key_in(f"Bearer {token}"):
        return _explanation_of_key(*key, configuration)
    examined = Examined(token, issuers_of(configuration.issuers))
    # Each check adds to `examined` what it has found out, such as the issuer and the claims.
    steps = [_step_of_check(check, outcome) for check, outcome in examine(examined)]
    issuer = examined.issuer
    # This service's own tokens have no issuer in the configuration either.
    if issuer is None:
        return _explanation_without_issuer(tuple(steps), examined, configuration)
    steps_to_caller, caller = ExplainedCaller(issuer, examined, configuration).explained()
    steps += steps_to_caller
    failed = [step for step in steps if step.verdict == "refused" and not step.harmless]
    refusal = f"{failed[0].title}: {failed[0].found}" if failed else ""
    definition = issuer.definition
    return Explanation(
        accepted=not failed,
        steps=tuple(steps),
        issuer=definition.name,
        of_environment=issuer.of_environment,
        caller=replace(caller, refused=refusal),
    )


def _explanation_of_key(prefix: str, secret: str, configuration: Configuration) -> Explanation:
    """Explain an API key that was pasted in place of a token. A wrong key is not counted as a failed
    login.
    """
    caller = caller_of_key(prefix, secret, configuration)
    title = said(Sentence("API key"))
    if caller is None:
        actual = said(Sentence("There is no such API key."))
        return Explanation(False, (ExplainedStep(title, "refused", found=actual),))
    verdict: Verdict = "refused" if caller.refused else "passed"
    step = ExplainedStep(title, verdict, found=caller.refused or caller.name)
    return Explanation(not caller.refused, (step,), caller=caller)


def _step_of_check(check: Check, outcome: CheckOutcome | None) -> ExplainedStep:
    """Return a check of the token as a step; skipped without an outcome."""
    title = said(check.title)
    if outcome is None:
        return ExplainedStep(title, "skipped")
    verdict: Verdict = "passed" if outcome.refusal is None else "refused"
    return ExplainedStep(
        title=title,
        verdict=verdict,
        expected=said(outcome.expected),
        found=said(outcome.found),
        setting=outcome.setting,
    )


def _explanation_without_issuer(
    steps: tuple[ExplainedStep, ...], examined: Examined, configuration: Configuration
) -> Explanation:
    """Explain a token of this service, or one that names no issuer that is enabled here."""
    iss = examined.claims.get("iss")
    if isinstance(iss, str) and not examined.is_own:
        return _explanation_of_unknown_issuer(iss, steps, examined, configuration)
    accepted = all(step.verdict == "passed" for step in steps)
    caller = caller_of_own(examined.claims, configuration) if accepted and examined.is_own else None
    return Explanation(accepted, steps, caller=caller)


def _explanation_of_unknown_issuer(
    iss: str, steps: tuple[ExplainedStep, ...], examined: Examined, configuration: Configuration
) -> Explanation:
    """Explain a token whose issuer is not known, and name the issuer that was probably meant."""
    disabled = {
        name: issuer.name for issuer in configuration.issuers if not issuer.enabled for name in issuer.names
    }
    meant_issuer, actual, setting = "", Sentence("%(iss)s, which no issuer here has", iss=iss), "issuer"
    if iss in disabled:
        meant_issuer, setting = disabled[iss], "enabled"
        actual = Sentence("%(iss)s: the issuer “%(name)s” is disabled", iss=iss, name=meant_issuer)
    issuers_by_iss = examined.issuers.by_name
    names_by_iss = {known_iss: issuer.definition.name for known_iss, issuer in issuers_by_iss.items()}
    for known_iss, issuer_name in names_by_iss.items():
        # A final / is the usual slip: identity providers differ in it.
        if known_iss.rstrip("/") == iss.rstrip("/"):
            meant_issuer = issuer_name
            actual = Sentence("%(iss)s: only the final / differs from %(other)s", iss=iss, other=known_iss)
    explained = tuple(
        replace(step, found=said(actual), setting=setting) if step.setting == "issuer" else step
        for step in steps
    )
    of_environment = any(
        issuers_by_iss[known_iss].of_environment
        for known_iss, issuer_name in names_by_iss.items()
        if issuer_name == meant_issuer
    )
    return Explanation(accepted=False, steps=explained, issuer=meant_issuer, of_environment=of_environment)
