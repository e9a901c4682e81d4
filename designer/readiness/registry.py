"""The registry of rules: functions that yield (message, field) for what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from designer.definitions import EndpointSettings
from designer.readiness.findings import Severity
from designer.readiness.subjects import EndpointSubject, IssuerSubject, UserPropertySubject

S = TypeVar("S")
K = TypeVar("K", bound=EndpointSettings)
# The findings of a rule: each is a message, in English, and the place in the definition where to correct it
# (`inputs.phone.max_length`).
Found: TypeAlias = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rule(Generic[S]):
    """A readiness rule. `id` is stable: pipelines and documentation name it.

    `reads_row_rules`: it reads row rules of exposed entities. When only these have changed, the findings of
    other rules stay.
    """

    id: str
    severity: Severity
    find: Callable[[S], Found]
    reads_row_rules: bool = True


ENDPOINT_RULES: list[Rule[EndpointSubject]] = []
USER_PROPERTY_RULES: list[Rule[UserPropertySubject]] = []
ISSUER_RULES: list[Rule[IssuerSubject]] = []

_EndpointRule: TypeAlias = Callable[[EndpointSubject], Found]
_UserPropertyRule: TypeAlias = Callable[[UserPropertySubject], Found]
_IssuerRule: TypeAlias = Callable[[IssuerSubject], Found]
_KindRule: TypeAlias = Callable[[EndpointSubject, K], Found]


def blocking(id: str, *, row_rules: bool = False) -> Callable[[_EndpointRule], _EndpointRule]:
    """Register a rule that an endpoint must meet to be served.

    `row_rules`: it reads row rules of exposed entities.
    """
    return _register(ENDPOINT_RULES, id, Severity.BLOCKING, row_rules)


def warning(id: str, *, row_rules: bool = False) -> Callable[[_EndpointRule], _EndpointRule]:
    """Register a rule of endpoints that finds what may not be meant.

    `row_rules`: it reads row rules of exposed entities.
    """
    return _register(ENDPOINT_RULES, id, Severity.WARNING, row_rules)


def blocking_of(
    settings: type[K], id: str, *, row_rules: bool = False
) -> Callable[[_KindRule[K]], _KindRule[K]]:
    """Register as `blocking` does, for kinds with settings of this class, which the rule gets as its second
    argument.
    """
    return _register_of_kind(settings, id, Severity.BLOCKING, row_rules)


def warning_of(
    settings: type[K], id: str, *, row_rules: bool = False
) -> Callable[[_KindRule[K]], _KindRule[K]]:
    """Register as `warning` does, for kinds with settings of this class, which the rule gets as its second
    argument.
    """
    return _register_of_kind(settings, id, Severity.WARNING, row_rules)


def blocking_for_user_properties(id: str) -> Callable[[_UserPropertyRule], _UserPropertyRule]:
    """Register a rule that a user property must meet to be served."""
    return _register(USER_PROPERTY_RULES, id, Severity.BLOCKING)


def blocking_for_issuers(id: str) -> Callable[[_IssuerRule], _IssuerRule]:
    """Register a rule that an issuer must meet for its tokens to be accepted."""
    return _register(ISSUER_RULES, id, Severity.BLOCKING)


def warning_for_issuers(id: str) -> Callable[[_IssuerRule], _IssuerRule]:
    """Register a rule of issuers that finds what may not be meant."""
    return _register(ISSUER_RULES, id, Severity.WARNING)


def _register_of_kind(
    settings: type[K], id: str, severity: Severity, row_rules: bool
) -> Callable[[_KindRule[K]], _KindRule[K]]:
    """Return a decorator that registers a rule for endpoints whose settings are of the type `settings`."""

    def register(find: _KindRule[K]) -> _KindRule[K]:
        def of_kind(subject: EndpointSubject) -> Found:
            chosen = subject.definition.settings
            if isinstance(chosen, settings):
                yield from find(subject, chosen)

        ENDPOINT_RULES.append(Rule(id, severity, of_kind, row_rules or not _is_built_in(find)))
        return find

    return register


def _register(
    rules: list[Rule[S]], id: str, severity: Severity, row_rules: bool = False
) -> Callable[[Callable[[S], Found]], Callable[[S], Found]]:
    """Return a decorator that adds a rule to `rules`. `row_rules`: the rule reads row rules of exposed
    entities.
    """

    def register(find: Callable[[S], Found]) -> Callable[[S], Found]:
        rules.append(Rule(id, severity, find, row_rules or not _is_built_in(find)))
        return find

    return register


def _is_built_in(find: Callable[..., Any]) -> bool:
    """Whether a rule is built in, and not of a package.

    Only built-in rules are trusted to declare whether they read row rules, because tests check it. Any other
    rule counts as one that reads them.
    """
    return find.__module__.startswith("designer.readiness.rules.")
