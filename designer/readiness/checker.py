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
        """What is to be said of the endpoint with row id `id`."""
        endpoint = self._configuration.endpoints[id]
        if endpoint.problem is not None:
            return [Finding(UNREADABLE, Severity.BLOCKING, endpoint.problem, endpoint.definition.key)]
        subject = EndpointSubject(id, endpoint, self._surroundings)
        return list(_run(ENDPOINT_RULES, subject, endpoint.definition.key))

    def fix(self, id: int, finding: Finding) -> Fix | None:
        """What would mend a finding about the endpoint with row id `id`, where that is safe."""
        endpoint = self._configuration.endpoints.get(id)
        if endpoint is None or endpoint.problem is not None:
            return None
        try:
            return fix_for(finding, EndpointSubject(id, endpoint, self._surroundings))
        except MetadataUnavailable:
            return None

    def endpoint_if_known(self, id: int) -> list[Finding]:
        """As `endpoint`; for a row that could not even be read as one, why."""
        if id in self._configuration.endpoints:
            return self.endpoint(id)
        row = f"endpoint {id}"
        why = self._configuration.unreadable.get(row)
        return [Finding(UNREADABLE, Severity.BLOCKING, why, row)] if why else []

    def user_property(self, definition: UserPropertyDefinition) -> list[Finding]:
        subject = UserPropertySubject(definition, self._surroundings)
        return list(_run(USER_PROPERTY_RULES, subject, f"user property {definition.key}"))

    def issuer(self, definition: IssuerDefinition) -> list[Finding]:
        subject = IssuerSubject(definition, self._surroundings)
        return list(_run(ISSUER_RULES, subject, f"issuer {definition.name}"))

    def everything(self) -> Iterator[Finding]:
        """Findings of enabled endpoints, user properties, and rows that could not be read. Drafts may lack
        anything, so they are left out."""
        for row, why in self._configuration.unreadable.items():
            yield Finding(UNREADABLE, Severity.BLOCKING, why, row)
        for id, endpoint in self._configuration.endpoints.items():
            if endpoint.definition.enabled:
                yield from self.endpoint(id)
        for known in self._configuration.user_properties:
            yield from self.user_property(known)
        for issuer in self._configuration.issuers:
            yield from self.issuer(issuer)


def check(endpoint: Endpoint, configuration: Configuration, metadata: Metadata) -> list[Finding]:
    """What is to be said of one endpoint of `configuration`. For many, make one Checker."""
    id = next(id for id, known in configuration.endpoints.items() if known is endpoint)
    return Checker(configuration, metadata).endpoint(id)


def _run(registered: Iterable[Rule[S]], subject: S, name: str) -> Iterator[Finding]:
    unavailable = False
    missing: set[str] = set()
    for rule in registered:
        try:
            for message, field in rule.find(subject):
                yield Finding(rule.id, rule.severity, message, name, field)
        except MetadataUnavailable as error:
            if error.privilege is None:
                unavailable = True
            else:
                missing.add(error.privilege)
        except Exception:
            # Whatever is wrong with it, everything else can still be seen, and this be mended.
            logger.exception("the rule %s failed for %s", rule.id, name)
            message = _("It could not be judged by the rule %(rule)s: the log says why.", rule=rule.id)
            yield Finding(UNJUDGED, rule.severity, message, name)
    for privilege in sorted(missing):
        yield Finding(UNCHECKED, Severity.WARNING, _missing(privilege), name)
    if unavailable:
        message = _("The platform cannot be asked just now, so not everything could be checked.")
        yield Finding(UNCHECKED, Severity.WARNING, message, name)


def _missing(privilege: str) -> str:
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
