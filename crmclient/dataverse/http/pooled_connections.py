"""Connections that are kept between requests, and replaced when they have been idle for long."""

from __future__ import annotations

import time
from typing import Any, Final

from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

LONGEST_IDLE: Final = 20.0
"""Seconds. Servers and what stands before them close idle connections: the CRM server after 30, others after
one to four minutes, some without a word. A write that meets this end is lost, and may not be repeated.
"""


class PoolingAdapter(HTTPAdapter):
    """An adapter that uses a kept connection again only if it has been idle for at most LONGEST_IDLE."""

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        super().init_poolmanager(connections, maxsize, block, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager


class _TimedConnections(HTTPConnectionPool):
    """A pool that knows when each of its connections was put back. urllib3 only looks whether the other side
    has closed one.
    """

    def _put_conn(self, conn: Any) -> None:
        """Put a connection back into the pool, and note when. None gives back only the place of one."""
        if conn is not None:
            conn.idle_since = time.monotonic()
        super()._put_conn(conn)

    def _get_conn(self, timeout: float | None = None) -> Any:
        """Return a connection of the pool, closed if it has been idle for longer than LONGEST_IDLE."""
        connection = super()._get_conn(timeout)
        # A new connection has no `idle_since`, and has been idle for no time.
        if time.monotonic() - getattr(connection, "idle_since", time.monotonic()) > LONGEST_IDLE:
            # It opens again by itself when it is used.
            connection.close()
        return connection


class _TimedSecureConnections(_TimedConnections, HTTPSConnectionPool):
    pass


_POOLS: Final = {"http": _TimedConnections, "https": _TimedSecureConnections}
