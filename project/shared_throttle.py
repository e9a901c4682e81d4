"""What all processes know of the pauses that a token endpoint asked for, in Redis."""

from __future__ import annotations

import hashlib
from typing import Final

from crmclient.dataverse.http.throttle import SharedThrottle
from project.redis_memory import RedisMemory

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
        self._memory = RedisMemory(redis, "pauses that the token endpoint asks for are known")
        user = f"{url.rstrip('/').lower()} {client_id.lower()}"
        self._key = f"portico:throttled:{hashlib.sha256(user.encode()).hexdigest()}"

    def left(self) -> float:
        # Redis answers below zero for a key that is not there.
        return max(0.0, int(self._memory.asked("PTTL", self._key) or 0) / 1000)

    def rest(self, seconds: float) -> None:
        milliseconds = int(seconds * 1000)
        if milliseconds > 0:
            self._memory.asked("EVAL", _EXTEND, "1", self._key, str(milliseconds))
