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
from designer.definitions import AccessDefinition
from designer.definitions.row_rules import is_open, roles_of
from designer.history.refused import ChangeRefused
from designer.models import EndpointAccess, EndpointRole, PathAccess, Role
from designer.readiness.findings import Finding, Severity
from designer.sentences import Sentence

PERMISSION = "designer.change_write_access"
RULE = "write-access-right"

# Rows to a query: databases bound the parameters of one.
_CHUNK = 200
_COLUMNS = [
    *("authentication_required", "roles", "caller_types"),
    *("creates_outside_row_rule", "reaches_all_records", "all_records_roles"),
]

Place: TypeAlias = tuple[str, str]
# Pairs of row id and name.
Roles: TypeAlias = tuple[tuple[int, str], ...]


class WriteAccessRefused(ChangeRefused):
    """What was about to be done changes who may call what writes, which is for a publisher to do."""


@dataclass(frozen=True, slots=True)
class Access:
    """`roles` are pairs of row id and name. Without authentication there are none, nor `caller_types`.

    `reaches_all_records`: no row rule keeps anything from its callers. `all_records_roles` are those whose
    callers reach every record although a rule narrows what others reach. None where that is not known.
    """

    authentication_required: bool
    roles: Roles = ()
    caller_types: tuple[str, ...] = ()
    creates_outside_row_rule: bool = False
    reaches_all_records: bool | None = None
    all_records_roles: Roles | None = None

    @classmethod
    def of_row(cls, row: EndpointAccess | PathAccess) -> Access:
        all_records = row.all_records_roles
        return cls(
            row.authentication_required,
            tuple((id, name) for id, name in row.roles),
            tuple(row.caller_types),
            row.creates_outside_row_rule,
            row.reaches_all_records,
            None if all_records is None else tuple((id, name) for id, name in all_records),
        )

    @property
    def callers(self) -> tuple[bool, Roles]:
        return self.authentication_required, self.roles

    def is_within(self, other: Access) -> bool:
        """Whether the same roles may call, and no type of caller more."""
        return self.callers == other.callers and set(self.caller_types) <= set(other.caller_types)

    @property
    def definition(self) -> AccessDefinition:
        return AccessDefinition(
            authentication_required=self.authentication_required,
            roles=tuple(name for _, name in self.roles),
            caller_types=self.caller_types,
        )

    @property
    def columns(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in _COLUMNS}


def refusals(before: Configuration, now: Configuration) -> list[Finding]:
    """What of the change from `before` to `now` only a publisher may do.

    Who may call an enabled endpoint that writes is as when the endpoint, and its path, were last enabled; it
    may admit fewer types of caller. One
    that is enabled for the first time, at a path that never was, may be for any caller with a token. Nor does
    it begin to create records outside its row rule, and neither everyone nor the callers of a role come to
    reach all records where row rules narrowed that. What filters and expressions mean is not judged.

    Drafts are everyone's, but for what they reach past row rules: only a publisher says of any endpoint that
    this is meant.
    """
    past_rules = list(_acknowledgements(before, now))
    changed = {
        id: endpoint
        for id, endpoint in now.endpoints.items()
        if _is_gated(endpoint) and endpoint != before.endpoints.get(id)
    }
    if not changed:
        return past_rules
    known = _Known.of(changed)
    accesses = _accesses(changed)
    found = [
        refusal
        for id, endpoint in changed.items()
        if (
            refusal := _refusal(
                endpoint, before.endpoints.get(id), accesses[id], known.of_endpoint(id, endpoint)
            )
        )
    ]
    # Of one entity's rule, all of its endpoints say the same: once is enough.
    return [*past_rules, *{refusal.message: refusal for refusal in reversed(found)}.values()]


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
    reach = {id: _reach(endpoint) for id, endpoint in endpoints.items()}
    named = frozenset[str]().union(*(names for _, names in reach.values()))
    numbers = dict(Role.objects.filter(name__in=named).values_list("name", "id")) if named else {}
    found = {}
    for id, endpoint in endpoints.items():
        access = endpoint.definition.access
        required = access.authentication_required
        free = endpoint.definition.settings.creates_outside_row_rule
        types = access.caller_types if required else ()
        reaches_all, all_records = reach[id]
        found[id] = Access(
            required,
            tuple(roles[id]) if required else (),
            types,
            free,
            reaches_all,
            tuple((numbers[name], name) for name in sorted(all_records) if name in numbers),
        )
    return found


def _reach(endpoint: Endpoint) -> tuple[bool, frozenset[str]]:
    """Whether every caller reaches every record; if not, the roles whose callers do."""
    rule = endpoint.entity.row_rule if endpoint.entity is not None else ()
    # A rule of the endpoint's own narrows what anybody reaches by the entity's.
    if endpoint.definition.row_rule is not None:
        return False, frozenset()
    if is_open(rule):
        return True, frozenset()
    return False, roles_of(entry for entry in rule if entry.all_records)


def _refusal(
    endpoint: Endpoint, was: Endpoint | None, access: Access, known: Sequence[Access]
) -> Finding | None:
    last = next((one for one in known if not access.is_within(one)), None)
    named = f"{', '.join(endpoint.methods)} {endpoint.path}"
    if last is None and (known or access.authentication_required):
        if not _holds_as_before(access, known):
            return _outside_row_rule(endpoint, named)
        return _every_record(endpoint, was, access, known)
    if last is None:
        message = Sentence(
            "%(endpoint)s writes. Only a publisher may open it to callers without a token.", endpoint=named
        )
    else:
        message = Sentence(
            "%(endpoint)s writes, and only a publisher may change who calls it. "
            "When it was last enabled: %(before)s. Choose that again, or ask a publisher.",
            endpoint=named,
            before=callers(last.definition),
        )
    field = "roles" if access.authentication_required else "authentication_required"
    if last is not None and access.callers == last.callers:
        field = "caller_types"
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


def _every_record(
    endpoint: Endpoint, was: Endpoint | None, access: Access, known: Sequence[Access]
) -> Finding | None:
    """Why everyone, or callers with a role, may not come to reach every record. `was` is before the save."""
    narrowed = [one for one in known if one.reaches_all_records is False]
    noted = [set(one.all_records_roles) for one in narrowed if one.all_records_roles is not None]
    new = {role for before in noted for role in access.all_records_roles or () if role not in before}
    if not (new or (narrowed and access.reaches_all_records)):
        return None
    entity = endpoint.entity.key if endpoint.entity else ""
    place = "entity.row_rule"
    if was is not None and was.definition.row_rule is not None and endpoint.definition.row_rule is None:
        place = "row_rule"
        message = Sentence(
            "Only a publisher may remove the row rule of %(endpoint)s. Write a row rule again, or ask a "
            "publisher.",
            endpoint=f"{', '.join(endpoint.methods)} {endpoint.path}",
        )
    elif access.reaches_all_records:
        message = Sentence(
            "Only a publisher may let all callers reach every record of %(entity)s. Keep the entries of the "
            "row rule, or ask a publisher.",
            entity=entity,
        )
    else:
        message = Sentence(
            "Only a publisher may let callers with the role %(roles)s reach every record of %(entity)s. Keep "
            "the entries of the row rule, or ask a publisher.",
            roles=", ".join(sorted(name for _, name in new)),
            entity=entity,
        )
    return Finding(RULE, Severity.BLOCKING, message, endpoint.definition.key, place)


def _acknowledgements(before: Configuration, now: Configuration) -> Iterator[Finding]:
    """Those that have come."""
    by_key = {endpoint.definition.key: endpoint for endpoint in before.endpoints.values()}
    for id, endpoint in now.endpoints.items():
        definition = endpoint.definition
        if not definition.acknowledgements:
            continue
        was = before.endpoints.get(id) or by_key.get(definition.key)
        there = set(was.definition.acknowledgements) if was is not None else set()
        for one in definition.acknowledgements:
            if one not in there:
                message = Sentence(
                    "Only a publisher may acknowledge that %(endpoint)s reaches %(entity)s past its row "
                    "rule. Ask a publisher.",
                    endpoint=f"{', '.join(endpoint.methods)} {endpoint.path}",
                    entity=one.entity,
                )
                yield Finding(RULE, Severity.BLOCKING, message, definition.key, "acknowledgements")


def _chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(ids), _CHUNK):
        yield ids[at : at + _CHUNK]
