"""Finds the endpoint of a method and path in a dictionary, so that thousands of endpoints cost no more
than ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from designer.configuration import Configuration, Endpoint
from designer.endpoint_facts.following_endpoints import FollowingEndpoints

# Positions of a request's own values among the segments of its path, which are empty, `api`, the module, the
# endpoint's segment, and then: `{id}`; `{id}/{name}/{relatedId}`; `{id}/files/{name}/{fileId}`; or
# `keys/{name}/{value}`, where the value is all that follows the key's name.
_RECORD = 4
_KEYS = "keys"
_KEY_VALUE = 6
_UNDER_RECORD = (("related", 6), ("file", 7))
_ANY = "*"

# A view at a built-in route of the API, which no configuration changes.
BuiltinView: TypeAlias = Callable[[HttpRequest], HttpResponseBase]


class Match(NamedTuple):
    """The endpoints at a path by method, and the values in the path.

    `record` is the id of a record, or the value of its key.
    """

    endpoints: Mapping[str, int]
    record: str | None = None
    file: str | None = None
    related: str | None = None


class RoutingTable:
    """The paths of enabled endpoints. A table never changes: `changed` returns the table of the next
    revision.

    `paths` has the ids of endpoints by shape and method. A shape is a path with `*` for the values in it.
    """

    def __init__(
        self,
        paths: dict[str, Mapping[str, int]],
        claims: dict[str, tuple[int, ...]],
        shapes: dict[int, tuple[str, ...]],
    ) -> None:
        self._paths = paths
        # By shape, the ids of all enabled endpoints that claim it, although only one serves each method; and
        # by id, the shapes that an endpoint claims. An endpoint with items has two.
        self._claims = claims
        self._shapes = shapes

    @classmethod
    def of(cls, configuration: Configuration) -> RoutingTable:
        """Return the table for a configuration."""
        return cls({}, {}, {}).changed(Configuration(configuration.revision), configuration)

    def changed(self, before: Configuration, after: Configuration) -> RoutingTable:
        """Return the table for `after`.

        This table is the one for `before`. Only the paths are worked out anew that an endpoint which has
        changed claims now or has claimed before.
        """
        old, new = before.endpoints, after.endpoints
        if isinstance(new, FollowingEndpoints) and new.follows(old):
            # No endpoint has come or gone. Only something that endpoints share has changed.
            table = self._moved(new) if new.are_moved else self
            if table is not None:
                return table
        changed_ids = [id for id, endpoint in old.items() if not _is_in_place(endpoint, new.get(id))]
        changed_ids += [id for id in new if id not in old]
        if not changed_ids:
            return self
        claims, shapes, changed_shapes = self._updated_claims(changed_ids, new)
        paths = dict(self._paths)
        for shape in changed_shapes:
            methods = _by_method(claims[shape], new)
            if methods:
                paths[shape] = MappingProxyType(methods)
            else:
                paths.pop(shape, None)
                del claims[shape]
        return RoutingTable(paths, claims, shapes)

    def _updated_claims(
        self, changed_ids: Iterable[int], endpoints: Mapping[int, Endpoint]
    ) -> tuple[dict[str, tuple[int, ...]], dict[int, tuple[str, ...]], set[str]]:
        """Return copies of `_claims` and `_shapes` in which the endpoints `changed_ids` claim the paths that
        they have in `endpoints`, and no others; and the shapes whose claims have changed. A changed shape may
        have no claims left.
        """
        claims, shapes, changed_shapes = dict(self._claims), dict(self._shapes), set[str]()
        for id in changed_ids:
            for shape in shapes.pop(id, ()):
                claims[shape] = tuple(other for other in claims[shape] if other != id)
                changed_shapes.add(shape)
            endpoint = endpoints.get(id)
            if endpoint is None or not endpoint.definition.enabled:
                continue
            new_shapes = shapes[id] = _shapes_of(endpoint)
            for shape in new_shapes:
                claims[shape] = (*claims.get(shape, ()), id)
            changed_shapes.update(new_shapes)
        return claims, shapes, changed_shapes

    def _moved(self, endpoints: FollowingEndpoints) -> RoutingTable | None:
        """Return the table after endpoints have moved to new paths and nothing else has changed.

        This is the fast way after an edit of something that endpoints share, such as a module's segment.
        Return None when endpoints of one old path part, or meet other endpoints at a new path: `changed` then
        works the paths out one by one.
        """
        # An endpoint with items has two shapes, before and afterwards.
        moved_shapes = {
            id: new_shapes
            for id, old_shapes in self._shapes.items()
            if (new_shapes := _shapes_at(endpoints.path(id), has_items=len(old_shapes) > 1)) != old_shapes
        }
        moves = [
            move
            for id, new_shapes in moved_shapes.items()
            for move in zip(self._shapes[id], new_shapes, strict=True)
        ]
        new_shape_of = dict(moves)
        if any(new_shape_of[old] != new for old, new in moves):
            # Endpoints of one old path part.
            return None
        if len(moves) != sum(len(self._claims[old]) for old in new_shape_of):
            # An endpoint stays at an old path, and parts from those that move.
            return None
        staying = {shape: ids for shape, ids in self._claims.items() if shape not in new_shape_of}
        moved = {new: self._claims[old] for old, new in new_shape_of.items()}
        if len(moved) < len(new_shape_of) or not moved.keys().isdisjoint(staying):
            # Endpoints of two old paths meet at a new one, or meet endpoints that stay.
            return None
        paths = {new_shape_of.get(shape, shape): methods for shape, methods in self._paths.items()}
        return RoutingTable(paths, staying | moved, self._shapes | moved_shapes)

    def ids(self) -> set[int]:
        """Return the ids of the endpoints that are served."""
        return {id for methods in self._paths.values() for id in methods.values()}

    def match(self, path: str) -> Match | None:
        """Return the endpoints at `path`; None without any. A trailing slash makes no difference."""
        if path.endswith("/"):
            path = path[:-1]
        endpoints = self._paths.get(path)
        if endpoints is not None:
            return Match(endpoints)
        segments = path.split("/")
        if len(segments) <= _RECORD:
            return None
        if segments[_RECORD] == _KEYS and len(segments) > _KEY_VALUE:
            # Servers decode the path: a slash may be part of the value.
            endpoints = self._paths.get("/".join([*segments[:_KEY_VALUE], _ANY]))
            if endpoints is not None:
                return Match(endpoints, "/".join(segments[_KEY_VALUE:]))
        record, segments[_RECORD] = segments[_RECORD], _ANY
        endpoints = self._paths.get("/".join(segments))
        if endpoints is not None:
            return Match(endpoints, record)
        for name, place in _UNDER_RECORD:
            if len(segments) > place:
                value, segments[place] = segments[place], _ANY
                endpoints = self._paths.get("/".join(segments))
                if endpoints is not None:
                    return Match(endpoints, record, **{name: value})
                segments[place] = value
        return None

    def is_readable(self, path: str) -> bool:
        """Whether `GET` is answered at `path`."""
        match = self.match(path)
        return match is not None and "GET" in match.endpoints


def _by_method(ids: Iterable[int], endpoints: Mapping[int, Endpoint]) -> dict[str, int]:
    """Return by method which of the endpoints `ids` serves it: the one with the lowest id.

    A new endpoint that claims the same path by mistake must not replace a live one.
    """
    by_method: dict[str, int] = {}
    for id in sorted(ids, reverse=True):
        by_method.update(dict.fromkeys(endpoints[id].methods, id))
    return by_method


def _is_in_place(before: Endpoint, after: Endpoint | None) -> bool:
    """Whether the endpoint is still served at the same path and methods, as far as its definition tells."""
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
    # An endpoint without a segment of its own takes that of its exposed entity.
    return before.entity is after.entity or before.segment == after.segment


def _shapes_of(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the shapes of an endpoint's paths; see `_shapes_at`."""
    return _shapes_at(endpoint.path, has_items=endpoint.item_path is not None)


def _shapes_at(path: str, *, has_items: bool) -> tuple[str, ...]:
    """Return the path with `*` for its values and, with items, the path of one item."""
    shape = path.replace("{id}", _ANY).replace("{relatedId}", _ANY).replace("{value}", _ANY)
    return (shape, f"{shape}/{_ANY}") if has_items else (shape,)


class Builtin(NamedTuple):
    """A built-in route: its path, which may contain `{name}`, and its views by method."""

    path: str
    views: Mapping[str, BuiltinView]


_BUILTIN: dict[str, Builtin] = {}
# Routes that end in `{name}`, by the path before it.
_NAMED: dict[str, Builtin] = {}
# Routes with one more segment after `{name}`, by the path with `_ANY` for the name.
_UNDER_NAME: dict[str, Builtin] = {}


def add_builtin(path: str, views: Mapping[str, BuiltinView]) -> None:
    """Serve `views`, by method, at `path`. Its last segment, or the last but one, may be `{name}`.

    Packages add their own routes when the app is ready, so that this module need not import them.
    """
    place, _, last = path.rpartition("/")
    if last == "{name}":
        _NAMED[place] = Builtin(path, views)
    elif "{name}" in path:
        _UNDER_NAME[path.replace("{name}", _ANY)] = Builtin(path, views)
    else:
        _BUILTIN[path] = Builtin(path, views)


def builtin_at(path: str) -> Builtin | None:
    """Return the built-in route at `path`; None without one. A trailing slash makes no difference."""
    if path.endswith("/"):
        path = path[:-1]
    place, _, last = path.rpartition("/")
    builtin = _BUILTIN.get(path) or _NAMED.get(place)
    if builtin is None and _UNDER_NAME:
        before_name = place.rpartition("/")[0]
        builtin = _UNDER_NAME.get(f"{before_name}/{_ANY}/{last}")
    return builtin
