"""The differences between databases, behind one interface. The rest of the engine knows no database."""

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
from crmclient.query.ast import CalendarPart

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
    """The uniqueness that a write has broken. Some databases name the index, others the columns."""

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
    """An exact sum: the SQL expressions to select, and a function that makes the number of their values.

    The values are None over no rows.
    """

    pieces: tuple[str, ...]
    combine: Callable[[Sequence[Any]], Decimal | int | float]


class BatchNotWritten(Exception):
    """One of several writes in one transaction has failed, so that none was written."""


class Cursor(Protocol):
    """The part of a DB-API cursor that the engine uses."""

    @property
    def description(self) -> object: ...

    @property
    def rowcount(self) -> int: ...

    def execute(self, sql: str, params: Sequence[DbValue], /) -> object: ...

    def fetchall(self) -> list[Row]: ...


class Statements(Protocol):
    """The open transaction in which a dialect runs statements of its own."""

    def rows(self, sql: str, params: Sequence[DbValue] = ()) -> list[Row]:
        """Return every row of a statement."""

    def execute(self, sql: str, params: Sequence[DbValue] = ()) -> int:
        """Run a statement, and return the number of rows it touched."""


class Dialect(ABC):
    """One database. `placeholder` stands for a parameter in SQL."""

    name: str
    placeholder: str
    nulls_first: str
    """SQL that makes an ascending index or order begin with empty values."""
    descending_nulls: str
    """SQL that makes a descending order end with empty values."""
    begin_read: str | None
    """The statement that opens one view of the data for several reads; None where none is needed."""
    begin_write: str
    turn: threading.Lock | None = None
    """The lock that writers of one process take in turn; None where the database orders them well itself."""
    at_once: AtOnce
    gathers: bool = False
    """Whether writes at the same time are best written together."""
    column_types: Mapping[Storage, str]
    most_columns: int
    """How many columns the attributes of a new table may take: fewer than the database allows, so that some
    are left for later ones.
    """

    def begin_with(self, connection: Any, statement: str) -> list[Row]:
        """Begin a write transaction with its first statement, which takes no parameters. Return its rows."""
        self.cursor(connection).execute(self.begin_write, ())
        return self.rows(connection, statement, ())

    @abstractmethod
    def write_at_once(self, connection: Any, sql: str, token: str, params: Sequence[DbValue]) -> list[Row]:
        """Return the rows of a statement made with `at_once`, in a transaction that also raises the version.

        There are none, and nothing is written, where the metadata has another token or no row is touched.
        """

    def write_together(
        self, connection: Any, writes: Sequence[tuple[str, str, Sequence[DbValue]]]
    ) -> list[list[Row]]:
        """Return the rows of each of several statements as of `write_at_once`, in one transaction. Each write
        is a statement, a token and parameters.

        Raises BatchNotWritten when none was written, and the driver's error when that is not known.
        """
        # Dialects that do not gather writes are never asked.
        raise BatchNotWritten

    def column_type(self, storage: Storage) -> str:
        return self.column_types[storage]

    @abstractmethod
    def cursor(self, connection: Any) -> Cursor:
        """Return a cursor on the driver's own connection."""

    def rows(self, connection: Any, sql: str, params: Sequence[DbValue]) -> list[Row]:
        """Return every row of a statement on the driver's own connection."""
        cursor = self.cursor(connection)
        cursor.execute(sql, params)
        return cursor.fetchall()

    @abstractmethod
    def watched_cursor(self, wrapper: Any) -> Cursor:
        """Return a cursor whose statements Django's query log and execute wrappers see.

        Its placeholder is `%s`.
        """

    def for_watched(self, sql: str) -> str:
        """Return a statement of the engine in the form that the watched cursor takes."""
        return sql

    @abstractmethod
    def among(self, expression: str, storage: Storage) -> str:
        """Return the condition that `expression` is in the list of one parameter: see `list_parameter`."""

    @abstractmethod
    def list_parameter(self, values: Sequence[DbValue]) -> Any:
        """Return the one parameter that `among` takes for any number of values."""

    @abstractmethod
    def before_schema_change(self) -> Sequence[str]:
        """Return the statements that begin a transaction which changes tables."""

    @abstractmethod
    def add_columns(self, statements: Statements, columns: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Add new columns, each a name and a type, to existing tables."""

    @abstractmethod
    def unique_violation(self, error: BaseException) -> UniqueViolation | None:
        """Return the uniqueness that a driver's error is about; None for any other error."""

    @abstractmethod
    def create_search(self, search: TextSearch) -> Iterable[str]:
        """Yield the statements that make the index of pieces of text, with the existing records in it."""

    @abstractmethod
    def drop_search(self, search: TextSearch) -> Iterable[str]: ...

    @abstractmethod
    def approximate_count(self, table: str) -> str:
        """Return a select of the approximate number of rows of a table, which reads few of them."""

    @abstractmethod
    def is_of_other_metadata(self, error: BaseException) -> bool:
        """Whether a driver's error says that a table or column is missing."""

    # SQL of queries

    def found_by_search(self, search: TextSearch) -> str | None:
        """Return a select of the ids of records that can match a pattern: see `search_parameter`.

        None where the database itself decides when to use the index.
        """
        return None

    def search_parameter(self, pattern: Iterable[Token]) -> str | None:
        """Return the one parameter of `found_by_search`; None when no piece of the pattern is long enough."""
        return None

    @abstractmethod
    def like(self, compared: str) -> str:
        """Return the condition that `compared` matches the pattern in one parameter: see `like_parameter`."""

    @abstractmethod
    def like_parameter(self, pattern: Iterable[Token]) -> str: ...

    @abstractmethod
    def contains_any(self, value: str) -> str:
        """Return the condition that a multi-select choice has one of the options in one parameter.

        See `options_parameter`.
        """

    @abstractmethod
    def options_parameter(self, options: Sequence[int]) -> Any: ...

    @abstractmethod
    def within_any(self, expression: str, storage: Storage) -> str:
        """Return the condition that a date is in one of the spans in one parameter: see `spans_parameter`."""

    def spans_parameter(self, spans: Sequence[tuple[DbValue, ...]]) -> str:
        """Return the one parameter of `within_any`: pairs of a first moment and the first moment after the
        span.
        """
        return json.dumps(spans)

    @abstractmethod
    def date_part(self, value: str, grouping: CalendarPart, storage: Storage) -> str:
        """Return the SQL of the number of a day, week, month, quarter or year.

        Weeks begin on Sunday; the first one begins on New Year.
        """

    @abstractmethod
    def sum(self, value: str, storage: Storage) -> Sum:
        """Return the exact sum of a number's column; for a Double, the database's own sum."""
