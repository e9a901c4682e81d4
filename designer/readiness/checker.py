"""Runs the rules. Every finding comes back, never only the first."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from designer.configuration import Configuration, Endpoint
from designer.definitions import IssuerDefinition, UserPropertyDefinition
from designer.readiness import rules  # noqa: F401  the rules register themselves when they are imported
from designer.readiness.findings import UNCHECKED, Finding, Severity
from designer.readiness.fixes import Fix, fix_for
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.readiness.registry import ENDPOINT_RULES, ISSUER_RULES, USER_PROPERTY_RULES, Rule, S
from designer.readiness.subjects import EndpointSubject, IssuerSubject, Surroundings, UserPropertySubject
from designer.sentences import Sentence as _

logger = logging.getLogger("portico.readiness")

UNREADABLE = "row-unreadable"
UNJUDGED = "rule-failed"


class Checker:
    """Checks what is in one configuration, against the metadata of one platform."""

    def __init__(self, configuration: Configuration, metadata: Metadata) -> None:
        self._configuration = configuration
        self._surroundings = Surroundings(configuration, metadata)

    def endpoint(self, id: int) -> list[Finding]:
        """Return the findings of the endpoint with row id `id`; where its row cannot be read, only that
        finding. Raises KeyError for an unknown id.
        """
        endpoint = self._configuration.endpoints[id]
        if endpoint.problem is not None:
            return [Finding(UNREADABLE, Severity.BLOCKING, endpoint.problem, endpoint.definition.key)]
        subject = EndpointSubject(id, endpoint, self._surroundings)
        return list(_findings_of_rules(ENDPOINT_RULES, subject, endpoint.definition.key))

    def endpoint_under_other_row_rules(self, id: int, before: Iterable[Finding]) -> list[Finding]:
        """Return the findings as `endpoint` does, for an endpoint that only other row rules of entities
        concern.

        `before` are its earlier findings. Only rules that read row rules are run again.
        """
        endpoint = self._configuration.endpoints[id]
        earlier = list(before)
        # A finding that something could not be checked does not name the rules that could not run.
        if endpoint.problem is not None or any(finding.rule in {UNCHECKED, UNJUDGED} for finding in earlier):
            return self.endpoint(id)
        subject = EndpointSubject(id, endpoint, self._surroundings)
        rules_to_rerun = [rule for rule in ENDPOINT_RULES if rule.reads_row_rules]
        rerun_ids = {rule.id for rule in rules_to_rerun}
        still_valid = [finding for finding in earlier if finding.rule not in rerun_ids]
        # The findings come in the order that `endpoint` gives them, and those of no rule come last.
        order = {rule.id: position for position, rule in enumerate(ENDPOINT_RULES)}
        findings = [*still_valid, *_findings_of_rules(rules_to_rerun, subject, endpoint.definition.key)]
        return sorted(findings, key=lambda finding: order.get(finding.rule, len(order)))

    def fix(self, id: int, finding: Finding) -> Fix | None:
        """Return the fix for a finding of the endpoint with row id `id`; None without a safe one."""
        endpoint = self._configuration.endpoints.get(id)
        if endpoint is None or endpoint.problem is not None:
            return None
        try:
            return fix_for(finding, EndpointSubject(id, endpoint, self._surroundings))
        except MetadataUnavailable:
            return None

    def endpoint_if_known(self, id: int) -> list[Finding]:
        """Return the findings of the endpoint with row id `id`, and why, if its row cannot be read.

        Empty when there is no such row.
        """
        if id in self._configuration.endpoints:
            return self.endpoint(id)
        row = f"endpoint {id}"
        why = self._configuration.unreadable.get(row)
        return [Finding(UNREADABLE, Severity.BLOCKING, why, row)] if why else []

    def user_property(self, definition: UserPropertyDefinition) -> list[Finding]:
        """Return the findings of a user property. Its row need not be saved."""
        subject = UserPropertySubject(definition, self._surroundings)
        name = _("user property %(key)s", key=definition.key)
        return list(_findings_of_rules(USER_PROPERTY_RULES, subject, name))

    def issuer(self, definition: IssuerDefinition) -> list[Finding]:
        """Return the findings of an issuer. Its row need not be saved."""
        subject = IssuerSubject(definition, self._surroundings)
        name = _("issuer %(name)s", name=definition.name)
        return list(_findings_of_rules(ISSUER_RULES, subject, name))

    def everything(self) -> Iterator[Finding]:
        """Yield the findings of enabled endpoints, user properties, issuers, and rows that cannot be read.

        Drafts are left out, because they may lack anything.
        """
        for row, why in self._configuration.unreadable.items():
            yield Finding(UNREADABLE, Severity.BLOCKING, why, row)
        for id, endpoint in self._configuration.endpoints.items():
            if endpoint.definition.enabled:
                yield from self.endpoint(id)
        for user_property in self._configuration.user_properties:
            yield from self.user_property(user_property)
        for issuer in self._configuration.issuers:
            yield from self.issuer(issuer)


def check(endpoint: Endpoint, configuration: Configuration, metadata: Metadata) -> list[Finding]:
    """Return the findings of one endpoint of `configuration`. For many endpoints, use one Checker."""
    id = next(id for id, candidate in configuration.endpoints.items() if candidate is endpoint)
    return Checker(configuration, metadata).endpoint(id)


def _findings_of_rules(registered: Iterable[Rule[S]], subject: S, name: str) -> Iterator[Finding]:
    """Yield the findings of all rules for one subject. A rule that fails, or cannot ask the platform, gives a
    finding that says so.
    """
    unavailable = pending = False
    # Each reason is told once, however many rules it stops.
    missing_privileges: set[str] = set()
    for rule in registered:
        try:
            for message, field in rule.find(subject):
                yield Finding(
                    rule=rule.id, severity=rule.severity, message=message, subject=name, field=field
                )
        except MetadataUnavailable as error:
            if error.is_pending:
                pending = True
            elif error.privilege is None:
                unavailable = True
            else:
                missing_privileges.add(error.privilege)
        except Exception:
            # A rule that fails must not hide the findings of the others.
            logger.exception("the rule %s failed for %s", rule.id, name)
            message = _("The rule %(rule)s could not be checked. The log says why.", rule=rule.id)
            yield Finding(UNJUDGED, rule.severity, message, name)
    for privilege in sorted(missing_privileges):
        yield Finding(UNCHECKED, Severity.WARNING, _sentence_on_missing_privilege(privilege), name)
    if pending:
        message = _(
            "The platform's metadata is being fetched, so not everything could be checked yet. "
            "Reload the page in a moment."
        )
        yield Finding(UNCHECKED, Severity.WARNING, message, name)
    if unavailable:
        message = _(
            "The platform does not return its metadata at the moment, so not everything could be checked. "
            "“Check the connection” says why."
        )
        yield Finding(UNCHECKED, Severity.WARNING, message, name)


def _sentence_on_missing_privilege(privilege: str) -> str:
    """Return the sentence about a privilege that the service's account lacks; "" stands for a privilege whose
    name the platform does not tell.
    """
    if not privilege:
        return _(
            "The service's account on the platform lacks a privilege, so not everything could be checked. "
            "Grant it, then refresh the metadata."
        )
    return _(
        "The service's account on the platform lacks the privilege %(privilege)s, so not everything could be "
        "checked. Grant it, then refresh the metadata.",
        privilege=privilege,
    )
