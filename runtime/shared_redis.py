"""The Redis that all processes have in common. Nobody waits for it: while it is away, each goes by itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.exceptions import LockError, RedisError
from redis.retry import Retry

from crmclient.outages import Outage

T = TypeVar("T")

_SECONDS: Final = 0.5
"""How long Redis is waited for, to connect and to answer."""
_PAUSE: Final = 5.0
"""Seconds without Redis after it has not answered."""

# Makes the key, or lets it live longer: PTTL is below zero for a key that does not exist. A later caller may
# ask for less than an earlier one: the longer life stays.
_EXTEND: Final = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
    redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
end
"""


class SharedRedis:
    """The Redis at `url`; without a URL there is none. `away` and `back` are the log lines of its outages."""

    def __init__(self, url: str, logger: logging.Logger, away: str, back: str) -> None:
        self._url = url
        self._outage = Outage(logger, away, back)
        # The `time.monotonic()` second from which Redis is asked again.
        self._again = 0.0
        self._scripts: dict[str, Any] = {}

    @property
    def is_there(self) -> bool:
        """Whether Redis is to be asked: there is a URL, and no pause after an outage."""
        return bool(self._url) and time.monotonic() >= self._again

    def ask(self, call: Callable[[redis.Redis], T]) -> T | None:
        """Return the result of `call`; None while Redis is away. Raises LockError for a lock that has
        expired.
        """
        if not self.is_there:
            return None
        try:
            answer = call(self.client)
        except LockError:
            raise
        except (RedisError, OSError):
            self._again = time.monotonic() + _PAUSE
            self._outage.failed()
            return None
        self._outage.worked()
        return answer

    def run(self, script: str, keys: Sequence[str], arguments: Sequence[str | int | float]) -> Any:
        """Return the result of a Lua script; None while Redis is away."""

        def call(client: redis.Redis) -> Any:
            if script not in self._scripts:
                self._scripts[script] = client.register_script(script)
            return self._scripts[script](keys=keys, args=arguments)

        return self.ask(call)

    def keep_at_least(self, key: str, milliseconds: int) -> None:
        """Make `key`, or let it live, for at least `milliseconds`. A longer life is not shortened."""
        self.run(_EXTEND, [key], [milliseconds])

    def forget(self, prefix: str) -> None:
        """Delete the keys that begin with `prefix`."""

        def delete(client: redis.Redis) -> None:
            for key in client.scan_iter(f"{prefix}*", count=1000):
                client.delete(key)

        self.ask(delete)

    @cached_property
    def client(self) -> redis.Redis:
        """The client of the Redis at the URL. It connects when it is first used."""
        return redis.Redis.from_url(
            self._url,
            socket_timeout=_SECONDS,
            socket_connect_timeout=_SECONDS,
            # By default the client tries again for seconds, and a request of the API would wait for it.
            retry=Retry(NoBackoff(), 1),
        )
