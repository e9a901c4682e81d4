"""A fixed window per caller. DRF's own keeps a list of every request's time, which no high limit survives."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from bench.applications.surroundings import RATE_A_MINUTE

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which imports this module


class CallerThrottle(BaseThrottle):
    def allow_request(self, request: Request, view: APIView) -> bool:
        who = request.user.pk if request.user.is_authenticated else self.get_ident(request)
        key = f"throttle:{who}:{int(time.time() // 60)}"
        cache.add(key, 0, timeout=120)
        return cache.incr(key) <= RATE_A_MINUTE

    def wait(self) -> float:
        return 60 - time.time() % 60
