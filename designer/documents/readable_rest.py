"""What can still be judged of a document of which parts are wrong, so that all its mistakes are told at once.

Only mistakes of the document may be told. What would follow from a part that could not be read is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from designer.definitions import ConfigurationDocument, EndpointDefinition
from designer.documents.keys import COLLECTIONS, ENDPOINTS, NAMED_PARTS, Location
from designer.documents.older_formats import PRESENT
from designer.documents.problems import Gap
from designer.expressions.nearest import nearest
from designer.kinds import KINDS
from designer.library_messages import problems_of

_LISTS = frozenset(collection.field for collection in COLLECTIONS)
# The one collection of endpoints. Unpacking fails if there is not exactly one.
(_ENDPOINTS,) = (collection for collection in COLLECTIONS if collection.field == ENDPOINTS)
# The rest is judged as if the nearest name were meant, so only a slip counts: naem for name, and not colour
# for columns.
_ALIKE = 0.7
# Parts of an endpoint that no other part of it needs.
_INDEPENDENT = frozenset(
    {
        "access",
        "acknowledgements",
        "bindings",
        "columns",
        "description",
        "example_calls",
        "preconditions",
        "row_rule",
        "title",
        "translations",
    }
)
# The members that findings call a part of these lists by, the first that there is.
_NAMES = {"bindings": ("attribute",), "columns": ("name", "attribute")}
# An item by its list and its position.
_Item: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Rest:
    """What could be read of a document.

    `positions` are those that the items of each list have in the whole document. `problems` are those of the
    whole document: also those that come to light once names of members are corrected, but no member that is
    there under a wrong name.
    """

    document: ConfigurationDocument
    positions: Mapping[str, Sequence[int]]
    gaps: tuple[Gap, ...]
    problems: Sequence[ErrorDetails]


def readable_rest(data: dict[str, Any], error: ValidationError) -> Rest | None:
    """Return what can be read of `data`, the JSON of a document in the present format that raised `error`.

    An unknown member is taken for the one whose name is nearest, or is left out. Other wrong parts of items
    are left out; so is the whole endpoint where other parts of it need them. None when nothing can be judged:
    the format is unknown, or there is no list where one has to be.
    """
    rest = deepcopy(data)
    problems = problems_of(error)
    corrected = _correct_names(rest, problems)
    # With the right names, other problems may come to light.
    remaining = _problems_in(rest)
    if any(_item_of(problem) is None for problem in remaining):
        return None
    parts_left_out = _leave_out_parts(rest, remaining)
    # What is still wrong is in parts that their items need.
    positions = _leave_out_items(rest, _problems_in(rest))
    document = ConfigurationDocument.model_validate(rest)
    # A member that is there under a wrong name is not missing.
    problems_of_whole = [
        problem for problem in problems if problem["type"] != "missing" or problem["loc"] not in corrected
    ]
    told = {problem["loc"] for problem in problems}
    problems_of_whole += (problem for problem in remaining if problem["loc"] not in told)
    gaps = tuple(_gaps_in(document, positions, parts_left_out))
    return Rest(document, positions, gaps, problems_of_whole)


def without_duplicates(document: ConfigurationDocument) -> tuple[ConfigurationDocument, Sequence[Gap]]:
    """Return `document` with the first of the items that have the same key, and of the parts of an endpoint
    that have the same name; and a gap for each part that was left out.
    """
    firsts: dict[str, tuple[Any, ...]] = {
        collection.field: _firsts(getattr(document, collection.field), collection.key)
        for collection in COLLECTIONS
    }
    gaps: list[Gap] = []
    endpoints = []
    for endpoint in firsts[ENDPOINTS]:
        left_out: list[str] = []
        endpoints.append(_with_firsts(endpoint, "", left_out))
        gaps += (Gap(_ENDPOINTS, endpoint.key, place) for place in left_out)
    return document.model_copy(update={**firsts, ENDPOINTS: tuple(endpoints)}), gaps


def _with_firsts(part: Any, place: str, left_out: list[str]) -> Any:
    """Return an endpoint, or an input of one, with the first of its parts that have the same name.

    Add the places of the others to `left_out`; `place` is that of `part`, with a dot behind it.
    """
    changed: dict[str, tuple[Any, ...]] = {}
    for field, name_of in NAMED_PARTS.items():
        parts = getattr(part, field, ())
        firsts = _firsts(parts, name_of)
        # One that is equal to the first leaves no gap.
        left_out += {f"{place}{field}.{name_of(repeated)}" for repeated in parts if repeated not in firsts}
        if field == "inputs":
            firsts = tuple(_with_firsts(first, f"{place}inputs.{first.name}.", left_out) for first in firsts)
        if firsts != parts:
            changed[field] = firsts
    return part.model_copy(update=changed) if changed else part


def _firsts(items: Sequence[Any], name_of: Callable[[Any], str]) -> tuple[Any, ...]:
    """Return the first of the items that have the same name."""
    firsts: dict[str, Any] = {}
    for item in items:
        firsts.setdefault(name_of(item), item)
    return tuple(firsts.values())


def near_member(data: dict[str, Any], location: Location) -> str | None:
    """Return the known member whose name is nearest to the unknown one at `location`; None without one.

    A member that is there already is not meant by another name.
    """
    *parents, unknown = location
    container = _at(data, parents)
    if not isinstance(container, dict):
        return None
    names = {name for model in _models_at(data, parents) for name in model.model_fields}
    return nearest(str(unknown), names - container.keys(), _ALIKE)


def _correct_names(data: dict[str, Any], problems: Sequence[ErrorDetails]) -> set[Location]:
    """Give the unknown members their nearest known names, and a document without a format the present one.

    Return the places of the members that have a new name.
    """
    corrected = set[Location]()
    for problem in problems:
        if problem["type"] == "extra_forbidden":
            place = _correct_name(data, problem["loc"])
            if place is not None:
                corrected.add(place)
        elif problem["loc"] == ("format",) and problem["type"] == "missing":
            data["format"] = PRESENT
    return corrected


def _correct_name(data: dict[str, Any], location: Location) -> Location | None:
    """Give the unknown member at `location` its nearest known name and return its place; without one, remove
    it.
    """
    nearest_member = near_member(data, location)
    container = _at(data, location[:-1])
    if not isinstance(container, dict):
        return None
    value = container.pop(location[-1], None)
    if nearest_member is None:
        return None
    container[nearest_member] = value
    return (*location[:-1], nearest_member)


def _models_at(data: dict[str, Any], location: Location) -> Collection[type[BaseModel]]:
    """Return the models that the object at `location` may be one of."""
    models: set[type[BaseModel]] = {ConfigurationDocument}
    for depth, part in enumerate(location):
        if part == "settings" and EndpointDefinition in models:
            kind = KINDS.get(_at(data, location[:depth]).get("kind", ""))
            models = set() if kind is None else {kind.settings}
            continue
        fields = [model.model_fields[part] for model in models if part in model.model_fields]
        # The position of an item in a list is no field: the models of the list are those of its items.
        if fields:
            models = {model for field in fields for model in _models_in_annotation(field.annotation)}
    return models


def _models_in_annotation(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a type annotation names, such as those of `tuple[A, ...] | B`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in_annotation(argument)


def _at(data: Any, location: Location) -> Any:
    """Return the value at `location`; None where there is none."""
    for part in location:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _problems_in(data: dict[str, Any]) -> list[ErrorDetails]:
    """Return what is wrong with the JSON of a document; nothing when it can be read."""
    try:
        ConfigurationDocument.model_validate(data)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _item_of(problem: ErrorDetails) -> _Item | None:
    """Return the item that a problem is in, by its list and its position; None for a problem of no item."""
    match problem["loc"]:
        case (str(field), int(at), *_):
            return field, at
        case _:
            return None


def _leave_out_parts(data: dict[str, Any], problems: Sequence[ErrorDetails]) -> Mapping[_Item, set[str]]:
    """Remove the wrong parts of items that can do without. Return the places of what is missing, by item."""
    places: defaultdict[_Item, set[str]] = defaultdict(set)
    wrong: set[tuple[Any, ...]] = set()
    for problem in problems:
        match problem["loc"]:
            case ("endpoints", int(at), str(member), int(position), *_) if member in _INDEPENDENT:
                part = data[ENDPOINTS][at][member][position]
                places[ENDPOINTS, at].add(_place(member, part))
                wrong.add((ENDPOINTS, at, member, position))
            case (str(field), int(at), str(member), *_) if field != ENDPOINTS or member in _INDEPENDENT:
                places[field, at].add(member)
                wrong.add((field, at, member))
    # From the end: whatever stands behind a removed part of a list moves up.
    for *parents, last in sorted(wrong, reverse=True):
        container = _at(data, parents)
        # A member that is missing cannot be removed.
        if isinstance(container, list) or last in container:
            del container[last]
    return places


def _leave_out_items(data: dict[str, Any], problems: Sequence[ErrorDetails]) -> Mapping[str, Sequence[int]]:
    """Remove the items that have a problem, and the endpoints of exposed entities among them.

    Return the former positions of the items that stay, by list.
    """
    wrong = {item for problem in problems if (item := _item_of(problem)) is not None}
    wrong |= set(_endpoints_of(data, wrong))
    positions = {
        field: [at for at in range(len(data[field])) if (field, at) not in wrong]
        for field in _LISTS & data.keys()
    }
    for field, kept in positions.items():
        data[field] = [data[field][at] for at in kept]
    return positions


def _place(member: str, part: Any) -> str:
    """Return the place that findings name for a part of the list `member`."""
    names = [part.get(name) for name in _NAMES.get(member, ())] if isinstance(part, dict) else []
    name = next((name for name in names if isinstance(name, str) and name), "")
    return f"{member}.{name}" if name else member


def _endpoints_of(data: dict[str, Any], left_out: set[_Item]) -> Iterator[_Item]:
    """Yield the endpoints of exposed entities that are left out."""
    entities = [data[field][at] for field, at in left_out if field == "entities"]
    places = [(item.get("module"), item.get("segment")) for item in entities if isinstance(item, dict)]
    for at, endpoint in enumerate(data.get(ENDPOINTS, ())):
        if isinstance(endpoint, dict) and (endpoint.get("module"), endpoint.get("exposure")) in places:
            yield ENDPOINTS, at


def _gaps_in(
    document: ConfigurationDocument,
    positions: Mapping[str, Sequence[int]],
    parts_left_out: Mapping[_Item, set[str]],
) -> Iterator[Gap]:
    """Yield a gap for each part that was left out of an item of `document`.

    `positions` are those of its items in the whole document, by list; `parts_left_out` are the places
    of these parts, by item there.
    """
    for collection in COLLECTIONS:
        if kept := positions.get(collection.field):
            for at, item in zip(kept, getattr(document, collection.field), strict=True):
                for place in sorted(parts_left_out.get((collection.field, at), ())):
                    yield Gap(collection, collection.key(item), place)
