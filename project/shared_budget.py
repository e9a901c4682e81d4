"""The platform's budget that all processes share, in Redis."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from crmclient.dataverse.http.budget import (
    BOUNDLESS,
    BUCKETS,
    KEPT,
    LEASE,
    SHARES,
    SPAN,
    Admission,
    Budget,
    BudgetUse,
    Limits,
    Reason,
    Refusal,
    ReportedBudget,
)
from crmclient.dataverse.http.bulkhead import LONGEST_WAIT
from crmclient.dataverse.http.process_budget import ProcessBudget
from crmclient.platform import Share
from runtime.shared_redis import SharedRedis

logger = logging.getLogger("portico.platform")

# One script decides at once: between a question and its answer other processes would spend.
_SCRIPT: Final = Path(__file__).with_name("shared_budget.lua").read_text(encoding="ascii")
# The number of each share, which the script knows shares by.
_SHARE_NUMBERS: Final = {share: number for number, share in enumerate(SHARES)}


class RedisBudget(Budget):
    """The budget of the application users `client_ids` at `url`, which all processes share through Redis.

    While Redis does not answer, each of the `processes` takes its part, and counts what it has sent before.
    """

    def __init__(
        self, redis: str, url: str, client_ids: Sequence[str], limits: Limits, processes: int
    ) -> None:
        self.limits = limits
        self._redis = SharedRedis(
            redis,
            logger,
            "the platform's budget and its pauses are known per process: Redis does not answer",
            "the platform's budget and its pauses are known for all processes again",
        )
        self._own = ProcessBudget(limits.part(processes), len(client_ids))
        self._keys = [key for client_id in client_ids for key in _keys(url, client_id)]
        # For the script, which counts time in milliseconds.
        self._limits = json.dumps(
            {
                "requests": limits.requests,
                "work": BOUNDLESS if limits.work >= BOUNDLESS else round(limits.work * 1000),
                "places": limits.places,
                "window": round(limits.window * 1000),
                "shares": [limits.shares.get(share, 0.0) for share in SHARES],
                "buckets": BUCKETS,
                "span": SPAN,
                "kept": KEPT,
                "boundless": BOUNDLESS,
                "lease": round(LEASE * 1000),
            }
        )
        self._process = secrets.token_hex(6)
        self._ids = count()

    def take(self, share: Share, only_user: int | None = None) -> Admission | Refusal:
        """Count a request in Redis, for all processes. While Redis is away, this process's own part
        counts.
        """
        paused = self._own.paused(only_user)
        if paused > LONGEST_WAIT:
            # This process knows enough to refuse without asking Redis.
            return Refusal(paused, Reason.PAUSE)
        id = f"{self._process}{next(self._ids)}"
        # -1 stands for any user.
        answer = self._run_script(
            "take", self._keys, _SHARE_NUMBERS[share], -1 if only_user is None else only_user, id
        )
        if answer is None:
            return self._own.take(share, only_user)
        # Admitted: the number of the user, and the requests and milliseconds of work that it has used.
        # Refused: -1, the milliseconds to wait, the reason, and each user's pause in milliseconds.
        user, *details = answer
        if user < 0:
            wait, reason, pauses = details
            for number, milliseconds in enumerate(pauses):
                if milliseconds > 0:
                    self._own.pause(number, milliseconds / 1000)
            return Refusal(wait / 1000, Reason(reason.decode()))
        requests, work = details
        self._own.note(user, share, id)
        return Admission(id=id, user=user, share=share, requests=requests, work=work / 1000)

    def settle(self, admission: Admission, seconds: float, reported: ReportedBudget) -> None:
        """Note in Redis that a request is over, and what the platform reported."""
        if not admission.id.startswith(self._process):
            # Admitted while Redis was away, which knows nothing of it.
            self._own.settle(admission, seconds, reported)
            return
        # What the platform says is about all processes: Redis has it, this one's count needs no correction.
        self._own.settle(admission, seconds, ReportedBudget())
        self._run_script(
            "settle",
            # Its use and its running requests: see `_keys`.
            self._keys[3 * admission.user : 3 * admission.user + 2],
            _SHARE_NUMBERS[admission.share],
            admission.id,
            round(seconds * 1000),
            # -1: the platform has reported nothing.
            -1 if reported.requests is None else round(reported.requests),
            -1 if reported.work is None else round(reported.work * 1000),
            round(admission.requests),
            round(admission.work * 1000),
        )

    def pause(self, user: int, seconds: float) -> tuple[float, float]:
        """Let a user pause for `seconds`, in Redis and in this process. Return what the own budget
        returns.
        """
        milliseconds = int(seconds * 1000)
        if milliseconds > 0:
            self._redis.keep_at_least(self._keys[3 * user + 2], milliseconds)
        return self._own.pause(user, seconds)

    def paused(self, only_user: int | None = None) -> float:
        """Return the seconds of pause that this process knows of."""
        return self._own.paused(only_user)

    def use_of_users(self) -> Sequence[BudgetUse]:
        """Return what each user has used, as Redis counts it. While Redis is away, this process's own part
        counts.
        """
        answer = self._run_script("standing", self._keys)
        if answer is None:
            return self._own.use_of_users()
        # Of each user: two lists in the order of SHARES, three numbers. Work and pause are in milliseconds.
        return [
            BudgetUse(
                requests=dict(zip(SHARES, requests, strict=True)),
                work={share: milliseconds / 1000 for share, milliseconds in zip(SHARES, work, strict=True)},
                others=others,
                running=running,
                pause=pause / 1000,
            )
            for requests, work, others, running, pause in answer
        ]

    def _run_script(self, command: str, keys: Sequence[str], *arguments: str | int | float) -> Any:
        """Return the answer of a command of the script; None while Redis is away."""
        return self._redis.run(_SCRIPT, keys, [command, self._limits, *arguments])


def _keys(url: str, client_id: str) -> tuple[str, str, str]:
    """Return the three keys of a user in Redis: use, running requests and pause.

    The braces keep the keys of all users of an organisation on one node of a cluster, so that one script
    reaches them.
    """
    root = url.rstrip("/").lower()
    organisation = hashlib.sha256(root.encode()).hexdigest()[:32]
    user = hashlib.sha256(f"{root} {client_id.lower()}".encode()).hexdigest()[:32]
    name = f"portico:budget:{{{organisation}}}:{user}"
    return f"{name}:use", f"{name}:running", f"{name}:pause"
