"""Django's backend for PostgreSQL, which also notices connections that ended between two statements, or while
they were being opened, and replaces those that may only read.

Django asks a connection once in each request whether it lives. A request that spends seconds on something
else, such as a password's hash, would find out by its next statement, too late to repeat that.
"""

from __future__ import annotations

import select
import time
from typing import Final

import psycopg
from django.db import OperationalError
from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

from project.read_only_connections import ReadOnlyNoticed

_AT_ONCE: Final = 1.0
"""Seconds within which an opening must have failed to be tried again.

Later, a second one would keep the caller waiting for a server that is silent.
"""


class DatabaseWrapper(ReadOnlyNoticed, base.DatabaseWrapper):
    def connect(self) -> None:
        """Open the connection. One that ends while it is being opened is opened once more: nothing was asked
        by it yet.
        """
        start = time.monotonic()
        try:
            super().connect()
        except (OperationalError, psycopg.OperationalError):
            if time.monotonic() - start > _AT_ONCE:
                raise
            self.close()
            super().connect()

    def close_if_health_check_failed(self) -> None:
        """Let the connection be checked if it may have ended.

        Django calls this before each statement outside a transaction, and before each transaction.
        """
        if self._may_have_ended():
            self.health_check_done = False
        super().close_if_health_check_failed()

    def _may_have_ended(self) -> bool:
        """Whether the server has said something unasked, as it does at the end, or the connection is broken.

        That takes no trip to the server. Within a transaction nothing is noticed: what it did is lost, so it
        has to fail.
        """
        if self.connection is None or self.in_atomic_block:
            return False
        server = self.connection.pgconn
        if self.connection.closed:
            return True
        # Only between two statements, and outside of transactions that were begun past Django.
        if server.transaction_status != TransactionStatus.IDLE:
            return False
        poll = select.poll()
        poll.register(server.socket, select.POLLIN)
        return bool(poll.poll(0))
