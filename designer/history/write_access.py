"""Who may call what writes: it is compared with what was last enabled, whatever lies in between.

An endpoint that is switched off, changed and switched on again, is made anew at its old path, or comes to the
path of another one, has the callers it had, or a publisher has agreed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from designer.access_matrix import callers
from designer.configuration import Configuration, Endpoint
from designer.models import EndpointAccess, EndpointRole, PathAccess
from designer.readiness.findings import Finding, Severity
from designer.sentences import Sentence

PERMISSION = "designer.change_write_access"
RULE = "write-access-right"

# Rows to a query: databases bound the parameters of one.
_CHUNK = 200
_COLUMNS = ["authentication_required", "roles", "creates_outside_row_rule"]

Place: TypeAlias = tuple[str, str]


class WriteAccessRefused(Exception):
    """What was about to be done changes who may call what writes, which is for a publisher to do."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings

    @property
    def problems(self) -> list[str]:
        """The findings in the language at hand."""
        return [finding.said for finding in self.findings]


@dataclass(frozen=True, slots=True)
class Access:
    """`roles` are pairs of row id and name. Without authentication there are none."""

    authentication_required: bool
    roles: tuple[tuple[int, str], ...] = ()
    creates_outside_row_rule: bool = False

    @classmethod
    def of_row(cls, row: EndpointAccess | PathAccess) -> Access:
        roles = tuple((id, name) for id, name in row.roles)
        return cls(row.authentication_required, roles, row.creates_outside_row_rule)

    @property
    def callers(self) -> tuple[bool, tuple[tuple[int, str], ...]]:
        return self.authentication_required, self.roles

    @property
    def columns(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in _COLUMNS}


def refusals(before: Configuration, now: Configuration) -> list[Finding]:
    """What of the change from `before` to `now` only a publisher may do.

    Who may call an enabled endpoint that writes is as when the endpoint, and its path, were last enabled. One
    that is enabled for the first time, at a path that never was, may be for any caller with a token. Nor does
    it begin to create records outside its row rule. Drafts are everyone's.
    """
    changed = {
        id: endpoint
        for id, endpoint in now.endpoints.items()
        if _is_gated(endpoint) and endpoint != before.endpoints.get(id)
    }
    if not changed:
        return []
    known = _Known.of(changed)
    accesses = _accesses(changed)
    return [
        refusal
        for id, endpoint in changed.items()
        if (refusal := _refusal(endpoint, accesses[id], known.of_endpoint(id, endpoint))) is not None
    ]


def remember(now: Configuration) -> None:
    """Keep who may call each enabled endpoint that writes, by endpoint and by path."""
    gated = {id: endpoint for id, endpoint in now.endpoints.items() if _is_gated(endpoint)}
    accesses = _accesses(gated)
    known = {row.endpoint: Access.of_row(row) for row in EndpointAccess.objects.all()}
    by_endpoint = [
        EndpointAccess(endpoint=id, **access.columns)
        for id, access in accesses.items()
        if known.get(id) != access
    ]
    EndpointAccess.objects.bulk_create(
        by_endpoint,
        batch_size=_CHUNK,
        update_conflicts=True,
        unique_fields=["endpoint"],
        update_fields=_COLUMNS,
    )
    for ids in _chunks([id for id in known if id not in now.endpoints]):
        EndpointAccess.objects.filter(endpoint__in=ids).delete()
    held = {(row.method, row.path): Access.of_row(row) for row in PathAccess.objects.all()}
    # Where two endpoints claim one place, readiness blocks both; the last is kept.
    wanted = {place: accesses[id] for id, endpoint in gated.items() for place in _places(endpoint)}
    by_place = [
        PathAccess(method=method, path=path, **access.columns)
        for (method, path), access in wanted.items()
        if held.get((method, path)) != access
    ]
    PathAccess.objects.bulk_create(
        by_place,
        batch_size=_CHUNK,
        update_conflicts=True,
        unique_fields=["method", "path"],
        update_fields=_COLUMNS,
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What was last enabled, of some endpoints and of their places."""

    by_endpoint: Mapping[int, Access]
    by_place: Mapping[Place, Access]

    @classmethod
    def of(cls, endpoints: Mapping[int, Endpoint]) -> _Known:
        by_endpoint: dict[int, Access] = {}
        by_place: dict[Place, Access] = {}
        for ids in _chunks(list(endpoints)):
            for row in EndpointAccess.objects.filter(endpoint__in=ids):
                by_endpoint[row.endpoint] = Access.of_row(row)
            for place in PathAccess.objects.filter(path__in={endpoints[id].path for id in ids}):
                by_place[place.method, place.path] = Access.of_row(place)
        return cls(by_endpoint, by_place)

    def of_endpoint(self, id: int, endpoint: Endpoint) -> list[Access]:
        found = [self.by_endpoint.get(id), *(self.by_place.get(place) for place in _places(endpoint))]
        return [access for access in found if access is not None]


def _is_gated(endpoint: Endpoint) -> bool:
    # One whose rows make no definition, too: mending it must not be the way round.
    return endpoint.definition.enabled and endpoint.kind.writes


def _places(endpoint: Endpoint) -> Iterator[Place]:
    for method in endpoint.methods:
        yield method, endpoint.path


def _accesses(endpoints: Mapping[int, Endpoint]) -> dict[int, Access]:
    roles: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for ids in _chunks(list(endpoints)):
        granted = EndpointRole.objects.filter(endpoint__in=ids).order_by("role__name")
        for id, role, name in granted.values_list("endpoint_id", "role_id", "role__name"):
            roles[id].append((role, name))
    found = {}
    for id, endpoint in endpoints.items():
        required = endpoint.definition.access.authentication_required
        free = endpoint.definition.settings.creates_outside_row_rule
        found[id] = Access(required, tuple(roles[id]) if required else (), free)
    return found


def _refusal(endpoint: Endpoint, access: Access, known: Sequence[Access]) -> Finding | None:
    last = next((one for one in known if one.callers != access.callers), None)
    named = f"{', '.join(endpoint.methods)} {endpoint.path}"
    if last is None and (known or access.authentication_required):
        return None if _holds_as_before(access, known) else _outside_row_rule(endpoint, named)
    if last is None:
        message = Sentence(
            "%(endpoint)s writes. Only a publisher may open it to callers without a token.", endpoint=named
        )
    else:
        message = Sentence(
            "%(endpoint)s writes, and only a publisher may change who calls it. "
            "When it was last enabled: %(before)s. Choose that again, or ask a publisher.",
            endpoint=named,
            before=callers(last.authentication_required, [name for _, name in last.roles]),
        )
    field = "roles" if access.authentication_required else "authentication_required"
    return Finding(RULE, Severity.BLOCKING, message, endpoint.definition.key, field)


def _holds_as_before(access: Access, known: Sequence[Access]) -> bool:
    if not access.creates_outside_row_rule:
        return True
    return bool(known) and all(one.creates_outside_row_rule for one in known)


def _outside_row_rule(endpoint: Endpoint, named: str) -> Finding:
    message = Sentence(
        "Only a publisher may let %(endpoint)s create records outside its row rule. "
        "Switch “May create outside its rule” off, or ask a publisher.",
        endpoint=named,
    )
    place = "settings.may_create_outside_rule"
    return Finding(RULE, Severity.BLOCKING, message, endpoint.definition.key, place)


def _chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(ids), _CHUNK):
        yield ids[at : at + _CHUNK]
