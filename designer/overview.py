"""The readiness of everything at once, for the price of what has changed since it was last asked for.

The sidebar of every page shows it, so checking a thousand endpoints for each is out of the question.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Max

from crmclient.errors import PlatformError
from designer.configuration import Configuration, Endpoint
from designer.dependence import concerned
from designer.loading import latest
from designer.models import RecordedItem
from designer.platform import get_platform
from designer.readiness import Checker, Finding, Metadata, Severity, State, state_of
from designer.readiness.checker import UNREADABLE
from designer.readiness.drift import drifted, facts_of
from designer.readiness.findings import DRIFT, UNCHECKED
from designer.revision import read_revision


class Basis(NamedTuple):
    """What findings depend on beside the configuration: metadata, and the last id of what was recorded."""

    metadata_revision: str
    recorded: int


@dataclass(frozen=True)
class Overview:
    """Findings at one state of configuration and metadata; `by_endpoint` is keyed by row id, drafts too.

    `others` are those of user properties and of rows that cannot be read.
    """

    configuration: Configuration
    metadata: Metadata
    basis: Basis
    by_endpoint: Mapping[int, tuple[Finding, ...]]
    others: tuple[Finding, ...]

    def is_of(self, configuration: Configuration, basis: Basis) -> bool:
        return self.configuration.revision == configuration.revision and self.basis == basis

    def of(self, id: int) -> tuple[Finding, ...]:
        """Of the endpoint with row id `id`; for a row that could not even be read as one, why."""
        if id in self.by_endpoint:
            return self.by_endpoint[id]
        return tuple(finding for finding in self.others if finding.subject == f"endpoint {id}")

    @cached_property
    def findings(self) -> list[Finding]:
        """Of all that is meant to be served."""
        served = (
            finding
            for id, found in self.by_endpoint.items()
            if self.configuration.endpoints[id].definition.enabled
            for finding in found
        )
        return [*self.others, *served]

    @cached_property
    def states(self) -> Mapping[int, State]:
        endpoints = self.configuration.endpoints
        return {
            id: state_of(endpoints[id].definition.enabled, found) for id, found in self.by_endpoint.items()
        }

    @cached_property
    def counts(self) -> Mapping[State, int]:
        return Counter(self.states.values())

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(endpoint.definition.key for endpoint in self.configuration.endpoints.values())


class _Inside(threading.local):
    """What was last found inside a transaction: it may never be committed, so only its thread may use it."""

    overview: Overview | None = None


_latest: Overview | None = None
_inside = _Inside()


def overview() -> Overview:
    """As things are now; inside a transaction, with what that has changed."""
    global _latest
    known, configuration, basis = _latest, latest(), _basis()
    if not connection.in_atomic_block:
        if known is None or not known.is_of(configuration, basis):
            known = _latest = _check(known, configuration, basis)
        return known
    inside = _inside.overview
    if inside is None or not inside.is_of(configuration, basis):
        inside = _inside.overview = _check(inside or known, configuration, basis)
    return inside


def foreseen(configuration: Configuration) -> Overview:
    """As `overview` would be if `configuration` were what is stored.

    What changes is saved under the platform's present metadata: none of it has drifted.
    """
    known = overview()
    return _check(known, configuration, known.basis, {})


def judged(configuration: Configuration, metadata: Metadata) -> Overview:
    """What is to be said of a configuration that is stored nowhere. Needs no database and no platform."""
    checker = Checker(configuration, metadata)
    found = {id: tuple(checker.endpoint(id)) for id in configuration.endpoints}
    return Overview(configuration, metadata, Basis("", 0), found, tuple(_others(checker, configuration)))


def forget() -> None:
    """Check everything again when it is next asked for: for metadata that changes without saying so."""
    global _latest
    _latest = _inside.overview = None


def _basis() -> Basis:
    recorded = RecordedItem.objects.aggregate(last=Max("id"))["last"]
    return Basis(_metadata_revision(), recorded or 0)


def _metadata_revision() -> str:
    platform = get_platform()
    try:
        local = read_revision(platform.local_revision_sql)[1]
        return platform.metadata_revision() if local is None else str(local)
    except PlatformError:
        return ""


def _check(
    known: Overview | None,
    configuration: Configuration,
    basis: Basis,
    recorded: Mapping[str, Any] | None = None,
) -> Overview:
    """`recorded` are the facts that endpoints were saved under by key; None: those that are stored."""
    metadata = Metadata(get_platform())
    kept: Mapping[int, tuple[Finding, ...]] = {}
    same_metadata = known is not None and known.basis.metadata_revision == basis.metadata_revision
    if known is not None and same_metadata:
        metadata = known.metadata
        kept = _kept(known, configuration)
    checker = Checker(configuration, metadata)
    fresh = [id for id in configuration.endpoints if id not in kept]
    then = _recorded_facts(configuration, fresh) if recorded is None else recorded
    found: dict[int, tuple[Finding, ...]] = {}
    for id, endpoint in configuration.endpoints.items():
        if id in kept:
            found[id] = kept[id]
        else:
            found[id] = (*checker.endpoint(id), *_drift(endpoint, then, metadata))
    return Overview(configuration, metadata, basis, found, tuple(_others(checker, configuration)))


def _kept(known: Overview, configuration: Configuration) -> Mapping[int, tuple[Finding, ...]]:
    """Findings that cannot have changed: of the same endpoint, with all that it depends on, and no other came
    to its path or left it, or made records known or unknown that it relates to.

    What has drifted is looked at again, for recording it anew ends that; and what could not be checked, for
    the platform may tell now.
    """
    before, after = known.configuration.endpoints, configuration.endpoints
    changed = {id for id in {*before, *after} if not _is_judged_alike(before.get(id), after.get(id))}
    is_concerned = concerned(known.configuration, configuration)
    paths = {
        endpoint.path for endpoints in (before, after) for id, endpoint in endpoints.items() if id in changed
    }
    modules = {
        endpoints[id].definition.module for endpoints in (before, after) for id in changed if id in endpoints
    }
    return {
        id: known.by_endpoint[id]
        for id, endpoint in after.items()
        if id not in changed
        and endpoint.path not in paths
        and not (endpoint.definition.settings.related_segment and endpoint.definition.module in modules)
        and not _may_have_ended(known.by_endpoint[id])
        and not is_concerned(endpoint)
    }


def _is_judged_alike(before: Endpoint | None, after: Endpoint | None) -> bool:
    """Whether both read the same but for the titles of exposed entities, which no rule reads."""
    if before is after or before is None or after is None:
        return before is after
    return (
        before.definition == after.definition
        and before.problem == after.problem
        and _judged_of(before) == _judged_of(after)
    )


def _judged_of(endpoint: Endpoint) -> list[tuple[Any, ...] | None]:
    exposed = (endpoint.entity, *endpoint.exposures)
    return [
        (known.module, known.segment, known.entity, known.row_rule) if known else None for known in exposed
    ]


def _may_have_ended(findings: Iterable[Finding]) -> bool:
    return any(finding.rule in {DRIFT, UNCHECKED} for finding in findings)


def _others(checker: Checker, configuration: Configuration) -> Iterator[Finding]:
    for row, why in configuration.unreadable.items():
        yield Finding(UNREADABLE, Severity.BLOCKING, why, row)
    for known in configuration.user_properties:
        yield from checker.user_property(known)
    for issuer in configuration.issuers:
        yield from checker.issuer(issuer)


def _recorded_facts(configuration: Configuration, ids: Iterable[int]) -> Mapping[str, Any]:
    keys = {configuration.endpoints[id].definition.key for id in ids}
    rows = RecordedItem.objects.filter(collection="endpoints", facts__isnull=False)
    if len(keys) < 50:
        rows = rows.filter(key__in=keys)
    return dict(rows.values_list("key", "facts"))


def _drift(endpoint: Endpoint, then: Mapping[str, Any], metadata: Metadata) -> Iterable[Finding]:
    key = endpoint.definition.key
    recorded = then.get(key)
    return drifted(key, recorded, facts_of(endpoint, metadata)) if recorded else ()
