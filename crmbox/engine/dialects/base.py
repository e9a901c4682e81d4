"""What differs between the databases, behind one interface. The rest of the engine asks no database for its
name.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeAlias

from crmbox.engine.like_patterns import Token
from crmclient.query.ast import DateGrouping

DbValue: TypeAlias = str | int | float | bool | bytes | Decimal | None
Row: TypeAlias = tuple[Any, ...]


class Storage(Enum):
    """The physical kinds of column."""

    TEXT = "text"
    KEY = "key"
    INTEGER = "integer"
    BIGINT = "bigint"
    BOOLEAN = "boolean"
    DOUBLE = "double"
    MONEY = "money"
    DECIMAL = "decimal"
    TIMESTAMP = "timestamp"
    DATE = "date"
    GUID = "guid"


@dataclass(frozen=True, slots=True)
class UniqueViolation:
    """Which uniqueness was broken: one database names the index, another the columns."""

    index: str | None = None
    columns: tuple[str, ...] = ()


class AtOnce(NamedTuple):
    """SQL of a write that raises the version without a look at the database before: what the statement
    begins with, where its rows come from (joined by FROM), a condition on these, and the version raised.
    """

    beginning: str
    source: str
    condition: str
    version: str


@dataclass(frozen=True, slots=True)
class TextSearch:
    """The index `name` of pieces of the texts in the column `key` of a table with the primary key `id`."""

    name: str
    table: str
    id: str
    key: str


@dataclass(frozen=True, slots=True)
class Sum:
    """An exact sum: the expressions to select, and how their values (None over no rows) make the number."""

    pieces: tuple[str, ...]
    combine: Callable[[Sequence[Any]], Decimal | int | float]


class NotTogether(Exception):
    """Of several writes in one transaction one failed, so that none was written."""


class Cursor(Protocol):
    """As much of a DB-API cursor as the engine uses."""

    @property
    def description(self) -> object: ...

    @property
    def rowcount(self) -> int: ...

    def execute(self, sql: str, params: Sequence[DbValue], /) -> object: ...

    def fetchall(self) -> list[Row]: ...


class Dialect(ABC):
    """One database. `placeholder` stands for a parameter in the SQL given to a unit of work."""

    name: str
    placeholder: str
    nulls_first: str
    """What an ascending index or order adds to have empty values lowest."""
    descending_nulls: str
    """What a descending order adds to have empty values lowest, which is last."""
    begin_read: str | None
    """Opens one view of the data for several reads; None where a statement of its own is enough."""
    begin_write: str
    turn: threading.Lock | None = None
    """What writers of one process wait for in turn; None where the database lets them wait well itself."""
    at_once: AtOnce
    gathers: bool = False
    """Whether writes at the same time are best written together."""
    column_types: Mapping[Storage, str]
    most_columns: int
    """How many columns the attributes of a new table may take, so that some are left for later ones."""

    def begin_with(self, connection: Any, statement: str) -> list[Row]:
        """Begin a write transaction with its first statement, which takes no parameters; its rows."""
        self.cursor(connection).execute(self.begin_write, ())
        cursor = self.cursor(connection)
        cursor.execute(statement, ())
        return cursor.fetchall()

    @abstractmethod
    def write_at_once(self, connection: Any, sql: str, token: str, params: Sequence[DbValue]) -> list[Row]:
        """The rows of a statement made with `at_once`, in a transaction of its own that raises the version.

        None are given, and nothing is written, where the metadata's token is another or no row is touched.
        """

    def write_together(
        self, connection: Any, writes: Sequence[tuple[str, str, Sequence[DbValue]]]
    ) -> list[list[Row]]:
        """The rows of each of several such statements (with token and parameters), in one transaction.

        Raises NotTogether where none was written, and the driver's error where that is not known.
        """
        raise NotTogether

    def column_type(self, storage: Storage) -> str:
        return self.column_types[storage]

    @abstractmethod
    def cursor(self, connection: Any) -> Cursor:
        """A cursor on the driver's own connection."""

    @abstractmethod
    def watched_cursor(self, wrapper: Any) -> Cursor:
        """A cursor whose statements Django's query log and execute wrappers see. Its placeholder is `%s`."""

    def for_watched(self, sql: str) -> str:
        """A statement of the engine's as the watched cursor takes it."""
        return sql

    @abstractmethod
    def among(self, expression: str, storage: Storage) -> str:
        """`expression` is one of a list that is a single parameter: see `list_parameter`."""

    @abstractmethod
    def list_parameter(self, values: Sequence[DbValue]) -> Any:
        """The one parameter that `among` takes for any number of values."""

    @abstractmethod
    def before_schema_change(self) -> Sequence[str]:
        """Statements that open a transaction which changes tables."""

    @abstractmethod
    def unique_violation(self, error: BaseException) -> UniqueViolation | None:
        """What a driver's error says of uniqueness, None for any other error."""

    @abstractmethod
    def create_search(self, search: TextSearch) -> Iterable[str]:
        """Statements that make the index of pieces of text, of the records that are there, too."""

    @abstractmethod
    def drop_search(self, search: TextSearch) -> Iterable[str]: ...

    @abstractmethod
    def about_records(self, table: str) -> str:
        """A select of about how many rows a table has, which looks at few of them."""

    @abstractmethod
    def is_of_other_metadata(self, error: BaseException) -> bool:
        """Whether a driver's error says that a table or column is not there."""

    # What queries say

    def found_by_search(self, search: TextSearch) -> str | None:
        """A select of the ids of records that can match one pattern: see `search_parameter`. None where the
        database finds and weighs the index by itself.
        """
        return None

    def search_parameter(self, pattern: Iterable[Token]) -> str | None:
        """The one parameter of `found_by_search`. None: no piece of the pattern is long enough for it."""
        return None

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
    def within_any(self, expression: str, storage: Storage) -> str:
        """A date is in one of the spans given as one parameter: see `spans_parameter`."""

    def spans_parameter(self, spans: Sequence[tuple[DbValue, ...]]) -> str:
        """The one parameter that `within_any` takes: pairs of a first moment and the first one after."""
        return json.dumps(spans)

    @abstractmethod
    def date_part(self, value: str, grouping: DateGrouping, storage: Storage) -> str:
        """The number of a day, week, month, quarter or year. Weeks begin on Sunday, the first on New Year."""

    @abstractmethod
    def sum(self, value: str, storage: Storage) -> Sum:
        """The exact sum of a number's column; of a Double, the database's own."""
