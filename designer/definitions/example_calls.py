"""Calls that are kept with an endpoint, and what they should be answered."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field

from designer.definition import Definition, JsonValue, SetOf
from designer.names import USER_TYPE
from designer.sentences import Sentence

# What a shape says of a value; a text is one of these, and stands for a value of that type.
ANYTHING: Final = "anything"
SHAPE_TYPES: Final = ("string", "number", "boolean", ANYTHING)


def _in_one_order(value: Any) -> Any:
    """Databases and authors order the members of objects in their own ways: none of that is a change."""
    if isinstance(value, dict):
        return {name: _in_one_order(value[name]) for name in sorted(value)}
    return [_in_one_order(item) for item in value] if isinstance(value, list) else value


def _shape(shape: Any) -> Any:
    """Raises ValueError for what is no shape. None: nothing is said."""
    inner: list[Any] = []
    if isinstance(shape, dict):
        inner = list(shape.values())
    elif isinstance(shape, list) and len(shape) <= 1:
        inner = shape
    elif shape is not None and shape not in SHAPE_TYPES:
        raise ValueError(
            Sentence(
                "a shape is one of %(types)s, an object of shapes, or a list with the shape of its items",
                types=", ".join(SHAPE_TYPES),
            )
        )
    for part in inner:
        _shape(part)
    return shape


def _values(values: Any) -> Any:
    """Raises ValueError for a place that is none."""
    for place in values:
        if place and not place.startswith("/"):
            raise ValueError(
                Sentence(
                    "%(place)s is not a JSON Pointer. Write the place of a value in the answer, such as "
                    "/name or /data/0/name",
                    place=repr(place),
                )
            )
    return values


Json: TypeAlias = Annotated[JsonValue, AfterValidator(_in_one_order)]
Texts: TypeAlias = Annotated[dict[str, str], AfterValidator(_in_one_order)]
Members: TypeAlias = Annotated[dict[str, JsonValue], AfterValidator(_in_one_order)]
Shape: TypeAlias = Annotated[Json, AfterValidator(_shape)]
Values: TypeAlias = Annotated[Members, AfterValidator(_values)]


class ExampleCallDefinition(Definition):
    """A call as somebody has tried it, and what it should be answered.

    It is made without a token (`anonymous`), or as a caller of `caller_type` with `roles` and `claims`, who
    stands for the record `caller_record`. `record`, `file` and `related` are the ids in the path (`record`
    the value of a key, where one finds it), `query` and `headers` as sent, `body` as JSON; `method` empty:
    the endpoint's first.

    The answer should have `status`, all that `shape` names with a value of its type or null, and, by their
    JSON Pointers, exactly `values`. Whoever calls with a role of `refused_for` alone should be refused.
    """

    name: str = Field(min_length=1, max_length=100)
    anonymous: bool = False
    caller_type: str = USER_TYPE
    roles: SetOf[str] = ()
    caller_record: str = ""
    claims: Members = Field(default_factory=dict)
    method: str = ""
    record: str = ""
    file: str = ""
    related: str = ""
    query: Texts = Field(default_factory=dict)
    headers: Texts = Field(default_factory=dict)
    body: Json = None
    status: int = Field(ge=200, le=599)
    shape: Shape = None
    values: Values = Field(default_factory=dict)
    refused_for: SetOf[str] = ()


def _by_name(calls: tuple[ExampleCallDefinition, ...]) -> tuple[ExampleCallDefinition, ...]:
    """In one order, whoever wrote them. Raises ValueError for two of one name."""
    names = [call.name for call in calls]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(Sentence("two example calls are called “%(name)s”. Rename one", name=twice[0]))
    return tuple(sorted(calls, key=lambda call: call.name))


ExampleCalls: TypeAlias = Annotated[tuple[ExampleCallDefinition, ...], AfterValidator(_by_name)]
