"""The rules: functions that yield (message, field) for what they find. The decorator adds the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from designer.definitions import EndpointSettings
from designer.readiness.findings import Severity
from designer.readiness.subjects import EndpointSubject, IssuerSubject, UserPropertySubject

S = TypeVar("S")
K = TypeVar("K", bound=EndpointSettings)
Found: TypeAlias = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rule(Generic[S]):
    """`id` is stable: pipelines and documentation name it."""

    id: str
    severity: Severity
    find: Callable[[S], Found]


ENDPOINT_RULES: list[Rule[EndpointSubject]] = []
USER_PROPERTY_RULES: list[Rule[UserPropertySubject]] = []
ISSUER_RULES: list[Rule[IssuerSubject]] = []

_EndpointRule: TypeAlias = Callable[[EndpointSubject], Found]
_UserPropertyRule: TypeAlias = Callable[[UserPropertySubject], Found]
_IssuerRule: TypeAlias = Callable[[IssuerSubject], Found]
_KindRule: TypeAlias = Callable[[EndpointSubject, K], Found]


def blocking(id: str) -> Callable[[_EndpointRule], _EndpointRule]:
    """A rule of endpoints that must hold for one to be served."""
    return _register(ENDPOINT_RULES, id, Severity.BLOCKING)


def warning(id: str) -> Callable[[_EndpointRule], _EndpointRule]:
    """A rule of endpoints that says what may not be meant so."""
    return _register(ENDPOINT_RULES, id, Severity.WARNING)


def blocking_of(settings: type[K], id: str) -> Callable[[_KindRule[K]], _KindRule[K]]:
    """As `blocking`, for the kinds that have such settings. The rule gets these beside the endpoint."""
    return _register_of_kind(settings, id, Severity.BLOCKING)


def warning_of(settings: type[K], id: str) -> Callable[[_KindRule[K]], _KindRule[K]]:
    """As `warning`, for the kinds that have such settings. The rule gets these beside the endpoint."""
    return _register_of_kind(settings, id, Severity.WARNING)


def blocking_for_user_properties(id: str) -> Callable[[_UserPropertyRule], _UserPropertyRule]:
    """A rule of user properties that must hold for one to be served."""
    return _register(USER_PROPERTY_RULES, id, Severity.BLOCKING)


def blocking_for_issuers(id: str) -> Callable[[_IssuerRule], _IssuerRule]:
    """A rule of issuers that must hold for their tokens to be of use."""
    return _register(ISSUER_RULES, id, Severity.BLOCKING)


def warning_for_issuers(id: str) -> Callable[[_IssuerRule], _IssuerRule]:
    """A rule of issuers that says what may not be meant so."""
    return _register(ISSUER_RULES, id, Severity.WARNING)


def _register_of_kind(
    settings: type[K], id: str, severity: Severity
) -> Callable[[_KindRule[K]], _KindRule[K]]:
    def register(find: _KindRule[K]) -> _KindRule[K]:
        def of_kind(subject: EndpointSubject) -> Found:
            chosen = subject.definition.settings
            if isinstance(chosen, settings):
                yield from find(subject, chosen)

        ENDPOINT_RULES.append(Rule(id, severity, of_kind))
        return find

    return register


def _register(
    rules: list[Rule[S]], id: str, severity: Severity
) -> Callable[[Callable[[S], Found]], Callable[[S], Found]]:
    def register(find: Callable[[S], Found]) -> Callable[[S], Found]:
        rules.append(Rule(id, severity, find))
        return find

    return register
