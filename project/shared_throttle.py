"""What all processes know of the pauses that Dataverse asked for, in Redis."""

from __future__ import annotations

import hashlib
import logging
import time
from functools import cached_property
from typing import Any, Final

from crmclient.dataverse.http.throttle import SharedThrottle

logger = logging.getLogger("portico.platform")

_REDIS_SECONDS: Final = 0.5
_REDIS_PAUSE: Final = 5.0

# A later refusal may ask for less than an earlier one: the longer pause stays.
_EXTEND: Final = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
    redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
end
"""


class RedisThrottle(SharedThrottle):
    """A key that lives as long as the pause: of one client at one URL, whose requests are counted together.

    While Redis does not answer, each process goes by what it remembers itself.
    """

    def __init__(self, redis: str, url: str, client_id: str) -> None:
        self._url = redis
        user = f"{url.rstrip('/').lower()} {client_id.lower()}"
        self._key = f"portico:throttled:{hashlib.sha256(user.encode()).hexdigest()}"
        self._again = 0.0

    def left(self) -> float:
        # Redis answers below zero for a key that is not there.
        return max(0.0, self._asked("PTTL", self._key) / 1000)

    def rest(self, seconds: float) -> None:
        milliseconds = int(seconds * 1000)
        if milliseconds > 0:
            self._asked("EVAL", _EXTEND, "1", self._key, str(milliseconds))

    def _asked(self, *command: str) -> int:
        if time.monotonic() < self._again:
            return 0
        from redis.exceptions import RedisError

        try:
            return int(self._redis.execute_command(*command) or 0)
        except (RedisError, OSError):
            self._again = time.monotonic() + _REDIS_PAUSE
            logger.warning("pauses that Dataverse asks for are known per process: Redis does not answer")
            return 0

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
