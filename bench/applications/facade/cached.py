"""Reads through Django's cache framework, where BENCH_CACHE_SECONDS says for how long."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache

SECONDS = int(os.environ.get("BENCH_CACHE_SECONDS", "0"))
T = TypeVar("T")


def kept(key: str, read: Callable[[], T], *, of: str = "") -> T:
    """What `read` returns, or returned less than SECONDS ago; `of` a contact, since its last own write."""
    if not SECONDS:
        return read()
    if of:
        key = f"{key}:{of}:{cache.get(f'written:{of}', '')}"
    answer: T | None = cache.get(key)
    if answer is None:
        answer = read()
        cache.set(key, answer, SECONDS)
    return answer


def written(contact: str) -> None:
    """End what is kept of a contact's own."""
    if SECONDS:
        cache.set(f"written:{contact}", uuid.uuid4().hex, 2 * SECONDS)
