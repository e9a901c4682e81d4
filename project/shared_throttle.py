"""The pauses that a token endpoint asked for, shared by all processes in Redis."""

from __future__ import annotations

import hashlib
import logging

from crmclient.dataverse.http.throttle import SharedThrottle
from runtime.shared_redis import SharedRedis

logger = logging.getLogger("portico.platform")


class RedisThrottle(SharedThrottle):
    """Keeps a pause in Redis, as a key that lives as long. One key is for one client at one URL, whose
    requests are counted together.

    While Redis does not answer, each process goes by what it remembers itself.
    """

    def __init__(self, redis_url: str, token_url: str, client_id: str) -> None:
        self._redis = SharedRedis(
            redis_url,
            logger,
            "pauses that the token endpoint asks for are known per process: Redis does not answer",
            "pauses that the token endpoint asks for are known for all processes again",
        )
        client_at_url = f"{token_url.rstrip('/').lower()} {client_id.lower()}"
        self._key = f"portico:throttled:{hashlib.sha256(client_at_url.encode()).hexdigest()}"

    def left(self) -> float:
        """Return the seconds of pause that are left; 0.0 without a pause, and while Redis is away."""
        # Redis answers below zero for a key that is not there.
        return max(0.0, (self._redis.ask(lambda client: client.pttl(self._key)) or 0) / 1000)

    def pause(self, seconds: float) -> None:
        """Let all processes pause for `seconds`, or longer if a longer pause is under way."""
        milliseconds = int(seconds * 1000)
        if milliseconds > 0:
            self._redis.keep_at_least(self._key, milliseconds)
