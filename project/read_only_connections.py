"""Connections that are replaced once the database has refused a write because it takes none.

A database that was read-only while a connection was opened may stay so for that connection for ever. SQLite
opens a file that it may not write for reading alone. PostgreSQL takes `default_transaction_read_only`, which
hosts set where the disk is full, when a session begins. Connections last as long as their thread, so the
service would go on refusing writes after the database takes them again.
"""

from __future__ import annotations

from types import TracebackType
from typing import ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property

from crmclient.database_errors import Trouble, trouble_of


class _NoticingErrors(DatabaseErrorWrapper):
    """Translates a driver's errors as Django does, and counts refused writes."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_value is not None and trouble_of(exc_value) is Trouble.READ_ONLY:
            ReadOnlyNoticed.refusals += 1
        super().__exit__(exc_type, exc_value, traceback)


class ReadOnlyNoticed(BaseDatabaseWrapper):
    """What a database wrapper does besides: it closes a connection that is older than the last write which
    any connection of this process was refused as read-only.

    It does so where Django looks after connections, before and after each request. The next statement opens
    another.
    """

    refusals: ClassVar[int] = 0
    """Counts the refused writes of this process. Two at once may count as one: only the change matters."""

    _refusals_before = 0

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        return _NoticingErrors(self)

    def connect(self) -> None:
        self._refusals_before = ReadOnlyNoticed.refusals
        super().connect()

    def close_if_unusable_or_obsolete(self) -> None:
        # `is_usable` would not do: Django does not ask it once the failed transaction is rolled back.
        if self._refusals_before != ReadOnlyNoticed.refusals and not self.in_atomic_block:
            self.close()
        super().close_if_unusable_or_obsolete()
