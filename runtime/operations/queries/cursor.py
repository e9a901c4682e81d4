"""Cursors: where a caller's last page ended, encrypted, and of use to that caller and question alone."""

from __future__ import annotations

import base64
import datetime as dt
import re
import time
import zlib
from typing import NamedTuple

import orjson

from designer.sentences import Sentence
from runtime.digests import digest_of
from runtime.http import seals
from runtime.http.addresses import client_address
from runtime.http.failures import Misconfigured
from runtime.http.problems import FieldError, Problem
from runtime.request_context import Exchange

LIFETIME = dt.timedelta(hours=24)
# Characters. A query string has room for this beside its other parameters.
LONGEST = 6_000
# Bytes. A longer position is compressed before it is sealed.
_LONG = 1_000
_PURPOSE = b"portico.cursor"
# A release that knows of no total still serves beside this one during an upgrade, and reads three values and
# no fourth. So the total stands above the bits of the moment, where that release sees a cursor made later.
_MOMENT_BITS = 33
_LARGEST_TOTAL = 2**30 - 2
_SEALED = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class Position(NamedTuple):
    """Where a page ended.

    `token` is the platform's token for the next page. `began` is when the first page was asked for: the
    relative dates of all pages count from then. `total` is the number of rows as counted for the first page,
    so that no other page counts again; None when it is not known, as in a cursor of an earlier release.
    """

    token: str
    began: dt.datetime
    total: int | None


def fingerprint(exchange: Exchange, *question: str) -> str:
    """Return a digest of the caller and of the question, to which a cursor is bound.

    A cursor is useless for another caller or question. Callers who share an answer share its cursor, too,
    because they would get the same page.
    """
    caller = exchange.caller
    if exchange.shared_by is not None:
        who_asks: tuple[str, ...] = ("", "shared", exchange.shared_by)
    elif caller.is_anonymous:
        who_asks = (client_address(exchange.request),)
    else:
        who_asks = (caller.issuer, caller.subject)
    # Half of the digest is enough, and keeps cursors short.
    return digest_of((*who_asks, "", *question))[:32]


def seal(position: Position, bound_to: str) -> str:
    """Return the cursor of a position. Raises Misconfigured when it would be too long for a query string."""
    content = orjson.dumps(
        (_packed_time_and_total(position.total), position.token, position.began.timestamp())
    )
    if len(content) > _LONG:
        content = zlib.compress(content)
    text = _encode(seals.seal(content, _PURPOSE, bound_to.encode()))
    if len(text) > LONGEST:
        raise Misconfigured(Sentence("its rows are sorted by texts that are too long for a cursor"))
    return text


def unseal(text: str, bound_to: str) -> Position:
    """Return the position of a cursor.

    Raises Problem 400 `bad_cursor` unless this service sealed it within the last day for the same `bound_to`.
    """
    # The decoder ignores characters outside its alphabet, and unused bits at the end: many texts would be one
    # cursor. So the text is compared with the one that `seal` makes.
    if len(text) > LONGEST or not _SEALED.fullmatch(text):
        raise bad_cursor()
    try:
        sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise bad_cursor() from None
    if _encode(sealed) != text:
        raise bad_cursor()
    content = _unseal(sealed, bound_to.encode())
    packed, token, began = orjson.loads(content if content.startswith(b"[") else zlib.decompress(content))
    sealed_at, total = _unpacked_time_and_total(packed)
    if time.time() - sealed_at > LIFETIME.total_seconds():
        raise bad_cursor()
    return Position(token, dt.datetime.fromtimestamp(began, dt.UTC), total)


def _packed_time_and_total(total: int | None) -> int:
    """Return the present time in Unix seconds with the total above its bits. 0 there stands for an unknown
    total.
    """
    packed_total = 0 if total is None or total > _LARGEST_TOTAL else total + 1
    return int(time.time()) | packed_total << _MOMENT_BITS


def _unpacked_time_and_total(packed: int) -> tuple[int, int | None]:
    """Split what `_packed_time_and_total` returns: the Unix second at which the cursor was made, and the
    total or None.
    """
    packed_total = packed >> _MOMENT_BITS
    return packed & (2**_MOMENT_BITS - 1), packed_total - 1 if packed_total else None


def _encode(sealed: bytes) -> str:
    """Return bytes as URL-safe Base64 without padding."""
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _unseal(sealed: bytes, bound_to: bytes) -> bytes:
    """Return the sealed content of a cursor. Raises Problem 400 `bad_cursor` when the seal is wrong."""
    content = seals.unseal(sealed, _PURPOSE, bound_to)
    if content is None:
        raise bad_cursor()
    return content


def bad_cursor() -> Problem:
    """Return the Problem 400 for a cursor that is not valid here, or no longer."""
    error = FieldError("bad_cursor", "Is not valid here, or not any more.", parameter="cursor")
    return Problem(
        400,
        "bad_cursor",
        "Send a cursor with the parameters and page size that it was made for, within a day. Or begin again, "
        "without one.",
        errors=[error],
    )
