"""The readiness of everything at once, for the price of what has changed since it was last asked for.

The sidebar of every page shows it, so checking a thousand endpoints for each is out of the question.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import Max

from crmclient import FetchesMetadata
from crmclient.errors import PlatformError
from designer.configuration import Configuration, Endpoint
from designer.endpoint_facts.concerned_endpoints import concerned, concerned_by_row_rules
from designer.endpoint_facts.reached_entities import exposures_read
from designer.entities_used import entities_used
from designer.loading import latest
from designer.models import RecordedItem
from designer.platform import get_platform
from designer.readiness import Checker, Finding, Metadata, Severity, State, state_of
from designer.readiness.checker import UNREADABLE
from designer.readiness.drift import drift_findings, facts_of
from designer.readiness.findings import DRIFT, UNCHECKED
from designer.revision import read_revision

UNCHECKED_SECONDS: Final = 3.0
"""So long at least what could not be checked is not checked again."""
_TIMES_AS_LONG: Final = 5
"""What cannot be checked for days, because a privilege is missing, must not keep a processor busy."""
_FEW_KEYS: Final = 50
"""The facts of fewer endpoints than these are read by their keys; for more, the facts of all are read."""


class Basis(NamedTuple):
    """What findings depend on besides the configuration: the metadata, and the id of the last recorded
    facts.
    """

    metadata_revision: str
    recorded: int


@dataclass(frozen=True)
class Overview:
    """The findings at one state of configuration and metadata.

    `by_endpoint` is keyed by row id, and has drafts, too. `others` are the findings about user properties,
    issuers and rows that cannot be read.
    """

    configuration: Configuration
    metadata: Metadata
    basis: Basis
    by_endpoint: Mapping[int, tuple[Finding, ...]]
    others: tuple[Finding, ...]
    valid_until: float | None = None
    """A `time.monotonic()` second after which the platform may give what it did not give; None: it gave
    everything.
    """

    def is_of(self, configuration: Configuration, basis: Basis) -> bool:
        """Whether the overview is still that of `configuration` and `basis`."""
        is_valid = self.valid_until is None or time.monotonic() < self.valid_until
        return self.configuration.revision == configuration.revision and self.basis == basis and is_valid

    def of(self, id: int) -> tuple[Finding, ...]:
        """Return the findings about the endpoint with row id `id`, or why its row cannot be read."""
        if id in self.by_endpoint:
            return self.by_endpoint[id]
        return tuple(finding for finding in self.others if finding.subject == f"endpoint {id}")

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings about everything that is meant to be served, which drafts are not."""
        served = (
            finding
            for id, endpoint_findings in self.by_endpoint.items()
            if self.configuration.endpoints[id].definition.enabled
            for finding in endpoint_findings
        )
        return [*self.others, *served]

    @cached_property
    def states(self) -> Mapping[int, State]:
        """The state of each endpoint, by row id."""
        endpoints = self.configuration.endpoints
        return {
            id: state_of(endpoints[id].definition.enabled, findings)
            for id, findings in self.by_endpoint.items()
        }

    @cached_property
    def counts(self) -> Mapping[State, int]:
        """The number of endpoints in each state. A state without endpoints counts 0."""
        return Counter(self.states.values())

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of all endpoints, drafts included."""
        return frozenset(endpoint.definition.key for endpoint in self.configuration.endpoints.values())


class _InTransaction(threading.local):
    """The overview last made inside a transaction of this thread.

    Other threads may not return it, because it may never be committed. They may begin with it.
    """

    overview: Overview | None = None


_latest: Overview | None = None
_inside = _InTransaction()
# The overview that any thread last made inside a transaction. Once the database has its revision, it was
# committed.
_uncommitted: Overview | None = None
# The overview that was foreseen last: a proposal is looked at many times before it is published.
_foreseen: Overview | None = None


def overview() -> Overview:
    """Return the overview of the present configuration; inside a transaction, with its changes."""
    global _latest, _uncommitted
    cached, configuration, basis = _latest, latest(), _present_basis()
    if not connection.in_atomic_block:
        if cached is None or not cached.is_of(configuration, basis):
            # What was made inside the transaction of a save is mostly that of the committed revision.
            cached = _latest = _check(_nearest(configuration, cached, _uncommitted), configuration, basis)
        return cached
    inside = _inside.overview
    if inside is None or not inside.is_of(configuration, basis):
        nearest = _nearest(configuration, inside, cached)
        inside = _inside.overview = _uncommitted = _check(nearest, configuration, basis)
    return inside


def _nearest(configuration: Configuration, *candidates: Overview | None) -> Overview | None:
    """Return the candidate from which least must be judged again: one of the same revision, or else the
    one that has most endpoints in common.
    """
    present = [candidate for candidate in candidates if candidate is not None]
    same = (candidate for candidate in present if candidate.configuration.revision == configuration.revision)

    # Not by the number of the revision: one that was taken back may have a higher one.
    def shared(candidate: Overview) -> int:
        """Return how many endpoints the candidate has in common with `configuration`."""
        endpoints = candidate.configuration.endpoints
        return sum(endpoints.get(id) is endpoint for id, endpoint in configuration.endpoints.items())

    return next(same, None) or max(present, key=shared, default=None)


def overview_if_stored(configuration: Configuration) -> Overview:
    """Return the overview that there would be if `configuration` were stored.

    A change is saved under the present metadata, so nothing has drifted in it.
    """
    global _foreseen
    current, last = overview(), _foreseen
    last_is_nearer = last is not None and _equal_endpoints(last, configuration) > _equal_endpoints(
        current, configuration
    )
    _foreseen = _check(last if last_is_nearer else current, configuration, current.basis, {})
    return _foreseen


def _equal_endpoints(candidate: Overview, configuration: Configuration) -> int:
    """Return how many endpoints are equal in both."""
    endpoints = candidate.configuration.endpoints
    return sum(endpoints.get(id) == endpoint for id, endpoint in configuration.endpoints.items())


def overview_of(configuration: Configuration, metadata: Metadata) -> Overview:
    """Return the overview of a configuration that is not stored. Needs no database and no platform."""
    checker = Checker(configuration, metadata)
    findings = {id: tuple(checker.endpoint(id)) for id in configuration.endpoints}
    return Overview(
        configuration=configuration,
        metadata=metadata,
        basis=Basis("", 0),
        by_endpoint=findings,
        others=tuple(_findings_of_others(checker, configuration)),
    )


def forget() -> None:
    """Forget all findings, so that the next overview checks everything.

    For metadata that has changed unnoticed.
    """
    global _latest, _uncommitted, _foreseen
    _latest = _inside.overview = _uncommitted = _foreseen = None


def _present_basis() -> Basis:
    """Return the present basis. Without recorded facts, the id of the last ones is 0."""
    recorded = RecordedItem.objects.aggregate(last=Max("id"))["last"]
    return Basis(_metadata_revision(), recorded or 0)


def _metadata_revision() -> str:
    """Return the revision of the platform's metadata; "" while the platform cannot be asked.

    A platform in this database is asked by the query that reads the configuration's revision.
    """
    platform = get_platform()
    try:
        local = read_revision(platform.local_revision_sql)[1]
        return platform.metadata_revision() if local is None else str(local)
    except PlatformError:
        return ""


def _check(
    previous: Overview | None,
    configuration: Configuration,
    basis: Basis,
    recorded: Mapping[str, Any] | None = None,
) -> Overview:
    """Return the overview, with the findings of `previous` that cannot have changed.

    `recorded` are the facts that endpoints were saved under, by key; None: those that are stored.
    """
    # The processor's time of this thread: the time that it waits for the platform does not count.
    start = time.thread_time()
    if previous is not None and previous.basis.metadata_revision != basis.metadata_revision:
        # Any finding may have changed with the metadata.
        previous = None
    if previous is None or previous.valid_until is not None:
        _fetch_metadata_ahead(configuration)
    metadata = Metadata(get_platform()) if previous is None else previous.metadata
    unchanged = _Unchanged({}, {}) if previous is None else _unchanged_findings(previous, configuration)
    checker = Checker(configuration, metadata)
    if recorded is None:
        to_judge = configuration.endpoints.keys() - unchanged.kept.keys() - unchanged.under_others.keys()
        recorded = _recorded_facts(configuration, to_judge)
    findings: dict[int, tuple[Finding, ...]] = {}
    for id, endpoint in configuration.endpoints.items():
        if id in unchanged.kept:
            findings[id] = unchanged.kept[id]
        elif id in unchanged.under_others:
            findings[id] = tuple(checker.endpoint_under_other_row_rules(id, unchanged.under_others[id]))
        else:
            findings[id] = (*checker.endpoint(id), *_drift_of_endpoint(endpoint, recorded, metadata))
    others = tuple(_findings_of_others(checker, configuration))
    valid_until = _valid_until((*findings.values(), others), time.thread_time() - start)
    return Overview(
        configuration=configuration,
        metadata=metadata,
        basis=basis,
        by_endpoint=findings,
        others=others,
        valid_until=valid_until,
    )


def _fetch_metadata_ahead(configuration: Configuration) -> None:
    """Let the platform fetch the metadata of all entities together, where it can: the rules ask for one
    entity after the other.
    """
    platform = get_platform()
    if isinstance(platform, FetchesMetadata):
        with suppress(PlatformError):
            platform.fetch_metadata_ahead(entities_used(configuration))


def _valid_until(findings: Iterable[Iterable[Finding]], spent: float) -> float | None:
    """Return `Overview.valid_until` for findings that took `spent` seconds of processor time."""
    if any(finding.rule == UNCHECKED for listed in findings for finding in listed):
        return time.monotonic() + max(UNCHECKED_SECONDS, _TIMES_AS_LONG * spent)
    return None


class _Unchanged(NamedTuple):
    """Findings of `previous` by the row id of their endpoint.

    `kept` still hold. `under_others` are of endpoints for which only row rules of exposed entities have
    changed.
    """

    kept: dict[int, tuple[Finding, ...]]
    under_others: dict[int, tuple[Finding, ...]]


def _unchanged_findings(previous: Overview, configuration: Configuration) -> _Unchanged:
    """Return the findings that cannot have changed, and those that only row rules may have changed.

    A finding cannot have changed while its endpoint and all that it depends on are the same, and no other
    endpoint has come to its path or left it. For an endpoint with related records, no other endpoint of its
    module may have changed either. Drift is judged again, because recording the metadata anew ends it; so is
    what could not be checked, because the platform may answer now.
    """
    before, after = previous.configuration.endpoints, configuration.endpoints
    ruled_otherwise, changed = set[int](), set[int]()
    for id in {*before, *after}:
        old_endpoint, new_endpoint = before.get(id), after.get(id)
        if old_endpoint is new_endpoint:
            continue
        if old_endpoint is None or new_endpoint is None or not _is_alike(old_endpoint, new_endpoint):
            changed.add(id)
        elif _row_rules_of(old_endpoint) != _row_rules_of(new_endpoint):
            ruled_otherwise.add(id)
    is_concerned = concerned(previous.configuration, configuration)
    reaches_ruled = concerned_by_row_rules(previous.configuration, configuration)
    paths = {
        endpoint.path for endpoints in (before, after) for id, endpoint in endpoints.items() if id in changed
    }
    modules = {
        endpoints[id].definition.module for endpoints in (before, after) for id in changed if id in endpoints
    }
    unchanged = _Unchanged({}, {})
    for id, endpoint in after.items():
        if (
            id in changed
            or endpoint.path in paths
            or (endpoint.definition.settings.related_segment and endpoint.definition.module in modules)
            or _may_have_ended(previous.by_endpoint[id])
            or is_concerned(endpoint)
        ):
            continue
        has_other_rules = id in ruled_otherwise or reaches_ruled(endpoint)
        target = unchanged.under_others if has_other_rules else unchanged.kept
        target[id] = previous.by_endpoint[id]
    return unchanged


def _is_alike(before: Endpoint, after: Endpoint) -> bool:
    """Whether both are the same, apart from row rules and from what no readiness rule reads.

    That is titles of exposed entities, and exposed entities that the endpoint has nothing to do with.
    """
    return (
        (before.definition is after.definition or before.definition == after.definition)
        and before.problem == after.problem
        and _exposed_to(before) == _exposed_to(after)
    )


def _exposed_to(endpoint: Endpoint) -> list[tuple[str, str, str]]:
    """Return the place and the entity of each exposed entity that findings about the endpoint depend on."""
    return [(exposure.module, exposure.segment, exposure.entity) for exposure in exposures_read(endpoint)]


def _row_rules_of(endpoint: Endpoint) -> list[Any]:
    """Return the row rules of the exposed entities that `_exposed_to` names."""
    return [exposure.row_rule for exposure in exposures_read(endpoint)]


def _may_have_ended(findings: Iterable[Finding]) -> bool:
    """Whether a finding may end although nothing in the configuration changes."""
    return any(finding.rule in {DRIFT, UNCHECKED} for finding in findings)


def _findings_of_others(checker: Checker, configuration: Configuration) -> Iterator[Finding]:
    """Yield the findings about rows that cannot be read, user properties and issuers."""
    for row, why in configuration.unreadable.items():
        yield Finding(UNREADABLE, Severity.BLOCKING, why, row)
    for user_property in configuration.user_properties:
        yield from checker.user_property(user_property)
    for issuer in configuration.issuers:
        yield from checker.issuer(issuer)


def _recorded_facts(configuration: Configuration, ids: Iterable[int]) -> Mapping[str, Any]:
    """Return the facts that the endpoints `ids` were saved under, by key; maybe those of others, too."""
    keys = {configuration.endpoints[id].definition.key for id in ids}
    rows = RecordedItem.objects.filter(collection="endpoints", facts__isnull=False)
    if len(keys) < _FEW_KEYS:
        rows = rows.filter(key__in=keys)
    return dict(rows.values_list("key", "facts"))


def _drift_of_endpoint(
    endpoint: Endpoint, facts_by_key: Mapping[str, Any], metadata: Metadata
) -> Iterable[Finding]:
    """Return the findings about metadata that has changed since the endpoint was saved.

    There are none for an endpoint without recorded facts, which nobody has saved yet.
    """
    key = endpoint.definition.key
    recorded = facts_by_key.get(key)
    return drift_findings(key, recorded, facts_of(endpoint, metadata)) if recorded else ()
