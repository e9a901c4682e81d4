"""Calls that are kept with an endpoint, and what they should be answered."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from designer.definition import Definition, JsonValue, SetOf
from designer.names import USER_TYPE
from designer.sentences import Sentence

# What a shape says of a value; a text is one of these, and stands for a value of that type.
ANYTHING: Final = "anything"
SHAPE_TYPES: Final = ("string", "number", "boolean", ANYTHING)
# In bytes. Files are made up each time the calls are made; more than the usual limit of uploads, so that a
# call can show that a file is refused as too large.
LARGEST_SAMPLE: Final = 16 * 1024 * 1024


def _in_one_order(value: Any) -> Any:
    """Sort the members of objects: databases and authors order them differently, which is not a change."""
    if isinstance(value, dict):
        return {name: _in_one_order(value[name]) for name in sorted(value)}
    return [_in_one_order(item) for item in value] if isinstance(value, list) else value


def _checked_shape(shape: Any) -> Any:
    """Return a shape as it is. None expects nothing. Raises ValueError for a wrong shape."""
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
        _checked_shape(part)
    return shape


def _checked_values(values: Any) -> Any:
    """Return the values as they are. Raises ValueError when one of their keys is no JSON Pointer."""
    for pointer in values:
        if pointer and not pointer.startswith("/"):
            raise ValueError(
                Sentence(
                    "%(place)s is not a JSON Pointer. Write the place of a value in the answer, such as "
                    "/name or /data/0/name",
                    place=repr(pointer),
                )
            )
    return values


Json: TypeAlias = Annotated[JsonValue, AfterValidator(_in_one_order)]
Texts: TypeAlias = Annotated[dict[str, str], AfterValidator(_in_one_order)]
Members: TypeAlias = Annotated[dict[str, JsonValue], AfterValidator(_in_one_order)]
Shape: TypeAlias = Annotated[Json, AfterValidator(_checked_shape)]
Values: TypeAlias = Annotated[Members, AfterValidator(_checked_values)]


class SampleFileDefinition(Definition):
    """A file that an example call sends. Its `size` bytes are made up; the first show its content type."""

    name: str = Field(min_length=1, max_length=255)
    content_type: str = Field("", max_length=255)
    size: int = Field(ge=0, le=LARGEST_SAMPLE)


class ExampleCallDefinition(Definition):
    """A call of an endpoint, and the answer that is expected.

    The call is made without a token (`anonymous`), or as a caller of the type `caller_type` with `roles` and
    `claims`, whose record is `caller_record`. `method` empty: the endpoint's first. `record`, `file` and
    `related` are the ids in the path; `record` is the value of an alternate key where the path has one.
    `query` and `headers` are texts by name. `body` is sent as JSON, or `upload` instead of it.

    The answer should have the status `status`; everything that `shape` names, with a value of its type or
    null; and exactly the `values`, by their JSON Pointers. A caller whose only role is one of `refused_for`
    should be refused.
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
    upload: SampleFileDefinition | None = None
    status: int = Field(ge=200, le=599)
    shape: Shape = None
    values: Values = Field(default_factory=dict)
    refused_for: SetOf[str] = ()

    @model_validator(mode="after")
    def _has_one_body(self) -> ExampleCallDefinition:
        """Refuse a call that sends JSON and a file."""
        if self.body is not None and self.upload is not None:
            raise ValueError(Sentence("a call sends either “body” or “upload”. Remove one of the two"))
        return self


def _by_name(calls: tuple[ExampleCallDefinition, ...]) -> tuple[ExampleCallDefinition, ...]:
    """Sort example calls by name. Raises ValueError when two have the same name."""
    names = [call.name for call in calls]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(Sentence("two example calls are called “%(name)s”. Rename one", name=twice[0]))
    return tuple(sorted(calls, key=lambda call: call.name))


ExampleCalls: TypeAlias = Annotated[tuple[ExampleCallDefinition, ...], AfterValidator(_by_name)]
