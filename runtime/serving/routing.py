"""From method and path to an endpoint: a dictionary, so that thousands of endpoints cost no more than ten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from designer.configuration import Configuration, Endpoint

# Where a request's own values stand in a path's segments: the record's id and, under it, the id of a related
# record or of a file.
_RECORD = 4
_UNDER_RECORD = (("related", 6), ("file", 7))
_ANY = "*"

# What answers at a route of the API's own, which no configuration changes.
BuiltinView: TypeAlias = Callable[[HttpRequest], HttpResponseBase]


class Match(NamedTuple):
    """The endpoints at a path by method, and the values that stood in it."""

    endpoints: Mapping[str, int]
    record: str | None = None
    file: str | None = None
    related: str | None = None


class RoutingTable:
    """Paths of enabled endpoints. Immutable; `changed` makes the table of the next revision."""

    def __init__(self, paths: dict[str, Mapping[str, int]]) -> None:
        self._paths = paths

    @classmethod
    def of(cls, configuration: Configuration) -> RoutingTable:
        table = cls({})
        table._add(configuration.endpoints.items())
        return table

    def changed(self, before: Configuration, after: Configuration) -> RoutingTable:
        """The table for `after`, made from this one, which is that of `before`."""
        old, new = before.endpoints, after.endpoints
        gone = [id for id, endpoint in old.items() if new.get(id) is not endpoint]
        paths = dict(self._paths)
        touched = {shape for id in gone for shape in _shapes(old[id])}
        for path in touched:
            paths.pop(path, None)
        table = RoutingTable(paths)
        # A path that lost an endpoint may still have others, and one that clashed may win now.
        table._add(
            (id, endpoint)
            for id, endpoint in new.items()
            if old.get(id) is not endpoint or not touched.isdisjoint(_shapes(endpoint))
        )
        return table

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

    def _add(self, endpoints: Iterable[tuple[int, Endpoint]]) -> None:
        for id, endpoint in endpoints:
            if not endpoint.definition.enabled:
                continue
            for shape in _shapes(endpoint):
                methods = dict(self._paths.get(shape, {}))
                for method in endpoint.methods:
                    # The older endpoint stays: a later mistake must not take a live one down.
                    methods[method] = min(id, methods.get(method, id))
                self._paths[shape] = MappingProxyType(methods)


def _shapes(endpoint: Endpoint) -> tuple[str, ...]:
    own = endpoint.path.replace("{id}", _ANY).replace("{relatedId}", _ANY)
    return (own, f"{own}/{_ANY}") if endpoint.item_path else (own,)


_BUILTIN: dict[str, Mapping[str, BuiltinView]] = {}
# By the path of what a name stands under.
_NAMED: dict[str, Mapping[str, BuiltinView]] = {}


def add_builtin(path: str, views: Mapping[str, BuiltinView]) -> None:
    """Answer at `path`, whose last segment may be `{name}`, with `views` by method.

    Rooms add their own when the app is ready, so that no request needs those of the others.
    """
    place, _, last = path.rpartition("/")
    if last == "{name}":
        _NAMED[place] = views
    else:
        _BUILTIN[path] = views


def builtin_at(path: str) -> Mapping[str, BuiltinView] | None:
    """The views at `path` by method; a trailing slash makes no difference."""
    if path.endswith("/"):
        path = path[:-1]
    return _BUILTIN.get(path) or _NAMED.get(path.rpartition("/")[0])
