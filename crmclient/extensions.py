"""What packages add to the service, found by Python entry points. `docs/extending.md` says what they may add.

    [project.entry-points."portico.types"]
    Url = "portico_example.url:URL"

A `Registry` holds all items of a group by name. A `Choice` is a group of which a setting names one item, and
only that one is imported. The built-in items are in the same two.

A package that cannot be used never raises where it is loaded: it becomes a `Problem`, with which the service
refuses to start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Generic, TypeVar, cast

T = TypeVar("T")

# What the names of all groups begin with.
_GROUPS = "portico."

_UNINSTALL = "Correct the package, or uninstall it."


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of the entry point `name` of `group`, as a sentence, and what an operator can do about it."""

    group: str
    name: str
    text: str
    remedy: str


class UnusableExtension(Exception):
    """An extension that cannot be loaded. The message names group, entry point and distribution."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.remedy = remedy


class Registry(dict[str, T]):
    """The items of one group by name, the built-in ones first.

    `what` says what an item is and `is_one` whether an object is such; `name_of` is the name an item has
    itself, which its entry point must have, too. `reserved` are names that no item may have.
    """

    def __init__(
        self,
        group: str,
        what: str,
        is_one: Callable[[object], bool],
        name_of: Callable[[T], str],
        reserved: Collection[str] = (),
    ) -> None:
        super().__init__()
        self.group = group
        self._reserved = frozenset(reserved)
        self._what = what
        self._is_one = is_one
        self._name_of = name_of

    def register(self, *items: T) -> None:
        """Add items by their names. Raises ValueError for a name that is taken."""
        for item in items:
            name = self._name_of(item)
            if name in self or name in self._reserved:
                raise ValueError(f"{self.group} has {name!r} already.")
            self[name] = item

    def load(self, check: Callable[[T], object] = lambda item: None) -> Iterator[Problem]:
        """Add the items that packages offer, and yield a problem for each item that cannot be added. Call
        this once.

        `check` raises ValueError, with the reason, for an item of the right type that cannot be used all the
        same.
        """
        for name, points in _by_name(self.group).items():
            try:
                is_taken = name in self or name in self._reserved
                self.register(self._item(_only_entry_point(points, is_taken), name, check))
            except UnusableExtension as error:
                yield Problem(self.group, name, str(error), error.remedy)

    def _item(self, point: EntryPoint, name: str, check: Callable[[T], object]) -> T:
        """Load the extension of an entry point, and check it. Raises UnusableExtension."""
        item = _load(point)
        if not self._is_one(item):
            raise UnusableExtension(
                f"{_described(point)} leads to {item!r:.100}, which is not {self._what}.", _UNINSTALL
            )
        extension = cast(T, item)
        own_name = self._name_of(extension)
        if own_name != name:
            raise UnusableExtension(
                f"{_described(point)} leads to {self._what} called “{own_name}”.",
                "Give the entry point that name in the package, or uninstall the package.",
            )
        try:
            check(extension)
        except ValueError as error:
            raise UnusableExtension(f"{_described(point)} cannot be used: {error}.", _UNINSTALL) from error
        return extension


class Choice(Generic[T]):
    """A group of which a setting names one item, which is a callable. `what` says what it is."""

    def __init__(self, group: str, what: str) -> None:
        self.group = group
        self._what = what
        self._built_in: dict[str, EntryPoint] = {}
        self._names: dict[str, str] = {}

    def register(self, name: str, reference: str, *, was: Collection[str] = ()) -> None:
        """Offer the object at `reference`, "module:attribute". Raises ValueError for a name that is taken.

        `was` has the dotted paths of the object in earlier releases. Settings with such a path still find it.
        """
        if name in self._built_in:
            raise ValueError(f"{self.group} has {name!r} already.")
        self._built_in[name] = EntryPoint(name, reference, self.group)
        self._names |= dict.fromkeys((reference.replace(":", "."), *was), name)

    def names(self) -> list[str]:
        """Return the names that the setting may have."""
        return sorted({*self._built_in, *_by_name(self.group)})

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each name that is offered twice, even if the setting does not use the name."""
        for name, points in _by_name(self.group).items():
            try:
                _only_entry_point(points, name in self._built_in)
            except UnusableExtension as error:
                yield Problem(self.group, name, str(error), error.remedy)

    def is_deprecated(self, value: str) -> bool:
        """Whether `value` is a dotted path. Settings had such paths before there were names."""
        return "." in value and value not in self.names()

    def built_in_name(self, path: str) -> str | None:
        """Return the name of the built-in object at a dotted path, also one of earlier releases; None for
        another path.
        """
        return self._names.get(path)

    def find(self, value: str) -> T:
        """Return the object that `value` names by an entry point or, deprecated, by a dotted path.

        Raises UnusableExtension.
        """
        # What packages offer comes first: a name that a package and we have is refused, not chosen.
        offered = _by_name(self.group).get(value)
        if offered is not None:
            point = _only_entry_point(offered, value in self._built_in)
        elif value in self._built_in:
            point = self._built_in[value]
        elif value in self._names:
            # The dotted path of a built-in object, also one of an earlier release, where the module of that
            # path may be gone.
            point = self._built_in[self._names[value]]
        elif "." in value:
            module, _, attribute = value.rpartition(".")
            point = EntryPoint(value, f"{module}:{attribute}", self.group)
        else:
            raise UnusableExtension(
                f"There is no “{value}” in {self.group}.",
                f"Write one of: {', '.join(self.names())}. Install the package that offers another.",
            )
        item = _load(point)
        if not callable(item):
            raise UnusableExtension(
                f"{_described(point)} leads to {item!r:.100}, which is not {self._what}.", _UNINSTALL
            )
        return cast(T, item)


def offered() -> list[EntryPoint]:
    """Return all entry points that packages have for the service, sorted by group and name."""
    # Before Python 3.12, `entry_points()` is a dict.
    points = (point for package in distributions() for point in package.entry_points)
    of_the_service = (point for point in points if point.group.startswith(_GROUPS))
    return sorted(of_the_service, key=lambda point: (point.group, point.name, point.value))


def _by_name(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points that packages have in a group, by name: several where packages clash."""
    points_by_name: defaultdict[str, list[EntryPoint]] = defaultdict(list)
    for point in entry_points(group=group):
        points_by_name[point.name].append(point)
    return dict(sorted(points_by_name.items()))


def _only_entry_point(points: list[EntryPoint], is_taken: bool) -> EntryPoint:
    """Return the only entry point of a name.

    Raises UnusableExtension if there are several, and if a built-in item has the name.
    """
    if len(points) > 1:
        packages = " and ".join(sorted(_distribution(point) for point in points))
        first = points[0]
        raise UnusableExtension(
            f"The entry point “{first.name}” of {first.group} is in more than one package: {packages}.",
            "Uninstall all of these packages but one.",
        )
    (point,) = points
    if is_taken:
        raise UnusableExtension(
            f"{_described(point)} has the name of a built-in one.",
            "Rename it in the package, or uninstall the package.",
        )
    return point


def _load(point: EntryPoint) -> object:
    """Return the object of an entry point. Raises UnusableExtension."""
    try:
        return point.load()
    # Importing runs the code of a package, which may raise anything.
    except Exception as error:
        raise UnusableExtension(
            f"{_described(point)} cannot be loaded: {type(error).__name__}: {error}.", _UNINSTALL
        ) from error


def _described(point: EntryPoint) -> str:
    """Return how a message names an entry point: with its group, and with its package if it has one."""
    if point.dist is None:
        return f"“{point.name}” of {point.group}"
    return f"The entry point “{point.name}” of {point.group}, in the package {_distribution(point)},"


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "this service"
