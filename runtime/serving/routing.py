"""From method and path to an endpoint: a dictionary, so that thousands of endpoints cost no more than ten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from designer.configuration import Configuration, Endpoint
from designer.following_endpoints import FollowingEndpoints

# Where a request's own values stand in a path's segments: the record's id and, under it, the id of a related
# record or of a file; or the value of a key, which is all that follows its name.
_RECORD = 4
_KEYS = "keys"
_KEY_VALUE = 6
_UNDER_RECORD = (("related", 6), ("file", 7))
_ANY = "*"

# What answers at a route of the API's own, which no configuration changes.
BuiltinView: TypeAlias = Callable[[HttpRequest], HttpResponseBase]


class Match(NamedTuple):
    """The endpoints at a path by method, and the values that stood in it.

    `record` is its id, or the value of its key.
    """

    endpoints: Mapping[str, int]
    record: str | None = None
    file: str | None = None
    related: str | None = None


class RoutingTable:
    """Paths of enabled endpoints. Immutable; `changed` makes the table of the next revision."""

    def __init__(
        self,
        paths: dict[str, Mapping[str, int]],
        claims: dict[str, tuple[int, ...]],
        shapes: dict[int, tuple[str, ...]],
    ) -> None:
        self._paths = paths
        # All endpoints at a path, also those that another wins over; and the paths of each endpoint.
        self._claims = claims
        self._shapes = shapes

    @classmethod
    def of(cls, configuration: Configuration) -> RoutingTable:
        return cls({}, {}, {}).changed(Configuration(configuration.revision), configuration)

    def changed(self, before: Configuration, after: Configuration) -> RoutingTable:
        """The table for `after`, made from this one, which is that of `before`."""
        old, new = before.endpoints, after.endpoints
        if isinstance(new, FollowingEndpoints) and new.follows(old):
            found = self._moved(new) if new.are_moved else self
            if found is not None:
                return found
        moved = [id for id, endpoint in old.items() if not _is_in_place(endpoint, new.get(id))]
        moved += [id for id in new if id not in old]
        if not moved:
            return self
        claims, shapes, touched = dict(self._claims), dict(self._shapes), set()
        for id in moved:
            for shape in shapes.pop(id, ()):
                claims[shape] = tuple(other for other in claims[shape] if other != id)
                touched.add(shape)
            endpoint = new.get(id)
            if endpoint is None or not endpoint.definition.enabled:
                continue
            own = shapes[id] = _shapes(endpoint)
            for shape in own:
                claims[shape] = (*claims.get(shape, ()), id)
            touched.update(own)
        paths = dict(self._paths)
        for shape in touched:
            methods: dict[str, int] = {}
            # The older endpoint stays: a later mistake must not take a live one down.
            for id in sorted(claims[shape], reverse=True):
                methods.update(dict.fromkeys(new[id].methods, id))
            if methods:
                paths[shape] = MappingProxyType(methods)
            else:
                paths.pop(shape, None)
                del claims[shape]
        return RoutingTable(paths, claims, shapes)

    def _moved(self, endpoints: FollowingEndpoints) -> RoutingTable | None:
        """The table in which each endpoint is at its new path; None where one would meet another there."""
        places: dict[str, str] = {}
        shapes = dict(self._shapes)
        moves = 0
        for id, own in self._shapes.items():
            now = _shapes_at(endpoints.path(id), has_items=len(own) > 1)
            if now != own:
                shapes[id] = now
                for shape, place in zip(own, now, strict=True):
                    moves += 1
                    if places.setdefault(shape, place) != place:
                        return None
        # All at one path move together.
        if moves != sum(len(self._claims[shape]) for shape in places):
            return None
        stays = {shape: ids for shape, ids in self._claims.items() if shape not in places}
        moved = {place: self._claims[shape] for shape, place in places.items()}
        if len(moved) < len(places) or not moved.keys().isdisjoint(stays):
            return None
        paths = {places.get(shape, shape): methods for shape, methods in self._paths.items()}
        return RoutingTable(paths, stays | moved, shapes)

    def ids(self) -> set[int]:
        """The endpoints that are served."""
        return {id for methods in self._paths.values() for id in methods.values()}

    def match(self, path: str) -> Match | None:
        """The endpoints at `path`; a trailing slash makes no difference."""
        if path.endswith("/"):
            path = path[:-1]
        found = self._paths.get(path)
        if found is not None:
            return Match(found)
        segments = path.split("/")
        if len(segments) <= _RECORD:
            return None
        if segments[_RECORD] == _KEYS and len(segments) > _KEY_VALUE:
            # Servers decode the path: a slash may be part of the value.
            found = self._paths.get("/".join([*segments[:_KEY_VALUE], _ANY]))
            if found is not None:
                return Match(found, "/".join(segments[_KEY_VALUE:]))
        record, segments[_RECORD] = segments[_RECORD], _ANY
        found = self._paths.get("/".join(segments))
        if found is not None:
            return Match(found, record)
        for name, place in _UNDER_RECORD:
            if len(segments) > place:
                value, segments[place] = segments[place], _ANY
                found = self._paths.get("/".join(segments))
                if found is not None:
                    return Match(found, record, **{name: value})
                segments[place] = value
        return None

    def is_readable(self, path: str) -> bool:
        """Whether `GET` is answered at `path`."""
        match = self.match(path)
        return match is not None and "GET" in match.endpoints


def _is_in_place(before: Endpoint, after: Endpoint | None) -> bool:
    """Whether nothing has changed of what decides where an endpoint is served."""
    if before is after:
        return True
    if after is None:
        return False
    old, new = before.definition, after.definition
    if old is not new and (
        old.kind != new.kind
        or old.module != new.module
        or old.segment != new.segment
        or old.name != new.name
        or old.enabled != new.enabled
        or old.settings != new.settings
    ):
        return False
    return before.entity is after.entity or before.segment == after.segment


def _shapes(endpoint: Endpoint) -> tuple[str, ...]:
    return _shapes_at(endpoint.path, has_items=endpoint.item_path is not None)


def _shapes_at(path: str, *, has_items: bool) -> tuple[str, ...]:
    own = path.replace("{id}", _ANY).replace("{relatedId}", _ANY).replace("{value}", _ANY)
    return (own, f"{own}/{_ANY}") if has_items else (own,)


class Builtin(NamedTuple):
    """The views of a route of the API's own by method. `path` may end in `{name}`."""

    path: str
    views: Mapping[str, BuiltinView]


_BUILTIN: dict[str, Builtin] = {}
# By the path of what a name stands under.
_NAMED: dict[str, Builtin] = {}
# Of those with one segment more behind the name, by the path with `_ANY` for the name.
_UNDER_NAME: dict[str, Builtin] = {}


def add_builtin(path: str, views: Mapping[str, BuiltinView]) -> None:
    """Answer at `path`, whose last segment or last but one may be `{name}`, with `views` by method.

    Rooms add their own when the app is ready, so that no request needs those of the others.
    """
    place, _, last = path.rpartition("/")
    if last == "{name}":
        _NAMED[place] = Builtin(path, views)
    elif "{name}" in path:
        _UNDER_NAME[path.replace("{name}", _ANY)] = Builtin(path, views)
    else:
        _BUILTIN[path] = Builtin(path, views)


def builtin_at(path: str) -> Builtin | None:
    """The route of the API's own at `path`; a trailing slash makes no difference."""
    if path.endswith("/"):
        path = path[:-1]
    place, _, last = path.rpartition("/")
    found = _BUILTIN.get(path) or _NAMED.get(place)
    if found is None and _UNDER_NAME:
        found = _UNDER_NAME.get(f"{place.rpartition('/')[0]}/{_ANY}/{last}")
    return found
