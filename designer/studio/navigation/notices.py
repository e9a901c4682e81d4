"""What the dashboard announces beside findings. Each part of the service says itself what needs somebody."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from django.http import HttpRequest
from django.utils.functional import Promise


class Notice(NamedTuple):
    """A sentence, and the page where something can be done about it."""

    text: str | Promise
    link: str


Announcer: TypeAlias = Callable[[HttpRequest], Iterable[Notice]]

_announcers: list[Announcer] = []


def announce(announcer: Announcer) -> Announcer:
    """Let the dashboard ask `announcer`, which looks itself at what the account may see."""
    _announcers.append(announcer)
    return announcer


def notices(request: HttpRequest) -> list[Notice]:
    return [notice for announcer in _announcers for notice in announcer(request)]
