"""Who could call each endpoint that writes, when it was last enabled: kept by endpoint and by path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from designer.configuration import Configuration, Endpoint
from designer.definitions import AccessDefinition
from designer.definitions.row_rules import RowRuleEntry, is_open, roles_of
from designer.models import EndpointAccess, EndpointRole, PathAccess, Role
from designer.query_chunks import CHUNK, chunks

# Columns that rows of endpoints and of paths have in common.
_COLUMNS = [
    *("authentication_required", "roles", "caller_types"),
    *("creates_outside_row_rule", "reaches_all_records", "all_records_roles"),
]

# A method and a path.
Place: TypeAlias = tuple[str, str]
# Pairs of row id and name.
Roles: TypeAlias = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call an endpoint, and which records its callers reach.

    `roles` are pairs of row id and name. Without authentication, `roles` and `caller_types` are empty.
    `reaches_all_records`: no row rule hides records from any caller. `all_records_roles`: the roles whose
    callers reach every record, although a row rule hides records from others. Both are None when not known.
    """

    authentication_required: bool
    roles: Roles = ()
    caller_types: tuple[str, ...] = ()
    creates_outside_row_rule: bool = False
    reaches_all_records: bool | None = None
    all_records_roles: Roles | None = None

    @classmethod
    def of_row(cls, row: EndpointAccess | PathAccess) -> Access:
        """Return the access that a row stores. JSON holds lists where an access has tuples."""
        all_records = row.all_records_roles
        return cls(
            authentication_required=row.authentication_required,
            roles=tuple((id, name) for id, name in row.roles),
            caller_types=tuple(row.caller_types),
            creates_outside_row_rule=row.creates_outside_row_rule,
            reaches_all_records=row.reaches_all_records,
            all_records_roles=None if all_records is None else tuple((id, name) for id, name in all_records),
        )

    @property
    def callers(self) -> tuple[bool, Roles]:
        """Whether callers need a token, and the roles that they need."""
        return self.authentication_required, self.roles

    def is_within(self, other: Access) -> bool:
        """Whether the same roles may call as in `other`, and no further types of caller."""
        return self.callers == other.callers and set(self.caller_types) <= set(other.caller_types)

    @property
    def definition(self) -> AccessDefinition:
        """The access as it is in an endpoint's definition, for words about it."""
        return AccessDefinition(
            authentication_required=self.authentication_required,
            roles=tuple(name for _, name in self.roles),
            caller_types=self.caller_types,
        )

    @property
    def columns(self) -> dict[str, object]:
        """The columns of a row that stores the access."""
        return {name: getattr(self, name) for name in _COLUMNS}


def remember(now: Configuration, since: Configuration | None = None) -> None:
    """Keep who may call each enabled endpoint that writes, by endpoint and by path.

    With `since`, of which all has been kept before, only what has changed after it is looked at.
    """
    gated = {id: endpoint for id, endpoint in now.endpoints.items() if is_gated(endpoint)}
    # Accesses name roles by their row ids, so other roles may change any of them.
    if since is None or not _has_same_roles(since, now):
        removed_ids = [
            id for id in EndpointAccess.objects.values_list("endpoint", flat=True) if id not in now.endpoints
        ]
    else:
        removed_ids = [id for id in since.endpoints if id not in now.endpoints]
        unchanged = {
            id
            for id, endpoint in now.endpoints.items()
            if _admits_as_before(endpoint, since.endpoints.get(id))
        }
        # The access that is kept for such a place may be that of an endpoint that has left it. If an
        # unchanged endpoint is there, too, the place gets the access of that one.
        left_places = {
            place
            for id, endpoint in since.endpoints.items()
            if id not in unchanged
            for place in _places(endpoint)
        }
        gated = {
            id: endpoint
            for id, endpoint in gated.items()
            if id not in unchanged or not left_places.isdisjoint(_places(endpoint))
        }
    accesses, stored = accesses_now(gated), LastEnabled.of(gated)
    EndpointAccess.objects.bulk_create(
        [
            EndpointAccess(endpoint=id, **access.columns)
            for id, access in accesses.items()
            if stored.by_endpoint.get(id) != access
        ],
        batch_size=CHUNK,
        update_conflicts=True,
        unique_fields=["endpoint"],
        update_fields=_COLUMNS,
    )
    for ids in chunks(removed_ids):
        EndpointAccess.objects.filter(endpoint__in=ids).delete()
    # Where two endpoints claim one place, readiness blocks both; the last is kept.
    by_place = {place: accesses[id] for id, endpoint in gated.items() for place in _places(endpoint)}
    PathAccess.objects.bulk_create(
        [
            PathAccess(method=method, path=path, **access.columns)
            for (method, path), access in by_place.items()
            if stored.by_place.get((method, path)) != access
        ],
        batch_size=CHUNK,
        update_conflicts=True,
        unique_fields=["method", "path"],
        update_fields=_COLUMNS,
    )


def _has_same_roles(since: Configuration, now: Configuration) -> bool:
    """Whether each role is the one that it was, by row id: one that was made anew has another."""
    before, after = since.ids, now.ids
    if before is None or after is None:
        return False
    names_before, names_after = ({id: role.name for id, role in ids.roles.items()} for ids in (before, after))
    return names_before == names_after


def _admits_as_before(endpoint: Endpoint, earlier: Endpoint | None) -> bool:
    """Whether `endpoint` has the callers, records and places that it had as `earlier`, None if it is new.

    Another title of the entity or of the module makes another endpoint, and changes none of these.
    """
    if earlier is None or endpoint.definition != earlier.definition or endpoint.path != earlier.path:
        return False
    return _entity_rule(endpoint) == _entity_rule(earlier)


def _entity_rule(endpoint: Endpoint) -> tuple[RowRuleEntry, ...]:
    """Return the row rule of the entity that the endpoint belongs to; none where it belongs to none."""
    return endpoint.entity.row_rule if endpoint.entity is not None else ()


@dataclass(frozen=True, slots=True)
class LastEnabled:
    """Who could call when some endpoints, and the places (method and path) they are at, were last enabled."""

    by_endpoint: Mapping[int, Access]
    by_place: Mapping[Place, Access]

    @classmethod
    def of(cls, endpoints: Mapping[int, Endpoint]) -> LastEnabled:
        """Read the accesses of `endpoints`, by their row ids."""
        by_endpoint: dict[int, Access] = {}
        by_place: dict[Place, Access] = {}
        for ids in chunks(list(endpoints)):
            for row in EndpointAccess.objects.filter(endpoint__in=ids):
                by_endpoint[row.endpoint] = Access.of_row(row)
            for path_row in PathAccess.objects.filter(path__in={endpoints[id].path for id in ids}):
                by_place[path_row.method, path_row.path] = Access.of_row(path_row)
        return cls(by_endpoint, by_place)

    def of_endpoint(self, id: int, endpoint: Endpoint) -> list[Access]:
        """Return the last access of the endpoint, then those of its places."""
        accesses = [self.by_endpoint.get(id), *(self.by_place.get(place) for place in _places(endpoint))]
        return [access for access in accesses if access is not None]


def is_gated(endpoint: Endpoint) -> bool:
    """Whether only a publisher may change who calls the endpoint: it is enabled, and it writes."""
    # An endpoint whose rows cannot be read counts, too: to repair it must not be a way around the check.
    return endpoint.definition.enabled and endpoint.kind.writes


def _places(endpoint: Endpoint) -> Iterator[Place]:
    """Yield the places of an endpoint: each of its methods, with its path."""
    for method in endpoint.methods:
        yield method, endpoint.path


def accesses_now(endpoints: Mapping[int, Endpoint]) -> dict[int, Access]:
    """Return who may call each endpoint now, by row id."""
    roles: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for ids in chunks(list(endpoints)):
        granted = EndpointRole.objects.filter(endpoint__in=ids).order_by("role__name")
        for id, role, name in granted.values_list("endpoint_id", "role_id", "role__name"):
            roles[id].append((role, name))
    reach = {id: _reach(endpoint) for id, endpoint in endpoints.items()}
    named = frozenset[str]().union(*(names for _, names in reach.values()))
    role_ids = dict(Role.objects.filter(name__in=named).values_list("name", "id")) if named else {}
    accesses = {}
    for id, endpoint in endpoints.items():
        access = endpoint.definition.access
        required = access.authentication_required
        types = access.caller_types if required else ()
        reaches_all, all_records = reach[id]
        accesses[id] = Access(
            authentication_required=required,
            roles=tuple(roles[id]) if required else (),
            caller_types=types,
            creates_outside_row_rule=endpoint.definition.settings.creates_outside_row_rule,
            reaches_all_records=reaches_all,
            all_records_roles=tuple(
                (role_ids[name], name) for name in sorted(all_records) if name in role_ids
            ),
        )
    return accesses


def _reach(endpoint: Endpoint) -> tuple[bool, frozenset[str]]:
    """Whether every caller reaches every record; if not, the roles whose callers do."""
    rule = _entity_rule(endpoint)
    # The endpoint's own row rule applies on top of the entity's, to every caller.
    if endpoint.definition.row_rule is not None:
        return False, frozenset()
    if is_open(rule):
        return True, frozenset()
    return False, roles_of(entry for entry in rule if entry.all_records)
