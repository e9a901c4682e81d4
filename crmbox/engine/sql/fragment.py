"""SQL text with the slots of its parameters, in the order in which the text needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from crmbox.engine.dialects.base import DbValue
from crmclient.errors import InvalidQuery, UnfitValue


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a parameter comes from: the index of a value in the list of all values, and how it is encoded.

    The values of the query come first, in the order of `crmclient.query.shape`; a plan adds its own, such as
    the limit.
    `construct` names the part of the query in messages.
    """

    index: int
    encode: Callable[[Any], Any]
    construct: str

    def fill(self, values: Sequence[object]) -> Any:
        """Return the encoded parameter.

        Raises InvalidQuery for a missing value, and UnfitValue for a wrong one.
        """
        value = values[self.index]
        if value is None:
            raise InvalidQuery(f"{self.construct}: a value is missing; use null or not-null for empty ones.")
        try:
            return self.encode(value)
        except (TypeError, ValueError) as error:
            raise UnfitValue(f"{self.construct}: {error}.") from error


@dataclass(frozen=True, slots=True)
class Fragment:
    """SQL text, with the slots of its parameters in their order."""

    text: str
    slots: tuple[Slot, ...] = ()

    def parameters(self, values: Sequence[object]) -> list[DbValue]:
        """Return the encoded parameters, in the order of the text. Raises as `Slot.fill`."""
        return [slot.fill(values) for slot in self.slots]


def concat(*parts: str | Fragment) -> Fragment:
    """Return texts and fragments, one after the other, as one fragment."""
    return Fragment(
        "".join(part if isinstance(part, str) else part.text for part in parts),
        tuple(slot for part in parts if isinstance(part, Fragment) for slot in part.slots),
    )


def join(separator: str, parts: Iterable[Fragment]) -> Fragment:
    """Return fragments as one, with `separator` between their texts."""
    parts = tuple(parts)
    return Fragment(
        separator.join(part.text for part in parts), tuple(slot for part in parts for slot in part.slots)
    )


def all_of(*conditions: Fragment | None) -> Fragment | None:
    """Return the condition that all `conditions` hold. None stands for one that always holds."""
    parts = [concat("(", condition, ")") for condition in conditions if condition is not None]
    return join(" AND ", parts) if parts else None


def where_clause(*conditions: Fragment | None) -> tuple[str | Fragment, ...]:
    """Return WHERE with all of the conditions; nothing where none restricts the rows."""
    condition = all_of(*conditions)
    return () if condition is None else (" WHERE ", condition)
