"""The rules: functions that yield (message, field) for what they find. The decorator adds the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from designer.readiness.findings import Severity
from designer.readiness.subjects import EndpointSubject, UserPropertySubject

S = TypeVar("S")
Found: TypeAlias = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rule(Generic[S]):
    """`id` is stable: pipelines and documentation name it."""

    id: str
    severity: Severity
    find: Callable[[S], Found]


ENDPOINT_RULES: list[Rule[EndpointSubject]] = []
USER_PROPERTY_RULES: list[Rule[UserPropertySubject]] = []

_EndpointRule: TypeAlias = Callable[[EndpointSubject], Found]
_UserPropertyRule: TypeAlias = Callable[[UserPropertySubject], Found]


def blocking(id: str) -> Callable[[_EndpointRule], _EndpointRule]:
    """A rule of endpoints that must hold for one to be served."""
    return _register(ENDPOINT_RULES, id, Severity.BLOCKING)


def warning(id: str) -> Callable[[_EndpointRule], _EndpointRule]:
    """A rule of endpoints that says what may not be meant so."""
    return _register(ENDPOINT_RULES, id, Severity.WARNING)


def blocking_for_user_properties(id: str) -> Callable[[_UserPropertyRule], _UserPropertyRule]:
    """A rule of user properties that must hold for one to be served."""
    return _register(USER_PROPERTY_RULES, id, Severity.BLOCKING)


def _register(
    rules: list[Rule[S]], id: str, severity: Severity
) -> Callable[[Callable[[S], Found]], Callable[[S], Found]]:
    def register(find: Callable[[S], Found]) -> Callable[[S], Found]:
        rules.append(Rule(id, severity, find))
        return find

    return register
