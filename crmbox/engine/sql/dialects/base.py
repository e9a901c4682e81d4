"""The phrases that differ, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from crmbox.engine.dialects.base import Storage
from crmbox.engine.sql.patterns import Token
from crmclient.query.ast import DateGrouping


@dataclass(frozen=True, slots=True)
class Sum:
    """An exact sum: the expressions to select, and how their values (None over no rows) make the number."""

    pieces: tuple[str, ...]
    combine: Callable[[Sequence[Any]], Decimal | int | float]


class Phrases(ABC):
    descending_nulls: str
    """What a descending order adds to have empty values lowest, which is last."""

    @abstractmethod
    def like(self, compared: str) -> str:
        """`compared` matches the pattern given as one parameter: see `like_parameter`."""

    @abstractmethod
    def like_parameter(self, pattern: Iterable[Token]) -> str: ...

    @abstractmethod
    def contains_any(self, value: str) -> str:
        """A multi-select choice holds one of the options given as one parameter: see `options_parameter`."""

    @abstractmethod
    def options_parameter(self, options: Sequence[int]) -> Any: ...

    @abstractmethod
    def date_part(self, value: str, grouping: DateGrouping, storage: Storage) -> str:
        """The number of a day, week, month, quarter or year. Weeks begin on Sunday, the first on New Year."""

    @abstractmethod
    def sum(self, value: str, storage: Storage) -> Sum:
        """The exact sum of a number's column; of a Double, the database's own."""
