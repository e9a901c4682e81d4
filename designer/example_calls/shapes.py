"""The shape of an answer: which values it has, of which types, and nobody's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from designer.definitions.example_calls import ANYTHING
from designer.sentences import Sentence

_ARTICLES = {
    "string": Sentence("a string"),
    "number": Sentence("a number"),
    "boolean": Sentence("true or false"),
    "object": Sentence("an object"),
    "list": Sentence("a list"),
    "null": Sentence("null"),
}


def shape_of(value: Any) -> Any:
    """Return the shape of a JSON value: a type name, or an object or list of shapes.

    A list has at most one item, the shape that all its items share. The shape of null is ANYTHING.
    """
    if isinstance(value, Mapping):
        return {name: shape_of(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_common_shape([shape_of(item) for item in value])] if value else []
    return ANYTHING if value is None else _json_type(value)


def shape_differences(shape: Any, value: Any, place: str = "") -> Iterator[Sentence]:
    """Yield a sentence for each difference between `value` and `shape`.

    The value may have more members than the shape, and null anywhere. `place` is its JSON Pointer.
    """
    if shape is None or shape == ANYTHING or value is None:
        return
    expected = "object" if isinstance(shape, Mapping) else "list" if isinstance(shape, list) else shape
    if _json_type(value) != expected:
        yield Sentence(
            "%(place)s is %(type)s, not %(expected)s.",
            place=_place_or_answer(place),
            type=_ARTICLES[_json_type(value)],
            expected=_ARTICLES[expected],
        )
    elif isinstance(shape, Mapping):
        for name, inner in shape.items():
            inside = f"{place}/{_escaped_for_pointer(name)}"
            if name in value:
                yield from shape_differences(inner, value[name], inside)
            else:
                yield Sentence("The answer has no %(place)s.", place=inside)
    elif isinstance(shape, list) and shape:
        for index, item in enumerate(value):
            yield from shape_differences(shape[0], item, f"{place}/{index}")


def value_differences(values: Mapping[str, Any], answer: Any) -> Iterator[Sentence]:
    """Yield a sentence for each of `values`, by JSON Pointer, that the answer does not have.

    The sentences do not repeat values of the answer, which may be somebody's data.
    """
    for place, expected in values.items():
        exists, value = _value_at(answer, place)
        if not exists:
            yield Sentence("The answer has no %(place)s.", place=place)
        elif value != expected or isinstance(value, bool) is not isinstance(expected, bool):
            yield Sentence("%(place)s does not have the expected value.", place=_place_or_answer(place))


def leaves(shape: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the JSON Pointers of single values, with their types. Of a list, only its first item counts."""
    if isinstance(shape, Mapping):
        for name, inner in shape.items():
            yield from leaves(inner, f"{place}/{_escaped_for_pointer(name)}")
    elif isinstance(shape, list):
        for inner in shape:
            yield from leaves(inner, f"{place}/0")
    elif isinstance(shape, str):
        yield place, shape


def _common_shape(shapes: Sequence[Any]) -> Any:
    """Return the shape that all of `shapes` share: objects keep the members that none of them lacks.

    Shapes that differ in their type share ANYTHING.
    """
    definite_shapes = [shape for shape in shapes if shape != ANYTHING]
    if definite_shapes and all(isinstance(shape, Mapping) for shape in definite_shapes):
        shared = [name for name in definite_shapes[0] if all(name in shape for shape in definite_shapes)]
        return {name: _common_shape([shape[name] for shape in definite_shapes]) for name in shared}
    if definite_shapes and all(isinstance(shape, list) for shape in definite_shapes):
        items = [shape[0] for shape in definite_shapes if shape]
        return [_common_shape(items)] if items else []
    if definite_shapes and all(shape == definite_shapes[0] for shape in definite_shapes):
        return definite_shapes[0]
    return ANYTHING


def _json_type(value: Any) -> str:
    """Return the name of the JSON type of a value: a key of `_ARTICLES`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float, Decimal)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "list" if isinstance(value, list) else "object"


def _value_at(value: Any, place: str) -> tuple[bool, Any]:
    """Return whether there is a value at the JSON Pointer (RFC 6901), and that value."""
    for part in place.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def _escaped_for_pointer(name: str) -> str:
    """Return the name of a member as a JSON Pointer (RFC 6901) writes it."""
    return name.replace("~", "~0").replace("/", "~1")


def _place_or_answer(place: str) -> Any:
    """Return the JSON Pointer or, for the empty one, words for the whole answer."""
    return place or Sentence("The answer")
