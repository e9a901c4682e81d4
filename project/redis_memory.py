"""A Redis that all processes have in common. Nobody waits for it: while it is away, each goes by itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from crmclient.outages import Outage

logger = logging.getLogger("portico.platform")

_REDIS_SECONDS: Final = 0.5
_REDIS_PAUSE: Final = 5.0


class RedisMemory:
    """`about` says what is known per process meanwhile, for the log."""

    def __init__(self, url: str, about: str) -> None:
        self._url = url
        self._outage = Outage(
            logger, f"{about} per process: Redis does not answer", f"{about} for all processes again"
        )
        self._again = 0.0
        self._scripts: dict[str, Any] = {}

    def asked(self, *command: str) -> Any:
        """The answer to a command; None while Redis is away."""
        return self._answer(lambda: self._redis.execute_command(*command))

    def run(self, script: str, keys: Sequence[str], arguments: Sequence[str | int | float]) -> Any:
        """What a script returns; None while Redis is away."""
        if script not in self._scripts and not self._resting():
            self._scripts[script] = self._redis.register_script(script)
        return self._answer(lambda: self._scripts[script](keys=keys, args=arguments))

    def _resting(self) -> bool:
        return time.monotonic() < self._again

    def _answer(self, ask: Any) -> Any:
        if self._resting():
            return None
        from redis.exceptions import RedisError

        try:
            answer = ask()
        except (RedisError, OSError):
            self._again = time.monotonic() + _REDIS_PAUSE
            self._outage.failed()
            return None
        self._outage.worked()
        return answer

    @cached_property
    def _redis(self) -> Any:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        return Redis.from_url(
            self._url,
            socket_timeout=_REDIS_SECONDS,
            socket_connect_timeout=_REDIS_SECONDS,
            # By default it tries for seconds: a request of the API would wait for them.
            retry=Retry(NoBackoff(), 1),
        )
