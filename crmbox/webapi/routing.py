"""From a path to its handler. A module adds handlers by decorating them, and a line in `handlers.py`.

By shape, for paths that begin with an entity set; the handler gets the request and a `Target`:

    @on(Shape.COLLECTION, "GET")
    def query(request: Request, target: Target) -> Response: …

By name, for paths that begin with a word of the protocol (`$metadata`, `EntityDefinitions`, `WhoAmI`); the
handler reads the rest of the path itself:

    @named("EntityDefinitions", "GET", "POST")
    def entity_definitions(request: Request) -> Response: …

What no handler answers is a 501 that names itself. Handlers raise WebApiError, or what `Platform` raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from crmbox.webapi.errors import WebApiError, bad_url, no_resource, unsupported
from crmbox.webapi.model import NAMESPACE, EntityType
from crmbox.webapi.paths import Argument, Segment
from crmbox.webapi.privileges import refuse_denied
from crmbox.webapi.request import Request, Response


class Shape(str, Enum):
    """The shape of a path below an entity set. Each sets other fields of `Target`."""

    COLLECTION = "a collection"  # accounts
    COUNT = "$count of a collection"  # accounts/$count
    RECORD = "a record"  # accounts(key)
    PROPERTY = "a property"  # accounts(key)/name
    PROPERTY_VALUE = "the $value of a property"  # accounts(key)/name/$value
    LINK = "a lookup's record"  # accounts(key)/primarycontactid
    LINK_REF = "$ref of a lookup"  # accounts(key)/primarycontactid/$ref
    LINKS = "a related collection"  # accounts(key)/contact_customer_accounts
    LINKS_COUNT = "$count of a related collection"  # …/$count
    LINKS_REF = "$ref of a related collection"  # …/$ref
    MEMBER_REF = "$ref of a related record"  # …(key)/$ref
    OPERATION = (
        "a bound operation"  # accounts(key)/Microsoft.Dynamics.CRM.X, accounts/Microsoft.Dynamics.CRM.X
    )


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a path below an entity set.

    `key` is that of the record; `name` is the property, navigation property or operation as written. `member`
    is the key of a related record; `arguments` are those of an operation.
    """

    shape: Shape
    type: EntityType
    key: tuple[Argument, ...] = ()
    name: str = ""
    member: tuple[Argument, ...] = ()
    arguments: tuple[Argument, ...] | None = None


ShapeHandler: TypeAlias = Callable[[Request, Target], Response]
NamedHandler: TypeAlias = Callable[[Request], Response]

_by_shape: dict[tuple[Shape, str], ShapeHandler] = {}
_by_name: dict[str, dict[str, NamedHandler]] = {}
_unbound: list[NamedHandler] = []
"""The handler that `unbound` has registered: at most one."""


def on(shape: Shape, *methods: str) -> Callable[[ShapeHandler], ShapeHandler]:
    """Register a handler for a shape of path."""

    def register(handler: ShapeHandler) -> ShapeHandler:
        for method in methods:
            _by_shape[shape, method] = handler
        return handler

    return register


def named(name: str, *methods: str) -> Callable[[NamedHandler], NamedHandler]:
    """Register a handler for every path whose first segment is `name`, with or without parentheses."""

    def register(handler: NamedHandler) -> NamedHandler:
        _by_name.setdefault(name, {}).update(dict.fromkeys(methods, handler))
        return handler

    return register


def unbound(handler: NamedHandler) -> NamedHandler:
    """Register the handler of a single segment that is neither a name nor a set: a process."""
    _unbound.append(handler)
    return handler


def dispatch(request: Request) -> Response:
    """Answer a request. Raises WebApiError, and what `Platform` raises."""
    refuse_denied(request)
    if not request.path:
        return _handle_named(request, "")
    first = request.path[0]
    if first.name in _by_name:
        return _handle_named(request, first.name)
    if first.name not in request.model.sets:
        if len(request.path) == 1 and _unbound:
            return _unbound[0](request)
        raise no_resource(first.name)
    target = target_of(request)
    handler = _by_shape.get((target.shape, request.method))
    if handler is None:
        raise _refusal(request, target.shape)
    return handler(request, target)


def _handle_named(request: Request, name: str) -> Response:
    """Answer a request for the named resource. Raises WebApiError for a method that it does not have."""
    handlers = _by_name.get(name, {})
    handler = handlers.get(request.method)
    if handler is None:
        raise unsupported(f"{request.method} {name or 'the service document'}")
    return handler(request)


def target_of(request: Request) -> Target:
    """Return the target of a path below an entity set. Raises WebApiError."""
    first, *rest = request.path
    type_ = request.model.entity_type_of_set(first.name)
    if first.arguments is None:
        return _target_of_set(type_, rest)
    if not first.arguments:
        raise bad_url(f"Empty parentheses after '{first.name}': a key is needed.")
    if not rest:
        return Target(Shape.RECORD, type_, first.arguments)
    return _target_of_record(type_, first.arguments, rest)


def _target_of_set(type_: EntityType, rest: list[Segment]) -> Target:
    """Return what a path to an entity set, without a key, leads to."""
    if not rest:
        return Target(Shape.COLLECTION, type_)
    segment = rest[0]
    if len(rest) == 1 and segment.name == "$count":
        return Target(Shape.COUNT, type_)
    if len(rest) == 1 and segment.name.startswith(f"{NAMESPACE}."):
        return _operation(type_, (), segment)
    raise no_resource(segment.name)


def _target_of_record(type_: EntityType, key: tuple[Argument, ...], rest: list[Segment]) -> Target:
    """Return what a path leads to that goes on behind a record's key. Raises WebApiError."""
    segment, tail = rest[0], [item.name for item in rest[1:]]
    name = segment.name
    if name.startswith(f"{NAMESPACE}.") and not tail:
        return _operation(type_, key, segment)
    # By the segments that may follow the first.
    shapes: dict[tuple[str, ...], Shape] = {}
    if name in type_.lookups:
        shapes = {(): Shape.LINK, ("$ref",): Shape.LINK_REF}
    elif name in type_.collections:
        if segment.arguments:
            shapes = {("$ref",): Shape.MEMBER_REF}
        else:
            shapes = {
                (): Shape.LINKS,
                ("$count",): Shape.LINKS_COUNT,
                ("$ref",): Shape.LINKS_REF,
            }
    elif name in type_.properties:
        shapes = {(): Shape.PROPERTY, ("$value",): Shape.PROPERTY_VALUE}
    shape = shapes.get(tuple(tail))
    if shape is None:
        raise no_resource(rest[-1].name if shapes else name)
    return Target(shape=shape, type=type_, key=key, name=name, member=segment.arguments or ())


def _operation(type_: EntityType, key: tuple[Argument, ...], segment: Segment) -> Target:
    """Return the target for an operation that is bound to a record or, without a `key`, to a collection."""
    name = segment.name.removeprefix(f"{NAMESPACE}.")
    return Target(Shape.OPERATION, type_, key, name, arguments=segment.arguments)


def _refusal(request: Request, shape: Shape) -> WebApiError:
    """Return the error for a method that is not handled: 405 where Dataverse answers that, else 501."""
    if shape is Shape.COLLECTION and request.method in ("PATCH", "PUT", "DELETE"):
        return WebApiError(
            405,
            "0x80060888",
            f"The requested resource does not support http method '{request.method}'.",
        )
    return unsupported(f"{request.method} on {shape.value}")
