"""Headers whose names and values are known to be sound, put onto an answer as they are.

Django looks through name and value of each header for what no header may hold. An answer has a dozen, nearly
all of them constant: that took a tenth of a read. So a constant is looked through once, when it is prepared,
and what is made of words and numbers of our own is not. No other module knows where Django keeps headers.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.http.response import HttpResponseBase, ResponseHeaders


class Prepared:
    """Constant headers. Raises BadHeaderError, when they are prepared, for what no header may hold."""

    __slots__ = ("_store",)

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._store: dict[str, tuple[str, str]] = dict(ResponseHeaders(headers)._store)

    def complete(self, response: HttpResponseBase) -> None:
        """Give `response` those of these headers that it does not have."""
        headers = response.headers
        headers._store = {**self._store, **headers._store}

    def put(self, response: HttpResponseBase) -> None:
        """Set all of these headers on `response`, in place of those that it has."""
        response.headers._store.update(self._store)

    def value(self, name: str) -> str | None:
        """Return the value of a header; None without it. `name` is in lower case."""
        return _value(self._store, name)


def set_header(response: HttpResponseBase, name: str, value: str) -> None:
    """Set a header without Django's checks. It must not contain anything that a caller has sent unchecked."""
    response.headers._store[name.lower()] = (name, value)


def header_value(response: HttpResponseBase, name: str) -> str | None:
    """Return the value of a header; None without it. `name` is in lower case."""
    return _value(response.headers._store, name)


def all_headers(response: HttpResponseBase) -> list[tuple[str, str]]:
    """Return the names and values of all headers."""
    return list(response.headers._store.values())


def _value(store: Mapping[str, tuple[str, str]], name: str) -> str | None:
    """Return the value of a header among those that Django stores by lower-case name; None without it."""
    header = store.get(name)
    return None if header is None else header[1]
