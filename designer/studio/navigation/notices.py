"""Notices on the dashboard beside findings. Parts of the service register functions that make them."""

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
    """Register a function that makes notices for a request. It checks itself what the account may see."""
    _announcers.append(announcer)
    return announcer


def notices(request: HttpRequest) -> list[Notice]:
    """Return the notices of all parts for the account of the request."""
    return [notice for announcer in _announcers for notice in announcer(request)]
